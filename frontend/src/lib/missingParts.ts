// Parts of the page come when they are asked for; one that does not arrive is said, with the way on.

import { toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";

/** Say which part did not arrive; call once.
 *
 * A browser may keep a failed module as failed, so the way on is to load the page:
 * what it shows stands in its address.
 */
export function watchMissingParts(): void {
  const said = new WeakSet<object>();
  window.addEventListener("vite:preloadError", ({ payload }) => {
    said.add(payload);
    const reload = (): void => window.location.reload();
    toast({ tone: "error", text: t("part.missing"), detail: payload.message, acts: [{ label: t("part.reload"), run: reload }] });
  });
  // Whoever awaited the part rejects with the same error: it is said already.
  window.addEventListener("unhandledrejection", (rejection) => {
    const reason: unknown = rejection.reason;
    if (typeof reason === "object" && reason !== null && said.has(reason)) rejection.preventDefault();
  });
}
