// Traces among dropped files: sent whole, looked at by the server, chosen about.

import { ask } from "@/net/rest";
import type { TracePreviews, Traces } from "@/protocol/types";
import type { SourceFile } from "@/store/sandboxes/loading";

const PACKED = /\.(gz|tgz|zip|tar)$/i;
const TRACE = /\.(swf|csv|gz|tgz|zip|tar)$/i;
const JOB_LOG = /^\s*\[[^]*"attempts"/; // of Philly
const LOOKED_AT = 4000;
const CHUNK = 0x8000; // arguments that one call may have

/** Files whose traces somebody is asked about, and what would come of them. */
export interface Asking {
  readonly files: readonly SourceFile[];
  readonly into: string | null;
  readonly preview: TracePreviews;
  /** What is of another system is converted too. */
  readonly convert: boolean;
}

/** What the form holds; "" and 0 are the trace's own. */
export interface Choices {
  queueBy: string;
  queue: string;
  pace: number;
  begin: string;
  end: string;
  most: number;
  columns: Record<string, string>;
  totals: boolean;
}

export const NO_CHOICES: Choices = { queueBy: "", queue: "", pace: 1, begin: "", end: "", most: 0, columns: {}, totals: false };

/** Return whether the server should look for traces in these files. */
export function mayHoldTraces(files: readonly SourceFile[]): boolean {
  return files.some((file) => TRACE.test(file.name) || JOB_LOG.test(file.text.slice(0, LOOKED_AT)));
}

/** Return whether only the server can look into a file of this name. */
export function isPacked(name: string): boolean {
  return PACKED.test(name);
}

/** Return what would come of the traces; nothing changes. */
export function previewTraces(files: readonly SourceFile[], into: string | null, traces: Traces): Promise<TracePreviews> {
  return ask("TracePreviews", "POST", "/traces/preview", { body: { files, traces, into: into ?? "" } });
}

/** Return the choices as they are sent: what is as the trace has it is left out. */
export function tracesOf(choices: Choices): Traces {
  const columns = Object.entries(choices.columns).filter(([, column]) => column !== "");
  return {
    ...(choices.queueBy && { queueBy: choices.queueBy }),
    ...(choices.queue && { queue: choices.queue }),
    ...(choices.pace > 0 && choices.pace !== 1 && { pace: choices.pace }),
    ...(choices.begin && { begin: choices.begin }),
    ...(choices.end && { end: choices.end }),
    ...(choices.most > 0 && { most: choices.most }),
    ...(columns.length > 0 && { columns: Object.fromEntries(columns) }),
    ...(choices.totals && { totals: true }),
  };
}

/** Return a file as it is sent: its text, or the bytes of what is packed or no UTF-8 text.
 *
 * What the server says of such bytes names the file; here they would become other letters.
 */
export async function sourceOf(file: File): Promise<SourceFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = PACKED.test(file.name) ? null : decoded(bytes);
  return text === null ? { name: file.name, text: "", data: base64(bytes) } : { name: file.name, text };
}

function decoded(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
