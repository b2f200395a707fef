// The policy document and the registry of strategies that its switches choose from.

import { ask, request, type Json } from "@/net/rest";
import type { Entry } from "@/protocol/types";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { attempt, undo } from "@/store/live/intents";
import type { PatchEdit } from "@/store/edits/foreseen";
import { propose } from "@/store/edits/proposal.svelte";
import { live } from "@/store/live/live.svelte";
import { changeText } from "@/store/edits/edits";
import { settingText } from "@/store/policy/changes";
import { at } from "@/store/policy/paths";

let registry: Promise<readonly Entry[]> | null = null;

/** Return every strategy that has enrolled; asked once. */
export function fetchRegistry(): Promise<readonly Entry[]> {
  registry ??= ask("Registry", "GET", "/registry").then(
    (answer) => answer.entries,
    (error: unknown) => {
      registry = null;
      throw error;
    },
  );
  return registry;
}

/** Show what a merge patch of the policy's spec would do and lay it over when confirmed; says what changed (in `said`, if its leaves do not), with Undo. */
export function patchPolicy(spec: Json, said?: readonly string[]): Promise<boolean> {
  const before = live.latest.all("Policy")[0]?.document;
  const changes = said ?? leavesOf(spec).map(([leaf, value]) => changeText(leaf, settingText(at(before, `spec.${leaf}`)), settingText(value)));
  return propose(changes, [policyEdit(spec)], async () => announced(await attempt(() => request("PATCH", policyPath(), { body: { spec } })), changes));
}

/** Return a merge patch of the policy's spec as an edit to run on a copy. */
export function policyEdit(spec: Json): PatchEdit {
  return { kind: "Policy", namespace: "", name: "policy", patch: { spec } };
}

/** Replace the policy by a document in YAML. */
export async function applyPolicy(yaml: string): Promise<boolean> {
  return announced(await attempt(() => request("PUT", policyPath(), { yaml })));
}

const policyPath = (): string => `/sandboxes/${String(live.id)}/policy`;

// What changed stands in the toast, from what to what.
function announced(answer: unknown, changes: readonly string[] = []): boolean {
  if (answer === null) return false;
  const detail = changes.join("\n");
  announce([t("policy.done"), detail].join(" "));
  toast({ tone: "note", text: t("policy.done"), detail, acts: [{ label: t("act.undo"), run: () => void undo() }] });
  return true;
}

function leavesOf(patch: Json, head = ""): [string, unknown][] {
  return Object.entries(patch).flatMap(([name, value]) => {
    const path = head === "" ? name : `${head}.${name}`;
    const inner = typeof value === "object" && value !== null && !Array.isArray(value);
    return inner ? leavesOf(value as Json, path) : [[path, value]];
  });
}
