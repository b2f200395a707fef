// What the palette finds: views, actions, ticks and the objects of the open sandbox.

import { address, ask, go, select } from "@/lib/address.svelte";
import { keyboard } from "@/lib/keys.svelte";
import { t } from "@/lib/words.svelte";
import type { IconName } from "@/draw/icons";
import type { RowKind } from "@/protocol/rows";
import { displayNameOf } from "@/store/live/displayNames";
import { live } from "@/store/live/live.svelte";
import type * as Settings from "@/store/policy/settings";

export interface Entry {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly note: string;
  readonly keys?: string;
  readonly run: () => void;
  /** What is chosen from next, where choosing it is not all: the values of a setting. */
  readonly next?: () => Entry[];
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

/** Return what matches the sought text, best first; `settings`: once they are here. */
export function findEntries(sought: string, settings: typeof Settings | null): Entry[] {
  const words = sought.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const tick = tickEntry(sought.trim());
  const named = objects(words);
  const fixed = [...views(), ...actions()].filter((entry) => matches(entry.label, words));
  // A number is part of names more often than it is a tick to go to.
  const sets = settings === null || words.length === 0 ? [] : recipeEntries(settings, words);
  const set = settings === null || words.length === 0 || address.sandbox === null ? sets : [...settingEntries(settings, words), ...sets, ...termEntries(settings, words)];
  return [...fixed, ...named.slice(0, MOST - fixed.length - tick.length), ...tick, ...set].slice(0, MOST + set.length);
}

function matches(label: string, words: readonly string[]): boolean {
  const text = label.toLowerCase();
  return words.every((word) => text.includes(word));
}

function settingEntries({ allSettings }: typeof Settings, words: readonly string[]): Entry[] {
  return allSettings().filter((one) => words.every((word) => one.found.includes(word))).map((one) => ({
    id: `set/${one.id}`,
    icon: "policy",
    label: `${one.of}: ${one.label}`,
    note: one.value,
    run: one.open,
    ...(one.choices.length === 0 || live.frozen ? {} : { next: () => one.choices.map((choice) => ({ id: choice.label, icon: choice.now ? "check" : "none", label: choice.label, note: "", run: () => !choice.now && choice.take() })) }),
  }));
}

function recipeEntries({ allRecipes }: typeof Settings, words: readonly string[]): Entry[] {
  const kind = t("palette.recipe");
  return allRecipes().filter((one) => matches(`${kind} ${one.name} ${one.wish}`, words)).map((one) => ({ id: `recipe/${one.name}`, icon: "file", label: one.wish, note: kind, run: () => void one.open() }));
}

function termEntries({ allTerms }: typeof Settings, words: readonly string[]): Entry[] {
  return allTerms().filter((one) => matches(one.name, words)).map((one) => ({ id: `term/${one.name}`, icon: "help", label: `${one.name}: ${one.said}`, note: "", run: () => undefined }));
}

function views(): Entry[] {
  const start: Entry = {
    id: "view/start", icon: "start", label: t("view.start"), note: t("palette.view"), run: () => go("/"),
  };
  return [start, ...bound((keys) => keys.startsWith("g "), "right", t("palette.view"))];
}

function actions(): Entry[] {
  return bound((keys) => !keys.startsWith("g ") && keys !== "Escape", "bolt", t("palette.act"));
}

// What a key does is found by its name, too: nothing has to be listed twice.
function bound(isMeant: (keys: string) => boolean, icon: IconName, note: string): Entry[] {
  return [...keyboard.bindings.values()]
    .filter(({ keys }) => isMeant(keys))
    .map(({ keys, word, run }) => ({ id: `act/${keys}`, icon, label: t(word), note, keys: keys === " " ? "Space" : keys, run }));
}

function tickEntry(sought: string): Entry[] {
  if (!/^\d+$/.test(sought) || Number(sought) > (live.latest.sandbox?.tick ?? -1)) return [];
  const label = t("pane.toTick", { tick: Number(sought) });
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
