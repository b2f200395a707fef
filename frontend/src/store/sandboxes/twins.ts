// Twins: recordings of a real cluster, opened as sandboxes that show it.

import { go, hrefOf } from "@/lib/address.svelte";
import { ask } from "@/net/rest";

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

const CHUNK = 0x8000;

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
