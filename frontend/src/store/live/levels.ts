// The levels of Topologies, from their manifests; pure.

import { list, record, text, type Json } from "@/net/rest";

/** Return the node labels of the levels of each flavor that has a Topology, highest first.
 *
 * Takes the manifests of ResourceFlavors and Topologies; a Topology that does not exist gives none.
 */
export function levelsOf(flavors: readonly Json[], topologies: readonly Json[]): ReadonlyMap<string, readonly string[]> {
  const labels = new Map(topologies.map((one) => [nameOf(one), labelsOf(one)]));
  return new Map(
    flavors.flatMap((flavor) => {
      const found = labels.get(text(specOf(flavor)["topologyName"])) ?? [];
      return found.length === 0 ? [] : [[nameOf(flavor), found] as const];
    }),
  );
}

const nameOf = (manifest: Json): string => text(record(manifest["metadata"])["name"]);
const specOf = (manifest: Json): Json => record(manifest["spec"] ?? {});
const labelsOf = (topology: Json): string[] => list(specOf(topology)["levels"] ?? []).map((level) => text(record(level)["nodeLabel"]));
