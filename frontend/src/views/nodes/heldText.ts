import { clock } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { PodRow } from "@/protocol/types";

/** Return where a pod is that is assumed on a node and not bound, and how long it may wait at Permit. */
export function heldText(pod: PodRow): string {
  if (pod.permitUntilMs === null) return t("pod.assumed", { node: pod.heldOn });
  return t("pod.permit", { node: pod.heldOn, plugin: pod.permitBy, until: clock(pod.permitUntilMs) });
}
