// Sandboxes as things that take storage: how much, put away, taken out, as one file.

import { API, ask, request } from "@/net/rest";
import type { Disk, Use } from "@/protocol/types";
import { go, hrefOf } from "@/lib/address.svelte";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";

/** The names of archives end so. */
export const ENDING = ".quotalab";

/** Return what this reader's sandboxes take on disk. */
export function fetchDisk(): Promise<Disk> {
  return ask("Disk", "GET", "/disk");
}

/** Return what one sandbox takes on disk. */
export function fetchUse(id: string): Promise<Use> {
  return ask("Use", "GET", `/sandboxes/${id}/disk`);
}

/** Return the address of a sandbox with its history as one file. */
export function fileAddress(id: string): string {
  return `${API}/sandboxes/${id}/archive`;
}

/** Put a sandbox away into one file on the server. Returns whether it was. */
export async function putAway(id: string): Promise<boolean> {
  const answer = await attempt(() => request("POST", `/sandboxes/${id}/actions/archive`));
  if (answer !== null) announceDone(t("storage.archived"));
  return answer !== null;
}

/** Take an archived sandbox out again, and go there. */
export async function takeOut(id: string): Promise<void> {
  const answer = await attempt(() => request("POST", `/sandboxes/${id}/actions/unarchive`));
  if (answer !== null) go(hrefOf(id));
}

/** Set how much history is kept; 0 = as the operator keeps. */
export async function keepHistory(id: string, keepTicks: number, keepDays: number): Promise<void> {
  const body = { keepTicks, keepDays };
  const answer = await attempt(() => request("PATCH", `/sandboxes/${id}`, { body }));
  if (answer !== null) announceDone(t("storage.kept"));
}

/** Make sandboxes of exported files, and go to the last. */
export async function restoreFiles(files: readonly File[]): Promise<void> {
  let id = "";
  for (const file of files) id = (await ask("Sandbox", "POST", "/archives", { file })).id;
  if (id !== "") go(hrefOf(id));
}

function announceDone(sentence: string): void {
  announce(sentence);
  toast({ tone: "note", text: sentence });
}
