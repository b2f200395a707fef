// Edits of objects: patch a field, apply a manifest, look before it is done.

import { ask, request, type Json } from "@/net/rest";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt, nameOf, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";

/** Change fields of an object (JSON merge patch). Returns whether it was done. */
export async function patchObject(key: string, patch: Json): Promise<boolean> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(key)}`;
  return announced(key, await attempt(() => request("PATCH", path, { body: patch })));
}

/** Replace an object by a manifest in YAML. */
export async function applyYaml(key: string, yaml: string): Promise<boolean> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(key)}`;
  return announced(key, await attempt(() => request("PUT", path, { yaml })));
}

/** Ask what would be wrong with a manifest; empty when nothing. */
export async function checkYaml(key: string, yaml: string): Promise<string[]> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(key)}`;
  const { findings } = await ask("Imported", "PUT", path, { yaml, query: { dryRun: "All" } });
  return findings.map((one) => one.problem);
}

/** Take an object out of the sandbox. */
export async function removeObject(key: string): Promise<boolean> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(key)}`;
  return announced(key, await attempt(() => request("DELETE", path)));
}

function announced(key: string, answer: unknown): boolean {
  if (answer === null) return false;
  const sentence = t("edit.done", { name: nameOf(key) });
  announce(sentence);
  toast({ tone: "note", text: sentence, acts: [{ label: t("act.undo"), run: () => void undo() }] });
  return true;
}
