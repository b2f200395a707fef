// The policy document and the registry of strategies that its switches choose from.

import { list, record, request, text, type Json } from "@/net/rest";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

export interface Strategy {
  readonly family: string;
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly parameters: Json | null; // JSON schema of its arguments
}

let registry: Promise<readonly Strategy[]> | null = null;

/** Return every strategy that has enrolled; asked once. */
export function fetchRegistry(): Promise<readonly Strategy[]> {
  registry ??= request("GET", "/registry").then(
    (answer) => strategiesOf(answer),
    (error: unknown) => {
      registry = null;
      throw error;
    },
  );
  return registry;
}

function strategiesOf(answer: unknown): Strategy[] {
  const rows = list(record(answer)["entries"]);
  return rows.map((item) => {
    const row = record(item);
    const parameters = row["parameters"];
    return {
      family: text(row["family"]),
      name: text(row["name"]),
      label: text(row["label"]),
      help: text(row["help"]),
      parameters: typeof parameters === "object" && parameters !== null ? record(parameters) : null,
    };
  });
}

/** Lay a merge patch over the policy's spec; says so, with Undo. */
export async function patchPolicy(spec: Json): Promise<boolean> {
  const path = `/sandboxes/${String(live.id)}/policy`;
  return announced(await attempt(() => request("PATCH", path, { body: { spec } })));
}

/** Replace the policy by a document in YAML. */
export async function applyPolicy(yaml: string): Promise<boolean> {
  const path = `/sandboxes/${String(live.id)}/policy`;
  return announced(await attempt(() => request("PUT", path, { yaml })));
}

function announced(answer: unknown): boolean {
  if (answer === null) return false;
  announce(t("policy.done"));
  toast({ tone: "note", text: t("policy.done"), acts: [{ label: t("act.undo"), run: () => void undo() }] });
  return true;
}

/** Return a value inside a document by its dotted path. */
export function at(document: unknown, path: string): unknown {
  let value: unknown = document;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Json)[part];
  }
  return value;
}

/** Return a patch that sets one dotted path. */
export function patchAt(path: string, value: unknown): Json {
  const [first = "", ...rest] = path.split(".");
  return { [first]: rest.length === 0 ? value : patchAt(rest.join("."), value) };
}
