// waitForPodsReady in Kueue's Configuration: v1beta1 has it on by `enable`, later versions by its being there; pure.

import type { Json } from "@/net/rest";
import { at } from "@/store/policy/paths";

/** Return whether a policy waits for pods to be ready. */
export function podsReadyOf(document: unknown): boolean {
  const section = at(document, "spec.kueue.waitForPodsReady");
  if (typeof section !== "object" || section === null) return false;
  return !isFirst(document) || (section as Json)["enable"] === true;
}

/** Return the merge patch of the spec that turns it on or off. */
export function podsReadyPatch(document: unknown, on: boolean): Json {
  if (isFirst(document)) return { kueue: { waitForPodsReady: { enable: on } } };
  return { kueue: { waitForPodsReady: on ? { timeout: "5m" } : null } };
}

function isFirst(document: unknown): boolean {
  return String(at(document, "spec.kueue.apiVersion")).endsWith("/v1beta1");
}
