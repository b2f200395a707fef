// Parts of the page come when they are asked for; one that does not arrive is said, with the way on.

import { toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";

/** Say which part did not arrive; call once.
 *
 * A browser may keep a failed module as failed, so the way on is to load the page:
 * what it shows stands in its address.
 */
export function watchMissingParts(): void {
  window.addEventListener("vite:preloadError", ({ payload }) => {
    const reload = (): void => window.location.reload();
    toast({ tone: "error", text: t("part.missing"), detail: payload.message, acts: [{ label: t("part.reload"), run: reload }] });
  });
}
