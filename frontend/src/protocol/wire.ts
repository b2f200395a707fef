// Made by `manage.py wiretypes` from sandbox/page/wire.py. Do not edit by hand.

export const PROTOCOL = 1;

/** Quota and usage of one (flavor, resource) at one node of the quota tree. */
export interface QuotaCell {
  readonly flavor: string;
  readonly resource: string;
  readonly nominal: string;
  readonly used: string;
  readonly borrowed: string;
  /** of the nominal quota, what others in the cohort use now */
  readonly lent: string;
  /** what one more workload could take now, borrowing included */
  readonly available: string;
  readonly borrowingLimit: string | null;
  readonly lendingLimit: string | null;
}

/** Workloads by state. */
export interface WorkloadCounts {
  readonly pending: number;
  readonly inadmissible: number;
  readonly reserved: number;
  readonly admitted: number;
  /** evicted and waiting again; also part of pending */
  readonly evicted: number;
  readonly finished: number;
}

/** The sandbox itself: clock, transport and what may be done with it. */
export interface SandboxRow {
  readonly kind: "Sandbox";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly stack: "kube" | "kueue" | "yunikorn";
  readonly fairSharing: boolean;
  readonly laws: string;
  readonly seed: string;
  readonly tick: number;
  readonly tMs: number;
  readonly tickMs: number;
  /** the earliest that can be looked at */
  readonly firstTick: number;
  readonly playing: boolean;
  /** ticks per second of wall time; 0 = as fast as it goes */
  readonly speed: number;
  /** what a running step waits for; "" when nothing */
  readonly until: string;
  /** why ticking stopped by itself; "" when it did not */
  readonly problem: string;
  /** of the world, hexadecimal, first 16 digits */
  readonly hash: string;
  /** in the order in which bars are drawn */
  readonly resources: readonly string[];
  /** what this world holds that has no effect */
  readonly notSimulated: readonly string[];
}

/** A cohort: an inner node of the quota tree. */
export interface CohortRow {
  readonly kind: "Cohort";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly parent: string;
  readonly implicit: boolean;
  readonly weight: string;
  /** weighted share; "inf" when weight is 0 and it borrows */
  readonly share: string;
  readonly cells: readonly QuotaCell[];
  readonly lendable: Readonly<Record<string, string>>;
}

/** A ClusterQueue: a leaf of the quota tree. */
export interface ClusterQueueRow {
  readonly kind: "ClusterQueue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly cohort: string;
  readonly queueingStrategy: string;
  readonly stopPolicy: string;
  readonly active: boolean;
  readonly inactiveReason: string;
  readonly weight: string;
  readonly share: string;
  readonly cells: readonly QuotaCell[];
  readonly counts: WorkloadCounts;
  readonly withinClusterQueue: string;
  readonly reclaimWithinCohort: string;
  readonly borrowWithinCohort: string;
}

/** A LocalQueue: the queue of a namespace that leads to a ClusterQueue. */
export interface LocalQueueRow {
  readonly kind: "LocalQueue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly clusterQueue: string;
  readonly stopPolicy: string;
  readonly active: boolean;
  readonly counts: WorkloadCounts;
}

/** A ResourceFlavor. */
export interface ResourceFlavorRow {
  readonly kind: "ResourceFlavor";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly taints: readonly string[];
}

/** One pod set of a Workload. */
export interface PodSetCell {
  readonly name: string;
  readonly count: number;
  readonly minCount: number | null;
  /** of one pod */
  readonly requests: Readonly<Record<string, string>>;
  /** resource -> flavor, once quota is reserved */
  readonly flavors: Readonly<Record<string, string>>;
}

