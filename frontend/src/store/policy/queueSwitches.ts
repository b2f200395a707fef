// The switches of a ClusterQueue that have few values: where each stands in its manifest, and what it is now.

import type { Word } from "@/lib/words.svelte";
import type { ClusterQueueRow } from "@/protocol/types";
import { changeText } from "@/store/edits/changes";
import { changeObject, whatIf } from "@/store/edits/whatIf.svelte";
import { patchAt } from "@/store/policy/paths";
import { t } from "@/lib/words.svelte";

export interface QueueSwitch {
  readonly word: Word;
  readonly path: string;
  readonly choices: readonly string[];
  readonly own: (row: ClusterQueueRow) => string; // as the run has it
}

export const QUEUE_SWITCHES: readonly QueueSwitch[] = [
  { word: "switch.reclaim", path: "spec.preemption.reclaimWithinCohort", choices: ["Never", "LowerPriority", "Any"], own: (row) => row.reclaimWithinCohort },
  { word: "switch.within", path: "spec.preemption.withinClusterQueue", choices: ["Never", "LowerPriority", "LowerOrNewerEqualPriority"], own: (row) => row.withinClusterQueue },
  { word: "switch.borrow", path: "spec.preemption.borrowWithinCohort.policy", choices: ["Never", "LowerPriority"], own: (row) => row.borrowWithinCohort },
  { word: "switch.strategy", path: "spec.queueingStrategy", choices: ["BestEffortFIFO", "StrictFIFO"], own: (row) => row.queueingStrategy },
  { word: "switch.stop", path: "spec.stopPolicy", choices: ["None", "Hold", "HoldAndDrain"], own: (row) => row.stopPolicy },
];

/** Return the value of a switch as the open what-if has it. */
export const valueOf = (one: QueueSwitch, row: ClusterQueueRow): string => whatIf.held(row.key, one.path, one.own(row));

/** Return what it may be; what it is stands first where it is none of them. */
export function choicesOf(one: QueueSwitch, row: ClusterQueueRow): readonly string[] {
  const value = valueOf(one, row);
  return one.choices.includes(value) ? one.choices : [value, ...one.choices];
}

/** Change a switch, in the what-if. Returns whether the server took it. */
export const setSwitch = (one: QueueSwitch, row: ClusterQueueRow, value: string): Promise<boolean> =>
  changeObject(row.key, patchAt(one.path, value), [changeText(t(one.word), valueOf(one, row), value)]);
