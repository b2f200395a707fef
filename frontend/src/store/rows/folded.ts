// Decisions as they are read: pods in one line per workload and instant, what repeats in one line with how often; pure.

import type { EventLine } from "@/protocol/types";

/** The newest of some alike, and which they are. */
export interface Folded {
  readonly event: EventLine;
  readonly subject: string; // whose they are: of pods their Workload
  readonly subjects: number; // how many objects they are about
  readonly times: number; // at how many instants
  readonly fromMs: number;
}

const MADE = /-[a-z0-9]+-\d+$/; // what a pod's name has after that of its Workload

/** Return the Workload that a pod's key tells of, if it `exists`; else the key itself. */
export function ownerOf(key: string, exists: (key: string) => boolean): string {
  const owner = key.replace(/^Pod\//, "Workload/").replace(MADE, "");
  return key.startsWith("Pod/") && exists(owner) ? owner : key;
}

/** Return events, newest first, with those in one line that say the same of the same.
 *
 * `nameOf` says of whom: two objects of one name, as a Job and its Workload, are one.
 * A place alone does not part the pods of an instant; at several instants the words must be equal, too.
 */
export function foldedOf(events: readonly EventLine[], owner: (key: string) => string, nameOf: (key: string) => string): Folded[] {
  const found = new Map<string, { event: EventLine; subject: string; subjects: Set<string>; instants: Set<number>; fromMs: number }>();
  for (const event of events) {
    const subject = owner(event.subject);
    const pod = subject !== event.subject;
    const [, namespace] = subject.split("/");
    const fails = event.type === "Fail" || event.type === "Wait";
    const key = [event.type, namespace, nameOf(subject), event.by, event.reason, fails ? event.message : event.tick, pod || fails ? "" : event.message].join("\n");
    const before = found.get(key);
    if (before === undefined) found.set(key, { event, subject, subjects: new Set([event.subject]), instants: new Set([event.tMs]), fromMs: event.tMs });
    else {
      before.subjects.add(event.subject);
      before.instants.add(event.tMs);
      before.fromMs = Math.min(before.fromMs, event.tMs);
    }
  }
  return [...found.values()].map(({ event, subject, subjects, instants, fromMs }) => ({ event, subject, subjects: subjects.size, times: instants.size, fromMs }));
}