/** A Workload as a card shows it. */
export interface WorkloadRow {
  readonly kind: "Workload";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly localQueue: string;
  readonly clusterQueue: string;
  readonly phase: "admitted" | "finished" | "inactive" | "inadmissible" | "pending" | "reserved";
  readonly priority: number;
  readonly priorityClass: string;
  readonly podSets: readonly PodSetCell[];
  readonly totals: Readonly<Record<string, string>>;
  /** of the condition that explains the phase */
  readonly reason: string;
  /** its sentence, cut after 300 characters */
  readonly message: string;
  /** heads its queue until admitted */
  readonly sticky: boolean;
  readonly orderUs: string;
  readonly createdMs: number;
  readonly reservedMs: number | null;
  readonly admittedMs: number | null;
  readonly readyMs: number | null;
  /** when it will finish if left alone */
  readonly endsMs: number | null;
  readonly runtimeMs: number;
  /** backoff ends */
  readonly requeueMs: number | null;
  readonly evictions: number;
  /** the last thing that happened to its quota was an eviction */
  readonly evicted: boolean;
  /** key of the Job it was made from, or "" */
  readonly owner: string;
}

/** A node with what is taken on it. */
export interface NodeRow {
  readonly kind: "Node";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly state: "cordoned" | "failed" | "ready";
  /** the ResourceFlavor whose labels it has, or "" */
  readonly flavor: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
  readonly pods: number;
  readonly taints: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A pod. */
export interface PodRow {
  readonly kind: "Pod";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly node: string;
  readonly nominated: string;
  readonly phase: "bound" | "failed" | "gated" | "pending" | "ready" | "running" | "succeeded" | "waiting";
  /** key, or "" */
  readonly workload: string;
  /** ClusterQueue, or YuniKorn queue path */
  readonly queue: string;
  readonly scheduler: string;
  readonly priority: number;
  readonly requests: Readonly<Record<string, string>>;
  readonly qos: string;
  readonly reason: string;
  readonly message: string;
}

/** A YuniKorn queue; `name` is its full path. */
export interface QueueRow {
  readonly kind: "Queue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly parent: string;
  readonly leaf: boolean;
  readonly guaranteed: Readonly<Record<string, string>>;
  readonly max: Readonly<Record<string, string>>;
  readonly allocated: Readonly<Record<string, string>>;
  readonly pending: Readonly<Record<string, string>>;
  readonly share: number;
  readonly sortPolicy: string;
  readonly preemptionPolicy: string;
  readonly preemptionDelayMs: number;
  readonly priorityPolicy: string;
  readonly priorityOffset: number;
  readonly applications: number;
}

/** A YuniKorn application. */
export interface ApplicationRow {
  readonly kind: "Application";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly queue: string;
  readonly state: string;
  readonly user: string;
  readonly submittedMs: number;
  readonly allocated: Readonly<Record<string, string>>;
  readonly pending: Readonly<Record<string, string>>;
  readonly asks: number;
  readonly allocations: number;
}

/** The policy document in force; `changed` are paths that differ from the start. */
export interface PolicyRow {
  readonly kind: "Policy";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
}

/** One queue at one tick, for the curves. */
export interface QueueSample {
  readonly queue: string;
  /** None = infinite */
  readonly share: number | null;
  readonly used: Readonly<Record<string, string>>;
  readonly pending: number;
}

/** The whole world at one tick, for the curves. */
export interface Sample {
  readonly tick: number;
  readonly tMs: number;
  readonly pending: number;
  readonly admitted: number;
  readonly finished: number;
  /** in this tick */
  readonly preemptions: number;
  readonly evictions: number;
  readonly used: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly queues: readonly QueueSample[];
}

/** One decision or edit, as the event list shows it. */
export interface EventLine {
  readonly revision: number;
  readonly seq: number;
  readonly tick: number;
  readonly tMs: number;
  readonly type: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
}

/** Client: what it has and wants. `since` asks for diffs above a revision. */
export interface Hello {
  readonly type: "hello";
  readonly since: number | null;
  readonly views: readonly string[];
}

/** Server: everything at one revision. The newest 600 samples and 200 events. */
export interface PageState {
  readonly type: "page_state";
  readonly revision: number;
  readonly rows: readonly AnyRow[];
  readonly samples: readonly Sample[];
  readonly events: readonly EventLine[];
  readonly protocol: number;
}

/**
 * Server: from one revision to a later one; may span several.
 *
 * `updated` holds the changed fields only, whole values. A client whose
 * revision is not `from_revision` says hello again.
 */
export interface Diff {
  readonly type: "diff";
  readonly from: number;
  readonly revision: number;
  readonly tick: number;
  readonly added: readonly AnyRow[];
  readonly updated: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly removed: readonly string[];
  readonly samples: readonly Sample[];
  readonly events: readonly EventLine[];
}

/** Server: the diffs you need are gone; say hello without `since`. */
export interface Resync {
  readonly type: "resync";
  readonly revision: number;
}

/** Server: how the service is. Errors stay until a status without one. */
export interface Status {
  readonly type: "status";
  readonly level: "error" | "live" | "waiting";
  readonly message: string;
}

/** How many followers expect one choice at one stop of a lesson. */
export interface Tally {
  readonly stop: number;
  readonly choice: number;
  readonly count: number;
}

/**
 * Server: a lesson begins, shows something else, is answered, or ends.
 *
 * `view` and `query` are where the presenter's page is; an older `version`
 * than one that was seen is stale.
 */
export interface LessonNews {
  readonly type: "lesson";
  readonly running: boolean;
  readonly version: number;
  readonly view: string;
  readonly query: string;
  readonly revealed: readonly number[];
  readonly followers: number;
  readonly tallies: readonly Tally[];
}

/** Client: what it has and wants. `since` asks for diffs above a revision. */
export interface Hello {
  readonly type: "hello";
  readonly since: number | null;
  readonly views: readonly string[];
}

export type AnyRow =
  | SandboxRow
  | CohortRow
  | ClusterQueueRow
  | LocalQueueRow
  | ResourceFlavorRow
  | WorkloadRow
  | NodeRow
  | PodRow
  | QueueRow
  | ApplicationRow
  | PolicyRow;

export type ServerMessage =
  | PageState
  | Diff
  | Resync
  | Status
  | LessonNews;

export type Phase = WorkloadRow["phase"];

export type Kind = AnyRow["kind"];

type Shape =
  | "text"
  | "integer"
  | "number"
  | "flag"
  | "any"
  | "null"
  | { readonly one: readonly string[] }
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly record: string }
  | { readonly tagged: string; readonly by: string }
  | { readonly patches: string };

