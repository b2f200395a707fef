// A switch that was turned but not yet done: its preview stands until it is applied or taken back.

import type { Json } from "@/net/rest";
import { patchObject } from "@/store/edits/edits";
import type { PatchEdit } from "@/store/edits/foreseen";
import { fork, nameOf } from "@/store/live/intents";

export interface Proposal {
  readonly changes: readonly string[]; // from what to what
  readonly edits: readonly PatchEdit[]; // what its preview runs
  readonly run: () => Promise<boolean>;
  readonly answer: (done: boolean) => void;
}

class Proposals {
  now = $state.raw<Proposal | null>(null);
}

export const proposals = new Proposals();

/** Show what a change would do, and do it when that is confirmed. Returns whether it was done. */
export function propose(changes: readonly string[], edits: readonly PatchEdit[], run: () => Promise<boolean>): Promise<boolean> {
  withdraw();
  return new Promise((answer) => {
    proposals.now = { changes, edits, run, answer };
  });
}

/** Show what a switch of an object would do, and turn it when that is confirmed. */
export function switchObject(key: string, patch: Json, changes: readonly string[]): Promise<boolean> {
  const [kind = "", namespace = ""] = key.split("/");
  return propose(changes, [{ kind, namespace, name: nameOf(key), patch }], () => patchObject(key, patch, changes));
}

/** Do what is proposed, here or on a fork. */
export async function accept(onFork: boolean): Promise<void> {
  const proposal = proposals.now;
  if (proposal === null) return;
  proposals.now = null;
  const there = !onFork || (await fork(undefined, "policy")) !== null;
  proposal.answer(there && (await proposal.run()));
}

/** Take back what is proposed. */
export function withdraw(): void {
  proposals.now?.answer(false);
  proposals.now = null;
}

/** Put a field back to the value that holds, unless its change was done. */
export async function orBack(field: HTMLInputElement | HTMLSelectElement, before: string | boolean, done: Promise<boolean>): Promise<void> {
  if (await done) return;
  if (typeof before === "string") field.value = before;
  else if (field instanceof HTMLInputElement) field.checked = before;
}
