// The curves of a pair: of the open what-if, or of two branches; pure.

import { bare, orderResources, unitOf } from "@/lib/amounts";
import { formatNumber, t } from "@/lib/words.svelte";
import type { Comparison, PairLine } from "@/protocol/types";
import { ghostOf, type Ghost } from "@/store/edits/pairLines";

export interface Plot {
  readonly id: string;
  readonly title: string;
  readonly names: readonly [string, string]; // what the solid and the dashed line are
  readonly ghost: Ghost;
  readonly limit?: number; // a threshold
  readonly unit: string;
  readonly text: (value: number) => string; // without its unit
}
const MOST = 12;
const ORDER = ["waiting", "share", "used", "held"];

/** Return the lines that differ as plots: waiting first, then shares, quota, nodes; the furthest apart first among those. */
export function plotsOf(lines: Iterable<PairLine>, tickMs: number, toMs: number): Plot[] {
  const gap = ({ without, changed }: PairLine): number => {
    const most = Math.max(1, ...without.values.map(Number), ...changed.values.map(Number));
    return Math.abs(changed.values.reduce<number>((sum, value) => sum + Number(value), 0) / Math.max(1, changed.values.length) - without.values.reduce<number>((sum, value) => sum + Number(value), 0) / Math.max(1, without.values.length)) / most;
  };
  const all = [...lines];
  const order = orderResources(all.map((line) => line.resource));
  const shown = all.filter((line) => ORDER.includes(line.of)).sort((a, b) => ORDER.indexOf(a.of) - ORDER.indexOf(b.of) || Number(b.queue === "") - Number(a.queue === "") || order.indexOf(a.resource) - order.indexOf(b.resource) || gap(b) - gap(a)).slice(0, MOST);
  return shown.flatMap((line) => {
    const ghost = ghostOf(line, tickMs, toMs);
    if (ghost === undefined) return [];
    const amount = line.of === "used" || line.of === "held";
    return [{
      id: `${line.of} ${line.queue} ${line.flavor} ${line.resource}`,
      title: titleOf(line), names: [t("pair.with"), t("pair.without")], ghost,
      unit: amount ? unitOf(line.resource) : "", text: (value: number) => (amount ? bare(line.resource, value) : formatNumber(value, value < 10 ? 2 : 0)),
    }];
  });
}

function titleOf({ of, queue, flavor, resource }: PairLine): string {
  const name = queue === "" ? t("whatif.everybody") : queue;
  if (of === "waiting") return queue === "" ? t("compare.pending") : t("whatif.waits", { name });
  if (of === "share") return t("compare.shareOf", { name });
  return [t("compare.usedBy", { unit: unitOf(resource), name }), flavor].filter(Boolean).join(" · ");
}

/** Return the curves of the first branch and another that differ, as plots; `names`: theirs. */
export function branchPlots({ series }: Comparison, at: number, names: readonly [string, string], resource: string): Plot[] {
  const [one, other] = [series.branches[0], series.branches[at]];
  if (one === undefined || other === undefined || series.ticks.length === 0) return [];
  const plot = (id: string, title: string, a: readonly (number | null)[] | undefined, b: readonly (number | null)[] | undefined, text: Plot["text"], unit = ""): Plot[] =>
    a === undefined || b === undefined || JSON.stringify(a) === JSON.stringify(b) ? [] : [{ id, title, names: [names[1], names[0]], ghost: { ticks: series.ticks, changed: b, without: a }, text, unit }];
  const plain = (value: number): string => formatNumber(value, value < 10 ? 2 : 0);
  return [
    ...plot("pending", t("compare.pending"), one.pending, other.pending, plain),
    ...plot("use", t("compare.utilisation", { unit: unitOf(resource) }), one.utilisation[resource], other.utilisation[resource], (value) => formatNumber(value * 100), "%"),
    ...Object.keys(one.shares).flatMap((name) => plot(`share ${name}`, t("compare.shareOf", { name }), one.shares[name], other.shares[name], plain)),
    ...Object.keys(one.used).flatMap((name) => plot(`used ${name}`, t("compare.usedBy", { unit: unitOf(resource), name }), one.used[name]?.[resource], other.used[name]?.[resource], (value) => bare(resource, value), unitOf(resource))),
  ].slice(0, MOST);
}
