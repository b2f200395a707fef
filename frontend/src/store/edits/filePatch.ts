// The open what-if as a patch of somebody's own files.

import type { KeptFile } from "@/lib/keep";
import { saveText } from "@/lib/saving";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { ask } from "@/net/rest";
import type { FilesPatch } from "@/protocol/types";
import { attempt } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

/** Save the changes of a what-if as a diff of these files, and say what it leaves out. */
export async function savePatch(number: number, given: readonly (File | KeptFile)[]): Promise<void> {
  if (given.length === 0) return;
  const found = await attempt(async () => {
    const files = await Promise.all(given.map(async (file) => ("text" in file && typeof file.text === "string" ? file : { name: (file as File).webkitRelativePath || file.name, text: await textOf(file as File) })));
    return ask("FilesPatch", "POST", `/sandboxes/${String(live.id)}/what-ifs/${number}/patch`, { body: { files } });
  });
  if (found === null) return;
  if (found.diff !== "") saveText(found.diff, `what-if-${number}.diff`, "text/x-diff");
  const text = found.diff === "" ? t("whatif.patch.none") : t("whatif.patch.saved", { files: found.files.map((one) => one.name).join(", ") });
  announce(text);
  toast({ tone: "note", text, detail: leftOut(found.left).join("\n") });
}

/** Return a sentence for each change that a patch leaves out. */
export function leftOut(left: FilesPatch["left"]): string[] {
  return left.map(({ kind, namespace, name, why }) => {
    const what = `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
    return `${t("whatif.patch.left", { what })} (${t(`whatif.patch.${why}`)})`;
  });
}

// With all that is in it: a mark of byte order is part of a line of the diff.
async function textOf(file: File): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(await file.arrayBuffer());
}
