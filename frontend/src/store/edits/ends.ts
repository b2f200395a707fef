// The ends of the open what-if, and what is said of them.

import { ask as inAddress, go, hrefOf } from "@/lib/address.svelte";
import { announce, toast, type ToastAct } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { ask } from "@/net/rest";
import { close, discard, listOpen, open, reopen, whatIf } from "@/store/edits/whatIf.svelte";
import { attempt, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

/** Put the what-if away; the run stays as it is. */
export async function putAway(): Promise<void> {
  await discard();
  announce(t("pair.discarded"));
}

/** Go back to the run and leave the what-if open: it is in the list. */
export function setAside(): void {
  const number = whatIf.found?.id;
  close();
  void listOpen();
  announce(t("pair.isAside"));
  const again = (): void => void (number !== undefined && open(number));
  toast({ tone: "note", text: t("pair.isAside"), acts: [{ label: t("pair.again"), run: again }] });
}

/** Make the what-if the run, from its tick on; Undo opens it again. */
export async function keep(): Promise<void> {
  const { found, changes } = whatIf;
  if (found === null) return;
  const kept = await attempt(() => ask("KeptWhatIf", "POST", `/sandboxes/${String(live.id)}/what-ifs/${found.id}/keep`));
  if (kept === null) return;
  close();
  void listOpen();
  inAddress({ tick: null });
  const { fork } = kept;
  const undone = async (): Promise<void> => {
    if ((await undo()) !== null) await reopen(found, changes);
  };
  const back: ToastAct = { label: t("act.undo"), run: () => void undone() };
  const branch: ToastAct[] = fork === null ? [] : [{ label: t("pair.openBranch"), run: () => go(hrefOf(fork)) }];
  const text = t("pair.kept", { n: changes.length, tick: kept.tick });
  const detail = [...changes.flatMap((one) => one.said), ...(fork === null ? [] : [t("pair.keptBranch")])].join("\n");
  announce(text);
  toast({ tone: "note", text, detail, acts: [back, ...branch] });
}

/** Return the open what-if as a REST call, to copy. */
export function callOf(): string {
  const body = { at: whatIf.found?.at, changes: whatIf.parts, horizonMs: whatIf.horizonMs };
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -X POST ${location.origin}/api/v1/sandboxes/${String(live.id)}/what-ifs?wait=60 \\\n  -H 'content-type: application/json' -d '${quoted}'`;
}
