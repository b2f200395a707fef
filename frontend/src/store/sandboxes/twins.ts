// Twins: recordings of a real cluster, opened as sandboxes that show it.

import { go, hrefOf } from "@/lib/address.svelte";
import { ask } from "@/net/rest";
import type { Cluster } from "@/protocol/types";

const RECORDING = /\.qrec$/i;

/** Return whether a file is what a recorder of a cluster wrote. */
export function isRecording(file: File): boolean {
  return RECORDING.test(file.name);
}

/** Make one sandbox of a recording and its parts, and go to it. */
export async function openRecording(files: readonly File[]): Promise<void> {
  const sent = await Promise.all(files.map(async (file) => ({ name: file.name, data: await base64(file) })));
  const title = files[0]?.name.replace(RECORDING, "") ?? "";
  const made = await ask("Sandbox", "POST", "/twins", { body: { title, files: sent } });
  go(hrefOf(made.id, "board"));
}

/** Return the lines for a shell that bring a cluster, by what they read. */
export async function fetchSnippets(): Promise<Readonly<Record<string, string>>> {
  return (await ask("Registry", "GET", "/registry")).snippets;
}

/** Return the clusters that may be followed, with the sandbox that shows each already. */
export async function fetchClusters(): Promise<readonly Cluster[]> {
  return (await ask("ClusterList", "GET", "/clusters")).items;
}

/** Go to the sandbox that shows a cluster; it is made where there is none yet. */
export async function openCluster(cluster: Cluster): Promise<void> {
  const id = cluster.sandbox ?? (await ask("Sandbox", "POST", "/twins", { body: { cluster: cluster.name } })).id;
  go(hrefOf(id, "board"));
}

const CHUNK = 0x8000;

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
