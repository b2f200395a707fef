// Typed requests to /api/v1 and the errors they answer with.

import { CHECKS, type Answers } from "@/protocol/answers";
import { checked } from "@/protocol/checked";

export interface Cause {
  readonly level: string;
  readonly field: string;
  readonly message: string;
  readonly file: string;
  readonly line: number | null;
  readonly count: number; // of these in all; the place is the first
  readonly holes: Json; // what fills the sentence, where it has a code
}

/** What the server refused: a sentence, and where; `code` is the HTTP status. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly Cause[];

  constructor(message: string, code: number, reason = "", causes: readonly Cause[] = []) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
  }
}

export type Json = Readonly<Record<string, unknown>>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Asked {
  readonly body?: unknown;
  readonly yaml?: string;
  readonly file?: Blob; // a sandbox that was exported as one file
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly accept?: string;
  readonly revision?: number; // If-Match: refuse when the sandbox has moved on
  readonly signal?: AbortSignal;
  readonly soFar?: (body: unknown) => unknown; // gets what is known while the answer is still worked out
}

export const API = "/api/v1";
const LOOK_MS = 200; // between two looks at an answer that is still worked out
const ARCHIVE = "application/vnd.quotalab.sandbox";

/** Who may refuse a change before it is asked for: returns why, or null. */
export const gate: { refuses: (path: string) => string | null } = { refuses: () => null };

/** Who says a refusal in the reader's language: returns the words for a sentence with its code. */
export const speaker: { says: (said: unknown, own: string) => Promise<string> } = { says: (_, own) => Promise.resolve(own) };

/** Ask and return the JSON answer. Throws Refusal, with the server's own words. */
export async function request(method: Method, path: string, asked: Asked = {}): Promise<unknown> {
  return bodyOf(await send(method, path, asked));
}

/** Ask and return the answer, checked. Throws Refusal, or ProtocolError naming the field.
 *
 * `answer` is a name of the schema; its check is loaded while the server works. `soFar` gets
 * each answer that is known before the last, checked too.
 */
export async function ask<N extends keyof Answers>(
  answer: N,
  method: Method,
  path: string,
  { soFar, ...asked }: Omit<Asked, "soFar"> & { readonly soFar?: (found: Answers[N]) => void } = {},
): Promise<Answers[N]> {
  const loading = CHECKS[answer]();
  const place = `${method} ${path}`;
  const told = soFar === undefined ? {} : { soFar: async (found: unknown): Promise<void> => { soFar(checked(await loading, found, place)); } };
  const [check, response] = await Promise.all([loading, send(method, path, { ...asked, ...told })]);
  return checked(check, await bodyOf(response), place);
}

/** Ask and return the answer as text (YAML, CSV). Throws Refusal. */
export async function requestText(path: string, accept: string, asked: Asked = {}): Promise<string> {
  return (await send("GET", path, { ...asked, accept })).text();
}

async function send(method: Method, path: string, asked: Asked): Promise<Response> {
  let response: Response;
  const refusal = method === "GET" ? null : gate.refuses(path);
  if (refusal !== null) throw new Refusal(refusal, 403, "Following");
  try {
    response = await fetch(urlOf(path, asked.query), {
      method,
      headers: headersOf(method, asked),
      body: sentBody(asked),
      credentials: "same-origin",
      signal: asked.signal ?? null,
    });
    while (response.status === 202) response = await askAgain(response, asked);
  } catch (error) {
    if (asked.signal?.aborted) throw error;
    throw new Refusal("The server does not answer.", 0, "Unreachable");
  }
  if (response.status === 401) signInAgain();
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** Ask at the place that a question was given which is still worked out.
 *
 * The server waits a while each time, unless what is known so far is wanted.
 */
async function askAgain(response: Response, asked: Asked): Promise<Response> {
  const place = response.headers.get("location") ?? response.url;
  if (asked.soFar !== undefined) {
    await asked.soFar(await response.json());
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
  return fetch(asked.soFar === undefined ? place : `${place}?wait=0`, {
    headers: headersOf("GET", { accept: asked.accept ?? "application/json" }),
    credentials: "same-origin",
    signal: asked.signal ?? null,
  });
}

/** The session has ended: sign in, and come back here. */
function signInAgain(): void {
  const here = location.pathname + location.search;
  location.assign(`/sign-in?${new URLSearchParams({ next: here }).toString()}`);
}

/** Return the address of an API path with its query. */
export function urlOf(path: string, query: Asked["query"] = {}): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parts.set(name, String(value));
  }
  const text = parts.toString();
  return `${API}${path}${text === "" ? "" : `?${text}`}`;
}

function sentBody(asked: Asked): string | Blob | null {
  if (asked.file !== undefined) return asked.file;
  if (asked.yaml !== undefined) return asked.yaml;
  return asked.body === undefined ? null : JSON.stringify(asked.body);
}

function headersOf(method: Method, asked: Asked): Record<string, string> {
  const headers: Record<string, string> = { accept: asked.accept ?? "application/json" };
  if (asked.file !== undefined) headers["content-type"] = ARCHIVE;
  else if (asked.yaml !== undefined) headers["content-type"] = "application/yaml";
  else if (asked.body !== undefined) headers["content-type"] = "application/json";
  if (asked.revision !== undefined) headers["if-match"] = `"${asked.revision}"`;
  if (method === "GET") return headers;
  headers["idempotency-key"] = onceKey();
  const token = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (token !== undefined) headers["x-csrftoken"] = decodeURIComponent(token);
  return headers;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? null : (JSON.parse(text) as unknown);
}

function onceKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function refusalOf(response: Response): Promise<Refusal> {
  const fallback = `${response.status} ${response.statusText}`;
  try {
    const body = record(await response.json());
    const details = record(body["details"] ?? {});
    const causes = await Promise.all(list(details["causes"] ?? body["causes"] ?? []).map(causeOf));
    const own = text(body["message"]) || text(body["detail"]) || fallback;
    const said = details["said"];
    const message = said === undefined ? own : await speaker.says(said, own);
    return new Refusal(message, response.status, text(body["reason"]), causes);
  } catch {
    return new Refusal(fallback, response.status);
  }
}

async function causeOf(value: unknown): Promise<Cause> {
  const cause = record(value);
  const line = cause["line"];
  const own = text(cause["message"]) || text(cause["problem"]);
  const said = cause["said"];
  return {
    level: text(cause["level"]) || "error",
    field: text(cause["field"]),
    message: said === undefined ? own : await speaker.says(said, own),
    file: text(cause["file"]),
    line: typeof line === "number" && line > 0 ? line : null,
    count: typeof cause["count"] === "number" ? cause["count"] : 1,
    holes: said === undefined ? {} : record(record(said)["holes"] ?? {}),
  };
}

// For manifests: documents of the real systems, whose fields depend on their kind.
/** Return a JSON object, or throw Refusal. */
export function record(value: unknown): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new Refusal("The server's answer is not an object.", 0, "Protocol");
}
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Refusal("The server's answer is not a list.", 0, "Protocol");
}
/** Return the objects in a list of a manifest; an absent list is empty. */
export function rowsOf(value: unknown): Json[] {
  return list(value ?? []).map(record);
}
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
