// The smallest world that still shows a decision, opened as a sandbox.

import type { Create } from "@/protocol/types";
import { ask } from "@/net/rest";
import { go, hrefOf } from "@/lib/address.svelte";
import { toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";

/** Search for it, open what was found, and say how small it is. `place` is REVISION.SEQ. */
export async function openSmallest(sandbox: string, place: string): Promise<void> {
  const path = `/sandboxes/${sandbox}/events/${place}/reproduction`;
  const found = await attempt(() => ask("Reproduction", "GET", path));
  if (found === null) return;
  if (!found.found) {
    toast({ tone: "note", text: t("smallest.none") });
    return;
  }
  const files = [{ name: "smallest.json", text: JSON.stringify({ apiVersion: "v1", kind: "List", items: found.documents }) }];
  const made = await attempt(() => ask("Created", "POST", "/sandboxes", { body: { files } satisfies Create }));
  if (made === null) return;
  go(hrefOf(made.id, "board"));
  const sizes = { before: String(found.before), after: String(found.after) };
  toast({ tone: "note", text: t(found.minimal ? "smallest.found" : "smallest.stopped", sizes) });
}
