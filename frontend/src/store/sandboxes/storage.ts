// Sandboxes as things that take storage: how much, put away, taken out, as one file.

import { API, list, number, record, request, text } from "@/net/rest";
import { go, hrefOf } from "@/lib/address.svelte";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";

export interface Use {
  readonly id: string;
  readonly bytes: number;
  readonly parts: readonly (readonly [string, number])[]; // largest first
}

export interface Disk {
  readonly uses: ReadonlyMap<string, Use>;
  readonly bytes: number; // of all of them
  readonly database: number; // of the whole database
}

/** The names of archives end so. */
export const ENDING = ".quotalab";

/** Return what this reader's sandboxes take on disk. */
export async function fetchDisk(): Promise<Disk> {
  const answer = record(await request("GET", "/disk"));
  const uses = list(answer["items"]).map(useOf);
  return {
    uses: new Map(uses.map((use) => [use.id, use])),
    bytes: number(answer["bytes"]),
    database: number(record(answer["database"])["bytes"]),
  };
}

/** Return what one sandbox takes on disk. */
export async function fetchUse(id: string): Promise<Use> {
  return useOf(await request("GET", `/sandboxes/${id}/disk`));
}

function useOf(value: unknown): Use {
  const item = record(value);
  const parts = Object.entries(record(item["parts"])).map(([name, size]) => [name, number(size)] as const);
  return { id: text(item["id"]), bytes: number(item["bytes"]), parts: parts.sort((a, b) => b[1] - a[1]) };
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
  for (const file of files) id = text(record(await request("POST", "/archives", { file }))["id"]);
  if (id !== "") go(hrefOf(id));
}

function announceDone(sentence: string): void {
  announce(sentence);
  toast({ tone: "note", text: sentence });
}
