// The ends of the open what-if, and what is said of them.

import { ask as inAddress, go, hrefOf } from "@/lib/address.svelte";
import { announce, toast, type ToastAct } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { ask } from "@/net/rest";
import { close, discard, listOpen, open, rebase, refused, reopen, seenNow, whatIf } from "@/store/edits/whatIf.svelte";
import { undo } from "@/store/live/intents";
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

// Of what there is now, or back in time over what is there.
async function keepNonetheless(tick: number): Promise<void> {
  if (tick === live.latest.sandbox?.tick && !(await rebase())) return;
  whatIf.seen = seenNow();
  await keep();
}

/** Make the what-if the run, from its tick on; Undo opens it again. */
export async function keep(): Promise<void> {
  const { found, changes, parts } = whatIf;
  if (found === null) return;
  const place = `/sandboxes/${String(live.id)}/what-ifs/${found.id}/keep`;
  const asked = ask("KeptWhatIf", "POST", place, { body: { revision: whatIf.seen } });
  const kept = await asked.catch((error: unknown) => {
    refused(error, parts, () => keepNonetheless(found.at), putAway);
    return null;
  });
  if (kept === null) return;
  close();
  void listOpen();
  inAddress({ tick: null });
  const { fork } = kept;
  const undone = async (): Promise<void> => {
    const taken = await undo();
    if (taken !== null) await reopen(found, changes, Number(taken["revision"]));
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
