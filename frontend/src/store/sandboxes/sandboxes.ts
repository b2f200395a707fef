// Sandboxes as wholes: rename, remove, hand out.

import { API, request } from "@/net/rest";
import { go } from "@/lib/address.svelte";
import { toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";

/** Return the address that answers with all manifests of a sandbox. */
export function exportAddress(id: string): string {
  return `${API}/sandboxes/${id}/export`;
}

export async function renameSandbox(id: string, title: string): Promise<void> {
  await attempt(() => request("PATCH", `/sandboxes/${id}`, { body: { title } }));
}

/** Ask once more, then remove the sandbox with all of its history. */
export function removeSandbox(id: string, then: () => void = () => go("/")): void {
  const remove = (): void => {
    void attempt(() => request("DELETE", `/sandboxes/${id}`)).then(then);
  };
  toast({
    tone: "error",
    text: t("sandbox.removeAsk"),
    acts: [{ label: t("sandbox.remove"), run: remove }],
  });
}
