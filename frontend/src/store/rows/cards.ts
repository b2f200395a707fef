// What a card says about its row: state, request, the short reason, its run; pure.

import { amount, asks, isBytes, mainResource, quantity, unitOf } from "@/lib/amounts";
import { t, type Word } from "@/lib/words.svelte";
import type { AnyRow, ApplicationRow, ClusterQueueRow, PodRow, WorkloadRow } from "@/protocol/types";
import { stateOfApplication, stateOfPod, type CardState, type Section, type Stack } from "@/store/rows/cardPositions";

export type FaceState = CardState | "evicted";

/** Return the word for a state in the words of what stands on the card. */
export function stateText(state: FaceState, stack: Stack): string {
  if (stack === "kueue" || state === "evicted") return t(`state.${state}`);
  return t(`state.${stack}.${state}`);
}

/** Return the heading of a section. */
export function sectionText(section: Section, stack: Stack): string {
  if (section === "waiting") return t("section.waiting");
  return stateText(section === "failed" ? "inadmissible" : section, stack);
}

type QueueOf = () => ClusterQueueRow | undefined; // asked only where a note depends on it

export interface Face {
  readonly name: string; // the Job's, where there is one: people gave that name
  readonly state: FaceState;
  readonly request: string;
  readonly note: string; // the short reason, while it waits
  readonly message: string; // the whole sentence
  readonly priority: number | null;
  readonly run: { readonly from: number; readonly to: number } | null;
}

/** Return what a card shows, or null for a row that has no card. */
export function faceOf(row: AnyRow, checks: readonly string[] = [], queueOf?: QueueOf): Face | null {
  switch (row.kind) {
    case "Workload":
      return faceOfWorkload(row, checks, queueOf);
    case "Application":
      return faceOfApplication(row);
    case "Pod":
      return faceOfPod(row);
    default:
      return null;
  }
}

/** Return what the card of a workload shows; `checks` are those that its reservation needs, and `queueOf` returns its queue, as far as they are known. */
export function faceOfWorkload(row: WorkloadRow, checks: readonly string[] = [], queueOf: QueueOf = () => undefined): Face {
  const from = row.readyMs ?? row.admittedMs;
  const run = row.phase === "admitted" && from !== null && row.endsMs !== null ? { from, to: row.endsMs } : null;
  return {
    name: displayName(row),
    state: stateOf(row),
    request: row.worker === "" ? requestOf(row) : `${requestOf(row)} · ${row.worker}`,
    note: dispatchNote(row) || (row.phase === "reserved" ? reservedNote(checks) : noteOf(row, queueOf)),
    message: row.message,
    priority: row.priority,
    run,
  };
}

/** Return the name to show: the owner's where a Workload was made from a job. */
export function displayName(row: WorkloadRow): string {
  return row.owner === "" ? row.name : row.owner.split("/").slice(2).join("/");
}

/** Return whether it is a job's Workload that the first tick makes: nothing can be asked of it or done to it yet. */
export function isExpected(row: AnyRow): boolean {
  return row.kind === "Workload" && row.uid === "";
}

/** Return the state of a workload; evicted until it is admitted again. */
export function stateOf(row: WorkloadRow): FaceState {
  const waits = row.phase === "pending" || row.phase === "inadmissible";
  return waits && row.evicted ? "evicted" : row.phase;
}

/** Return "4 × 8 GPU" for one pod set, the total for several. */
export function requestOf(row: WorkloadRow): string {
  const [first, ...rest] = row.podSets;
  if (first !== undefined && rest.length === 0) return asks(first.count, first.requests);
  const resource = mainResource(row.totals);
  return quantity(resource, amount(row.totals[resource]));
}

