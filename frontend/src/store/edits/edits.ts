// Edits of objects: patch a field, apply a manifest, look before it is done.

import { ask, record, Refusal, request, type Json } from "@/net/rest";
import { t, withWords } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { changed, type Part } from "@/store/edits/changes";
import { changeYaml } from "@/store/edits/whatIf.svelte";
import { nameOf } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";
import { diffLines, type DiffLine } from "@/store/rows/textDiff";

/** Ask what would be wrong with a patch; throws Refusal with the places when something is. */
export async function checkPatch(key: string, patch: Json, signal: AbortSignal): Promise<void> {
  await request("PATCH", `/sandboxes/${String(live.id)}/${objectPath(key)}`, { body: patch, query: { dryRun: "All" }, signal });
}

/** Replace an object, or the policy, by a manifest in YAML, of what was seen at a revision. */
export const applyYaml = (key: string, yaml: string, seen: number): Promise<boolean> => changeYaml(yaml, t("edit.done", { name: nameOf(key) }), seen);

/** Ask what a manifest would be warned of, with lines and fields. Throws Refusal for what cannot be applied. */
export async function warningsOf(key: string, yaml: string): Promise<readonly string[]> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(key)}`;
  const { report } = await ask("Imported", "PUT", path, { yaml, query: { dryRun: "All" } });
  const { saidText } = await withWords(import("@/store/live/said"));
  return report.findings.map((one) => placed(one.places[0]?.line, one.places[0]?.field, saidText(one.said, one.problem)));
}

/** Return what an edit would make of an object as it is now, nothing where it is gone, line by line. */
export async function sidesOf(key: string, parts: readonly Part[]): Promise<readonly DiffLine[]> {
  const there = request("GET", `/sandboxes/${String(live.id)}/${objectPath(key)}`).then(record);
  const theirs = await there.catch(() => ({}));
  const text = parts.flatMap((part) => ("yaml" in part ? [part.yaml] : [])).at(-1);
  return diffLines(toYaml(theirs), text ?? toYaml(changed(parts, key, theirs)));
}

/** Return why a manifest was refused: each cause with its line and field, or the refusal itself. */
export function causesOf(error: unknown): readonly string[] {
  if (error instanceof Refusal && error.causes.length > 0) return error.causes.map((cause) => placed(cause.line, cause.field, cause.message));
  return [error instanceof Error ? error.message : String(error)];
}

function placed(line: number | null | undefined, field: string | undefined, words: string): string {
  return [line ? t("load.line", { line: String(line) }) : "", field, words].filter(Boolean).join(": ");
}
