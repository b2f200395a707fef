// The policy document and the registry of strategies that its switches choose from.

import { ask, type Json } from "@/net/rest";
import type { Entry } from "@/protocol/types";
import { t } from "@/lib/words.svelte";
import { change, changeYaml, whatIf } from "@/store/edits/whatIf.svelte";
import { live } from "@/store/live/live.svelte";
import { leavesOf } from "@/store/edits/describe";
import { changeText } from "@/store/edits/changes";
import { settingText } from "@/store/policy/changes";
import { at } from "@/store/policy/paths";
import { served } from "@/store/policy/served.svelte";

let registry: Promise<readonly Entry[]> | null = null;

/** Return every strategy that has enrolled, and take in what a policy may be; asked once. */
export function fetchRegistry(): Promise<readonly Entry[]> {
  registry ??= ask("Registry", "GET", "/registry").then(
    (answer) => {
      served.setSchema(answer.policy);
      return answer.entries;
    },
    (error: unknown) => {
      registry = null;
      throw error;
    },
  );
  return registry;
}

/** Change the policy's spec by a merge patch, in the what-if; `said` says what changes, if its leaves do not. Returns whether the server took it. */
export function patchPolicy(spec: Json, said?: readonly string[]): Promise<boolean> {
  const before = whatIf.with(POLICY, live.shown.all("Policy")[0]?.document ?? {});
  const changes = said ?? leavesOf(spec).map(([leaf, value]) => changeText(leaf, settingText(at(before, `spec.${leaf}`)), settingText(value)));
  return change(changes, [{ policy: { spec } }]);
}

/** The key of the policy. */
export const POLICY = "Policy//policy";

/** Replace the policy by a document in YAML. */
export const applyPolicy = (yaml: string): Promise<boolean> => changeYaml(yaml, t("policy.done"));
