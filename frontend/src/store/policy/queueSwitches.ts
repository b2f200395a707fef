// The switches of a ClusterQueue that have few values, as settings: what each is now, and may be.

import type { ClusterQueueRow } from "@/protocol/types";
import { changeText } from "@/store/edits/changes";
import { type QueueSwitch } from "@/store/edits/fields";
import { changeObject, whatIf } from "@/store/edits/whatIf.svelte";
import { patchAt } from "@/store/policy/paths";
import { t } from "@/lib/words.svelte";

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
