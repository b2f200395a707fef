// What the palette finds: views, actions, ticks and the objects of the open sandbox.

import { address, ask, go, hrefOf, select, VIEWS } from "@/lib/address.svelte";
import { keyboard } from "@/lib/keys.svelte";
import { t } from "@/lib/words.svelte";
import type { IconName } from "@/draw/icons";
import type { RowKind } from "@/protocol/rows";
import { displayNameOf } from "@/store/live/displayNames";
import { live } from "@/store/live/live.svelte";

export interface Entry {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly note: string;
  readonly keys?: string;
  readonly run: () => void;
}

const MOST = 40;
const ICONS: Readonly<Partial<Record<RowKind, IconName>>> = {
  Workload: "admitted",
  ClusterQueue: "board",
  Cohort: "fairness",
  Node: "nodes",
  Pod: "grip",
  Queue: "board",
  Application: "admitted",
};

/** Return what matches the sought text, best first. */
export function findEntries(sought: string): Entry[] {
  const words = sought.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const tick = tickEntry(sought.trim());
  const named = objects(words);
  const fixed = [...views(), ...actions()].filter((entry) => matches(entry.label, words));
  // A number is part of names more often than it is a tick to go to.
  return [...fixed, ...named.slice(0, MOST - fixed.length - tick.length), ...tick].slice(0, MOST);
}

function matches(label: string, words: readonly string[]): boolean {
  const text = label.toLowerCase();
  return words.every((word) => text.includes(word));
}

function views(): Entry[] {
  const id = address.sandbox;
  const start: Entry = {
    id: "view/start", icon: "start", label: t("view.start"), note: t("palette.view"), run: () => go("/"),
  };
  if (id === null) return [start];
  const rest = VIEWS.map((view) => ({
    id: `view/${view}`,
    icon: "right" as const,
    label: t(`view.${view}`),
    note: t("palette.view"),
    run: () => go(hrefOf(id, view)),
  }));
  return [start, ...rest];
}

function actions(): Entry[] {
  return [...keyboard.bindings.values()]
    .filter((binding) => !binding.keys.startsWith("g ") && binding.keys !== "Escape")
    .map((binding) => ({
      id: `act/${binding.keys}`,
      icon: "bolt" as const,
      label: t(binding.word),
      note: t("palette.act"),
      keys: binding.keys === " " ? "Space" : binding.keys,
      run: binding.run,
    }));
}

function tickEntry(sought: string): Entry[] {
  if (!/^\d+$/.test(sought) || Number(sought) > (live.latest.sandbox?.tick ?? -1)) return [];
  const label = t("palette.tick", { tick: Number(sought) });
  return [{ id: "tick", icon: "pending", label, note: "", run: () => ask({ tick: sought }, true) }];
}

function objects(words: readonly string[]): Entry[] {
  if (words.length === 0) return [];
  const found: Entry[] = [];
  for (const row of live.shown.page.rows.values()) {
    const icon = ICONS[row.kind];
    if (icon === undefined || !matches(`${row.kind} ${row.namespace} ${row.name} ${displayNameOf(row.key)}`, words)) continue;
    const note = row.namespace === "" ? row.kind : `${row.kind} · ${row.namespace}`;
    found.push({ id: row.key, icon, label: displayNameOf(row.key), note, run: () => select(row.key) });
    if (found.length >= MOST) break;
  }
  return found;
}
