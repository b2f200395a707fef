// Small rows to test with: a test names only what matters to it.

import type { QuotaCell, ClusterQueueRow, CohortRow, EventLine, NodeRow, Sample, WorkloadRow } from "@/protocol/types";

const COUNTS = { pending: 0, inadmissible: 0, reserved: 0, admitted: 0, evicted: 0, finished: 0 };

export function workload(row: Partial<WorkloadRow>): WorkloadRow {
  const name = row.name ?? "job";
  return {
    kind: "Workload", key: `Workload/team/${name}`, name, namespace: "team", uid: name,
    localQueue: "local-queue", clusterQueue: "alpha", phase: "pending", priority: 0, priorityClass: "",
    podSets: [], totals: {}, reason: "", message: "", conditions: [], sticky: false, orderUs: "0", createdMs: 0,
    reservedMs: null, admittedMs: null, readyMs: null, endsMs: null, finishedMs: null, runtimeMs: 0, requeueMs: null,
    evictions: 0, evicted: false, owner: "", checks: [], worker: "", tried: [], copy: false, ...row,
  };
}

export function cell(resource: string, nominal: number, used: number, more: Partial<QuotaCell> = {}): QuotaCell {
  return {
    flavor: "plain", resource, nominal: String(nominal), used: String(used),
    borrowed: String(Math.max(0, used - nominal)), lent: "0", available: "0",
    borrowingLimit: null, lendingLimit: null, ...more,
  };
}

export function queue(name: string, cells: readonly QuotaCell[], more: Partial<ClusterQueueRow> = {}): ClusterQueueRow {
  return {
    kind: "ClusterQueue", key: `ClusterQueue//${name}`, name, namespace: "", cohort: "all",
    queueingStrategy: "BestEffortFIFO", stopPolicy: "None", active: true, inactiveReason: "",
    weight: "1", share: "0", cells, counts: COUNTS, withinClusterQueue: "Never",
    reclaimWithinCohort: "Never", borrowWithinCohort: "Never", ...more,
  };
}

export function cohort(name: string, cells: readonly QuotaCell[], more: Partial<CohortRow> = {}): CohortRow {
  return {
    kind: "Cohort", key: `Cohort//${name}`, name, namespace: "", parent: "", implicit: false,
    weight: "1", share: "0", cells, lendable: {}, ...more,
  };
}

export function node(name: string, all: number, used: number, more: Partial<NodeRow> = {}): NodeRow {
  return {
    kind: "Node", key: `Node//${name}`, name, namespace: "", state: "ready", flavor: "gpu",
    allocatable: { "nvidia.com/gpu": String(all) }, used: { "nvidia.com/gpu": String(used) },
    pods: 0, held: {}, heldPods: 0, lockedBy: "", taints: [], labels: {}, ...more,
  };
}

export function sample(tick: number, more: Partial<Sample> = {}): Sample {
  return {
    tick, tMs: tick * 1000, pending: 0, admitted: 0, finished: 0, preemptions: 0, evictions: 0,
    used: {}, capacity: {}, queues: [], cost: null, searches: 0, candidatesLookedAt: 0, simulations: 0, shareError: null, ...more,
  };
}

export function event(tick: number, more: Partial<EventLine> = {}): EventLine {
  return {
    revision: tick, seq: 0, tick, tMs: tick * 1000, type: "Preempt", subject: "Workload/team/victim",
    by: "Workload/team/preemptor", reason: "InClusterQueue", message: "", ...more,
  };
}