type Fields = Readonly<Record<string, Shape>>;

const TAGGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
 "AnyRow": {
  "Sandbox": "SandboxRow",
  "Cohort": "CohortRow",
  "ClusterQueue": "ClusterQueueRow",
  "LocalQueue": "LocalQueueRow",
  "ResourceFlavor": "ResourceFlavorRow",
  "Workload": "WorkloadRow",
  "Node": "NodeRow",
  "Pod": "PodRow",
  "Queue": "QueueRow",
  "Application": "ApplicationRow",
  "Policy": "PolicyRow"
 },
 "ServerMessage": {
  "page_state": "PageState",
  "diff": "Diff",
  "resync": "Resync",
  "status": "Status",
  "lesson": "LessonNews"
 }
};

const SHAPES: Readonly<Record<string, Fields>> = {
 "QuotaCell": {
  "flavor": "text",
  "resource": "text",
  "nominal": "text",
  "used": "text",
  "borrowed": "text",
  "lent": "text",
  "available": "text",
  "borrowingLimit": {
   "either": [
    "text",
    "null"
   ]
  },
  "lendingLimit": {
   "either": [
    "text",
    "null"
   ]
  }
 },
 "WorkloadCounts": {
  "pending": "integer",
  "inadmissible": "integer",
  "reserved": "integer",
  "admitted": "integer",
  "evicted": "integer",
  "finished": "integer"
 },
 "SandboxRow": {
  "kind": {
   "one": [
    "Sandbox"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "id": "text",
  "title": "text",
  "branch": "text",
  "parent": {
   "either": [
    "text",
    "null"
   ]
  },
  "stack": {
   "one": [
    "kube",
    "kueue",
    "yunikorn"
   ]
  },
  "fairSharing": "flag",
  "laws": "text",
  "seed": "text",
  "tick": "integer",
  "tMs": "integer",
  "tickMs": "integer",
  "firstTick": "integer",
  "playing": "flag",
  "speed": "number",
  "until": "text",
  "problem": "text",
  "hash": "text",
  "resources": {
   "list": "text"
  },
  "notSimulated": {
   "list": "text"
  }
 },
 "CohortRow": {
  "kind": {
   "one": [
    "Cohort"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "parent": "text",
  "implicit": "flag",
  "weight": "text",
  "share": "text",
  "cells": {
   "list": {
    "record": "QuotaCell"
   }
  },
  "lendable": {
   "map": "text"
  }
 },
 "ClusterQueueRow": {
  "kind": {
   "one": [
    "ClusterQueue"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "cohort": "text",
  "queueingStrategy": "text",
  "stopPolicy": "text",
  "active": "flag",
  "inactiveReason": "text",
  "weight": "text",
  "share": "text",
  "cells": {
   "list": {
    "record": "QuotaCell"
   }
  },
  "counts": {
   "record": "WorkloadCounts"
  },
  "withinClusterQueue": "text",
  "reclaimWithinCohort": "text",
  "borrowWithinCohort": "text"
 },
 "LocalQueueRow": {
  "kind": {
   "one": [
    "LocalQueue"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "clusterQueue": "text",
  "stopPolicy": "text",
  "active": "flag",
  "counts": {
   "record": "WorkloadCounts"
  }
 },
 "ResourceFlavorRow": {
  "kind": {
   "one": [
    "ResourceFlavor"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "nodeLabels": {
   "map": "text"
  },
  "taints": {
   "list": "text"
  }
 },
 "PodSetCell": {
  "name": "text",
  "count": "integer",
  "minCount": {
   "either": [
    "integer",
    "null"
   ]
  },
  "requests": {
   "map": "text"
  },
  "flavors": {
   "map": "text"
  }
 },
 "WorkloadRow": {
  "kind": {
   "one": [
    "Workload"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "uid": "text",
  "localQueue": "text",
  "clusterQueue": "text",
  "phase": {
   "one": [
    "admitted",
    "finished",
    "inactive",
    "inadmissible",
    "pending",
    "reserved"
   ]
  },
  "priority": "integer",
  "priorityClass": "text",
  "podSets": {
   "list": {
    "record": "PodSetCell"
   }
  },
  "totals": {
   "map": "text"
  },
  "reason": "text",
  "message": "text",
  "sticky": "flag",
  "orderUs": "text",
  "createdMs": "integer",
  "reservedMs": {
   "either": [
    "integer",
    "null"
   ]
  },
  "admittedMs": {
   "either": [
    "integer",
    "null"
   ]
  },
  "readyMs": {
   "either": [
    "integer",
    "null"
   ]
  },
  "endsMs": {
   "either": [
    "integer",
    "null"
   ]
  },
  "runtimeMs": "integer",
  "requeueMs": {
   "either": [
    "integer",
    "null"
   ]
  },
  "evictions": "integer",
  "evicted": "flag",
  "owner": "text"
 },
 "NodeRow": {
  "kind": {
   "one": [
    "Node"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "state": {
   "one": [
    "cordoned",
    "failed",
    "ready"
   ]
  },
  "flavor": "text",
  "allocatable": {
   "map": "text"
  },
  "used": {
   "map": "text"
  },
  "pods": "integer",
  "taints": {
   "list": "text"
  },
  "labels": {
   "map": "text"
  }
 },
 "PodRow": {
  "kind": {
   "one": [
    "Pod"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "uid": "text",
  "node": "text",
  "nominated": "text",
  "phase": {
   "one": [
    "bound",
    "failed",
    "gated",
    "pending",
    "ready",
    "running",
    "succeeded",
    "waiting"
   ]
  },
  "workload": "text",
  "queue": "text",
  "scheduler": "text",
  "priority": "integer",
  "requests": {
   "map": "text"
  },
  "qos": "text",
  "reason": "text",
  "message": "text"
 },
 "QueueRow": {
  "kind": {
   "one": [
    "Queue"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "parent": "text",
  "leaf": "flag",
  "guaranteed": {
   "map": "text"
  },
  "max": {
   "map": "text"
  },
  "allocated": {
   "map": "text"
  },
  "pending": {
   "map": "text"
  },
  "share": "number",
  "sortPolicy": "text",
  "preemptionPolicy": "text",
  "preemptionDelayMs": "integer",
  "priorityPolicy": "text",
  "priorityOffset": "integer",
  "applications": "integer"
 },
 "ApplicationRow": {
  "kind": {
   "one": [
    "Application"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "queue": "text",
  "state": "text",
  "user": "text",
  "submittedMs": "integer",
  "allocated": {
   "map": "text"
  },
  "pending": {
   "map": "text"
  },
  "asks": "integer",
  "allocations": "integer"
 },
 "PolicyRow": {
  "kind": {
   "one": [
    "Policy"
   ]
  },
  "key": "text",
  "name": "text",
  "namespace": "text",
  "document": {
   "map": "any"
  },
  "changed": {
   "list": "text"
  }
 },
 "QueueSample": {
  "queue": "text",
  "share": {
   "either": [
    "number",
    "null"
   ]
  },
  "used": {
   "map": "text"
  },
  "pending": "integer"
 },
 "Sample": {
  "tick": "integer",
  "tMs": "integer",
  "pending": "integer",
  "admitted": "integer",
  "finished": "integer",
  "preemptions": "integer",
  "evictions": "integer",
  "used": {
   "map": "text"
  },
  "capacity": {
   "map": "text"
  },
  "queues": {
   "list": {
    "record": "QueueSample"
   }
  }
 },
 "EventLine": {
  "revision": "integer",
  "seq": "integer",
  "tick": "integer",
  "tMs": "integer",
  "type": "text",
  "subject": "text",
  "by": "text",
  "reason": "text",
  "message": "text"
 },
 "Hello": {
  "type": {
   "one": [
    "hello"
   ]
  },
  "since": {
   "either": [
    "integer",
    "null"
   ]
  },
  "views": {
   "list": "text"
  }
 },
 "PageState": {
  "type": {
   "one": [
    "page_state"
   ]
  },
  "revision": "integer",
  "rows": {
   "list": {
    "tagged": "AnyRow",
    "by": "kind"
   }
  },
  "samples": {
   "list": {
    "record": "Sample"
   }
  },
  "events": {
   "list": {
    "record": "EventLine"
   }
  },
  "protocol": "integer"
 },
 "Diff": {
  "type": {
   "one": [
    "diff"
   ]
  },
  "from": "integer",
  "revision": "integer",
  "tick": "integer",
  "added": {
   "list": {
    "tagged": "AnyRow",
    "by": "kind"
   }
  },
  "updated": {
   "patches": "AnyRow"
  },
  "removed": {
   "list": "text"
  },
  "samples": {
   "list": {
    "record": "Sample"
   }
  },
  "events": {
   "list": {
    "record": "EventLine"
   }
  }
 },
 "Resync": {
  "type": {
   "one": [
    "resync"
   ]
  },
  "revision": "integer"
 },
 "Status": {
  "type": {
   "one": [
    "status"
   ]
  },
  "level": {
   "one": [
    "error",
    "live",
    "waiting"
   ]
  },
  "message": "text"
 },
 "Tally": {
  "stop": "integer",
  "choice": "integer",
  "count": "integer"
 },
 "LessonNews": {
  "type": {
   "one": [
    "lesson"
   ]
  },
  "running": "flag",
  "version": "integer",
  "view": "text",
  "query": "text",
  "revealed": {
   "list": "integer"
  },
  "followers": "integer",
  "tallies": {
   "list": {
    "record": "Tally"
   }
  }
 }
};

/** A message that is not of this protocol; says where and what was expected. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** Return the message of a text frame; throws WireError naming the path. */
export function parseServerMessage(text: string): ServerMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WireError("message: expected JSON");
  }
  check({ tagged: "ServerMessage", by: "type" }, value, "message");
  return value as ServerMessage;
}

/** Return the row, checked; for rows that arrive by REST. */
export function parseRow(value: unknown): AnyRow {
  check({ tagged: "AnyRow", by: "kind" }, value, "row");
  return value as AnyRow;
}

/** Return the sample, checked; for samples that arrive by REST. */
export function parseSample(value: unknown): Sample {
  check({ record: "Sample" }, value, "sample");
  return value as Sample;
}

/** Return the event line, checked; for events that arrive by REST. */
export function parseEventLine(value: unknown): EventLine {
  check({ record: "EventLine" }, value, "event");
  return value as EventLine;
}

/** Return the news of a lesson, checked; for news that arrive by REST. */
export function parseLessonNews(value: unknown): LessonNews {
  check({ record: "LessonNews" }, value, "lesson");
  return value as LessonNews;
}

function check(shape: Shape, value: unknown, path: string): void {
  if (typeof shape === "string") {
    if (!plain(shape, value)) throw wrong(path, shape, value);
  } else if ("one" in shape) {
    if (typeof value !== "string" || !shape.one.includes(value)) {
      throw wrong(path, shape.one.join(" | "), value);
    }
  } else if ("list" in shape) {
    if (!Array.isArray(value)) throw wrong(path, "a list", value);
    value.forEach((item, index) => {
      check(shape.list, item, `${path}[${String(index)}]`);
    });
  } else if ("map" in shape) {
    for (const [name, item] of Object.entries(record(value, path))) {
      check(shape.map, item, `${path}.${name}`);
    }
  } else if ("either" in shape) {
    if (!shape.either.some((part) => holds(part, value, path))) {
      throw wrong(path, "another type", value);
    }
  } else if ("record" in shape) {
    checkFields(shape.record, record(value, path), path);
  } else if ("tagged" in shape) {
    const fields = record(value, path);
    const tag = fields[shape.by];
    const name = typeof tag === "string" ? TAGGED[shape.tagged]?.[tag] : undefined;
    if (name === undefined) throw wrong(`${path}.${shape.by}`, shape.tagged, tag);
    checkFields(name, fields, path);
  } else {
    checkPatches(shape.patches, record(value, path), path);
  }
}

function checkFields(name: string, value: Readonly<Record<string, unknown>>, path: string): void {
  for (const [field, shape] of Object.entries(SHAPES[name] ?? {})) {
    check(shape, value[field], `${path}.${field}`);
  }
}

function checkPatches(union: string, value: Readonly<Record<string, unknown>>, path: string): void {
  for (const [key, patch] of Object.entries(value)) {
    const name = TAGGED[union]?.[key.slice(0, key.indexOf("/"))];
    const shapes = name === undefined ? undefined : SHAPES[name];
    if (shapes === undefined) throw wrong(`${path}.${key}`, "a row's key", key);
    for (const [field, item] of Object.entries(record(patch, `${path}.${key}`))) {
      const shape = shapes[field];
      if (shape === undefined) throw wrong(`${path}.${key}`, "a field of the row", field);
      check(shape, item, `${path}.${key}.${field}`);
    }
  }
}

function holds(shape: Shape, value: unknown, path: string): boolean {
  try {
    check(shape, value, path);
    return true;
  } catch {
    return false;
  }
}

function plain(shape: "text" | "integer" | "number" | "flag" | "any" | "null", value: unknown): boolean {
  switch (shape) {
    case "text":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "any":
      return value !== undefined;
  }
}

function record(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(path, "an object", value);
  }
  return value as Readonly<Record<string, unknown>>;
}

function wrong(path: string, expected: string, value: unknown): WireError {
  const given = value === undefined ? "nothing" : JSON.stringify(value).slice(0, 80);
  return new WireError(`${path}: expected ${expected}, got ${given}`);
}
