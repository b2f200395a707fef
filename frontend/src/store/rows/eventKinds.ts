// What the page does with each type of event: one line each; a type without one does not compile.

import type { EventLine, EventType } from "@/protocol/types";

export type MarkKind = "preemption" | "failure" | "edit" | "fork";
export type Lane = "Admit" | "Preempt" | "Evict" | "Finish" | "Fail" | "NodeChange" | "Edit";

/** What people do to the clock or the name: it changes nothing of the world. */
export const TRANSPORT: ReadonlySet<string> = new Set(["Create", "Play", "Pause", "Step", "Speed", "Rename", "Show"]);

interface EventKind {
  readonly inner?: true; // the table of events has no filter for it
  readonly recent?: "quota" | "pods"; // the overview lists it; "pods": only where pods are placed one by one
  readonly lane?: Lane; // of Decisions
  readonly film?: number; // it is a film; of one tick the lowest is opened
  readonly mark?: (event: EventLine) => MarkKind | null; // on the timeline
}

const KINDS: Readonly<Record<EventType, EventKind>> = {
  Admit: { recent: "quota", lane: "Admit", film: 2 },
  Replace: {},
  ReserveQuota: { recent: "quota", film: 3 },
  Preempt: { recent: "quota", lane: "Preempt", film: 1, mark: () => "preemption" },
  Evict: { recent: "quota", lane: "Evict" },
  Requeue: {},
  Deactivate: { recent: "quota" },
  Wait: { film: 6 },
  Bind: { recent: "pods", lane: "Admit", film: 4 }, // a pod that is bound runs, as a Workload that is admitted does
  Finish: { lane: "Finish" },
  Fail: { recent: "pods", lane: "Fail", film: 7 },
  Checkpoint: { recent: "quota" },
  Arrive: {},
  NodeChange: { recent: "quota", lane: "NodeChange", mark: (event) => (/fail|lost|notready/i.test(event.reason + event.message) ? "failure" : "edit") },
  Edit: { recent: "quota", lane: "Edit", mark: (event) => (event.reason === "Fork" ? "fork" : TRANSPORT.has(event.reason) ? null : "edit") },
  Nominate: { inner: true, recent: "pods" },
  Reserve: { inner: true },
  Unreserve: { inner: true },
  PermitWait: { inner: true, film: 5 },
};

/** The types in the order of the filter. */
export const EVENT_TYPES = Object.keys(KINDS) as readonly EventType[];

/** Return what the page does with a type; with one of a newer server nothing. */
export const kindOf = (type: string): EventKind => (KINDS as Readonly<Record<string, EventKind | undefined>>)[type] ?? {};