const SHORT: readonly (readonly [RegExp, Word])[] = [
  [/insufficient unused quota/i, "why.unused"],
  [/insufficient quota for (\S+) in flavor ([^\s,]+), .*> maximum capacity \(0\)$/i, "why.notIn"],
  [/insufficient quota for (\S+) in flavor ([^\s,]+), /i, "why.tooLarge"],
  [/equivalent workload recently failed/i, "why.equal"],
  [/head of|waiting for the head|behind/i, "why.behind"],
  [/admission check/i, "why.check"],
  [/doesn't match|untolerated taint|node affinity/i, "why.flavor"],
  [/LocalQueue.*(doesn't exist|not found)/i, "why.localQueue"],
  [/ClusterQueue.*(doesn't exist|not found)/i, "why.clusterQueue"],
  [/(Cluster|Local)Queue.*inactive/i, "why.inactive"],
  [/preempt/i, "why.preempted"],
  [/pods? ?ready/i, "why.podsReady"],
  [/backoff|requeue/i, "why.backoff"],
];

// The condition's own sentence is long; a card shows three words of it.
function noteOf(row: WorkloadRow, queueOf: QueueOf): string {
  for (const [pattern, word] of SHORT) {
    const found = pattern.exec(row.message);
    if (found === null) continue;
    const [, resource = "", flavor = ""] = found;
    // A flavor that has none of it says nothing where another has: what is short there keeps it waiting.
    if (word === "why.notIn" && hasElsewhere(queueOf(), resource, flavor)) return t("why.unused");
    return t(word, { resource: resourceWord(resource), flavor });
  }
  return row.message || row.reason || untriedNote(row);
}

function hasElsewhere(queue: ClusterQueueRow | undefined, resource: string, flavor: string): boolean {
  return queue?.cells.some((cell) => cell.resource === resource && cell.flavor !== flavor && amount(cell.nominal) > 0) ?? false;
}

function resourceWord(resource: string): string {
  return isBytes(resource) ? resource : unitOf(resource);
}

// Kueue writes no condition on what it has not tried, nor on the equals of what it tried and refused.
function untriedNote({ phase }: WorkloadRow): string {
  if (phase === "inadmissible") return t("why.equal");
  return phase === "pending" ? t("why.untried") : "";
}

// Where MultiKueue has a workload run, or tries to.
function dispatchNote(row: WorkloadRow): string {
  if (row.worker !== "" && row.phase !== "finished") return t("card.runsIn", { cluster: row.worker });
  return row.tried.length === 0 ? "" : t("card.waitsIn", { clusters: row.tried.join(", ") });
}

// What holds quota and is not admitted waits for checks and for nothing else.
function reservedNote(checks: readonly string[]): string {
  return t(checks.length === 0 ? "card.checks" : "card.check", { n: checks.length, checks: checks.join(", ") });
}

/** Return the checks of a ClusterQueue's manifest that a workload with these flavors needs.
 *
 * Source: docs/semantics/kueue-admission-checks.md#which-checks-a-workload-needs.
 */
export function checksNeeded(listed: readonly ListedCheck[], { podSets }: WorkloadRow): string[] {
  const flavors = new Set(podSets.flatMap((set) => Object.values(set.flavors)));
  return listed.filter(({ on }) => on.length === 0 || on.some((flavor) => flavors.has(flavor))).map(({ name }) => name);
}

export interface ListedCheck {
  readonly name: string;
  readonly on: readonly string[]; // flavors; none means all
}

function faceOfApplication(row: ApplicationRow): Face {
  const resource = mainResource({ ...row.allocated, ...row.pending });
  const total = amount(row.allocated[resource]) + amount(row.pending[resource]);
  return {
    name: row.name,
    state: stateOfApplication(row),
    request: quantity(resource, total),
    note: t("card.asks", { asks: row.asks, allocations: row.allocations }),
    message: row.state,
    priority: null,
    run: null,
  };
}

function faceOfPod(row: PodRow): Face {
  return {
    name: row.name,
    state: stateOfPod(row),
    request: asks(1, row.requests),
    note: row.message || row.reason || row.node,
    message: row.message,
    priority: row.priority,
    run: null,
  };
}
