// Manifests of the open world as JSON, a kind at a time.

import { record, request, rowsOf, type Json } from "@/net/rest";

const PLACES = {
  ClusterQueue: "apis/kueue.x-k8s.io/v1beta2/clusterqueues",
  Node: "api/v1/nodes",
  ResourceFlavor: "apis/kueue.x-k8s.io/v1beta2/resourceflavors",
  Topology: "apis/kueue.x-k8s.io/v1beta2/topologies",
} as const;

/** Return every object of a kind; none where the stack has no such kind. */
export async function fetchManifests(sandbox: string, kind: keyof typeof PLACES): Promise<Json[]> {
  const list = record(await request("GET", `/sandboxes/${sandbox}/${PLACES[kind]}`));
  return rowsOf(list["items"]).map((one) => ({ kind, ...one }));
}
