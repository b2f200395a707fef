// The levels of the Topology of each flavor, asked for when one may have changed.

import { dependsOn } from "@/lib/depends";
import { levelsOf } from "@/store/live/levels";
import { live } from "@/store/live/live.svelte";
import { fetchManifests } from "@/store/live/manifests";

type Levels = ReadonlyMap<string, readonly string[]>;
const NONE: Levels = new Map();

/** Return the levels by flavor of the open sandbox; call it while a component starts. */
export function followLevels(): { readonly of: (flavor: string) => readonly string[] } {
  let levels = $state.raw(NONE);
  const edited = $derived(live.latest.events.findLast((event) => event.type === "Edit")?.revision ?? -1);
  const isKueue = $derived(live.stack === "kueue");
  $effect(() => {
    const id = live.id;
    let open = true;
    dependsOn(edited);
    if (id === null || !isKueue) {
      levels = NONE;
      return;
    }
    Promise.all([fetchManifests(id, "ResourceFlavor"), fetchManifests(id, "Topology")]).then(
      ([flavors, topologies]) => open && (levels = levelsOf(flavors, topologies)),
      () => open && (levels = NONE), // the nodes are shown by flavor alone
    );
    return () => (open = false);
  });
  return { of: (flavor) => levels.get(flavor) ?? [] };
}
