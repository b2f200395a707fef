// Changes of a what-if as they are sent, and a manifest with them; pure.

import type { Json } from "@/net/rest";
import type { Release } from "@/protocol/types";

interface ObjectKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** One change as REST takes it. */
export type Part =
  | { readonly patch: ObjectKey & { readonly body: Json } }
  | { readonly apply: Json }
  | { readonly yaml: string } // whole objects as a text; the server's answer has an `apply` for each
  | { readonly delete: ObjectKey }
  | { readonly policy: Json }
  | { readonly release: Release } // those that decide instead
  | { readonly move: ObjectKey & { readonly to: Pick<ObjectKey, "kind" | "name"> } }
  | { readonly pin: Pick<ObjectKey, "namespace" | "name"> & { readonly node: string } }
  | { readonly node: { readonly name: string; readonly change: string; readonly like?: string } }
  | { readonly cluster: { readonly name: string; readonly change: string } };

/** What a person did at once: what it is called, and what is sent. */
export interface Change {
  readonly said: readonly string[];
  readonly parts: readonly Part[];
  readonly seen?: number; // the revision of what it is a change of; what is shown
}

function keyOf(manifest: Json): ObjectKey {
  const { kind = "", metadata = {} } = manifest as { kind?: string; metadata?: { name?: string; namespace?: string } };
  return { kind, namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** Return the names of nodes that are added like another. */
export function addedNodes(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => ("node" in part && part.node.change === "add" ? [part.node.name] : []));
}

/** Return the objects of a kind that are written as a whole: those that are new, and those that are replaced. */
export function applied(parts: readonly Part[], kind: string): ObjectKey[] {
  return parts.flatMap((part) => ("apply" in part ? [keyOf(part.apply)] : [])).filter((one) => one.kind === kind);
}

/** Return a manifest, or the policy document of a key that begins with "Policy" or "Queue", with the changes of it made. */
export function changed(parts: readonly Part[], key: string, manifest: Json): Json {
  const [kind, namespace] = key.split("/");
  const name = key.split("/").slice(2).join("/");
  const policy = kind === "Policy" || kind === "Queue";
  return parts.reduce((before, part) => {
    const patch = "policy" in part ? part.policy : "release" in part ? { spec: part } : null;
    if (patch !== null) return policy ? merged(before, patch) : before;
    const at = "patch" in part ? part.patch : "apply" in part ? keyOf(part.apply) : null;
    if (at === null || !(policy ? at.kind === "Policy" : at.kind === kind && at.namespace === namespace && at.name === name)) return before;
    return "patch" in part ? merged(before, part.patch.body) : "apply" in part ? part.apply : before;
  }, manifest);
}

/** Return where each Workload goes that is moved, at last: key -> key of its queue. */
export function movesOf(parts: readonly Part[]): Map<string, string> {
  return new Map(parts.flatMap((part) => ("move" in part && part.move.kind === "Workload" ? [[`Workload/${part.move.namespace}/${part.move.name}`, `${part.move.to.kind}//${part.move.to.name}`] as const] : [])));
}

/** Return where work goes that is added: key of its Workload -> key of its queue.
 *
 * `there` are the Workloads that the changes bring; `queueOf` names the ClusterQueue of a LocalQueue's key.
 */
export function addedTo(parts: readonly Part[], there: readonly string[], queueOf: (key: string) => string | undefined): Map<string, string> {
  return new Map(parts.flatMap((part) => {
    if (!("apply" in part)) return [];
    const { kind, namespace, name } = keyOf(part.apply);
    const labels = (part.apply["metadata"] as { labels?: Record<string, string> } | undefined)?.labels ?? {};
    const queue = queueOf(`LocalQueue/${namespace || "default"}/${labels["kueue.x-k8s.io/queue-name"] ?? ""}`);
    const key = there.find((one) => one.startsWith(`Workload/${namespace || "default"}/${kind.toLowerCase()}-${name}-`));
    return queue === undefined || key === undefined ? [] : [[key, `ClusterQueue//${queue}`] as const];
  }));
}

/** Return a document with a JSON merge patch (RFC 7396) laid over it. */
export function merged(document: Json, patch: Json): Json {
  const kept = Object.entries(document).filter(([name]) => patch[name] !== null);
  const set = Object.entries(patch).filter(([, value]) => value !== null);
  const before = (name: string): Json => (isObject(document[name]) ? document[name] : {});
  return Object.fromEntries([...kept, ...set.map(([name, value]) => [name, isObject(value) ? merged(before(name), value) : value] as const)]);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return "Weight: 1 → 2" for the toast of a change. */
export function changeText(name: string, before: string, after: string): string {
  return `${name}: ${before === "" ? "–" : before} → ${after === "" ? "–" : after}`;
}
