// What people set, of the rows: quota, switches, sizes; and where two pages differ in it. Pure.

import type { AnyRow, QuotaCell } from "@/protocol/types";
import { ownQuota, treeOf, type Branch } from "@/store/rows/quota";

export interface SettingChange {
  readonly subject: string; // key of the row
  readonly setting: string; // "" where the object is on one side alone
  readonly ours: string;
  readonly theirs: string;
}

type Settings = Readonly<Record<string, string>>;

/** Return what is set in a row, as texts; null for rows that only report. */
function settingsOf(row: AnyRow, tree: readonly Branch[]): Settings | null {
  switch (row.kind) {
    case "ClusterQueue": {
      const { cohort, queueingStrategy, stopPolicy, weight, withinClusterQueue, reclaimWithinCohort, borrowWithinCohort } = row;
      return { cohort, queueingStrategy, stopPolicy, weight, withinClusterQueue, reclaimWithinCohort, borrowWithinCohort, ...quotaIn(row.cells) };
    }
    case "Cohort":
      return { parent: row.parent, weight: row.weight, ...quotaIn(row.cells.map((cell) => ({ ...cell, nominal: String(ownQuota(tree, row.key, `${cell.flavor}/${cell.resource}`)) }))) };
    case "LocalQueue":
      return { clusterQueue: row.clusterQueue, stopPolicy: row.stopPolicy };
    case "ResourceFlavor":
      return { nodeLabels: sortedText(row.nodeLabels), taints: row.taints.join(", ") };
    case "Node":
      return { state: row.state, allocatable: sortedText(row.allocatable), taints: row.taints.join(", "), labels: sortedText(row.labels) };
    case "Queue":
      return { max: sortedText(row.max), guaranteed: sortedText(row.guaranteed), sortPolicy: row.sortPolicy, preemptionPolicy: row.preemptionPolicy, preemptionDelayMs: String(row.preemptionDelayMs), priorityPolicy: row.priorityPolicy, priorityOffset: String(row.priorityOffset) };
    case "Workload":
      return { localQueue: row.localQueue, priority: String(row.priority) };
    default:
      return null;
  }
}

// However the names of a map came, they are the same map.
function sortedText(map: Readonly<Record<string, string>>): string {
  return Object.keys(map).sort().map((name) => `${name}: ${map[name] ?? ""}`).join(", ");
}

function quotaIn(cells: readonly QuotaCell[]): Settings {
  const found: Record<string, string> = {};
  for (const cell of cells) {
    const place = `${cell.flavor} ${cell.resource}`;
    found[`${place} nominalQuota`] = cell.nominal;
    found[`${place} borrowingLimit`] = cell.borrowingLimit ?? "";
    found[`${place} lendingLimit`] = cell.lendingLimit ?? "";
  }
  return found;
}

/** Return what is set otherwise on two pages, by key. Workloads of one page alone are no edit: they come and go.
 *
 * O(rows).
 */
export function settingChanges(ours: ReadonlyMap<string, AnyRow>, theirs: ReadonlyMap<string, AnyRow>): SettingChange[] {
  const found: SettingChange[] = [];
  const [tree, otherTree] = [treeIn(ours), treeIn(theirs)];
  for (const [key, row] of ours) {
    const other = theirs.get(key);
    if (other !== undefined) found.push(...changesIn(key, settingsOf(row, tree) ?? {}, settingsOf(other, otherTree) ?? {}));
    else if (stays(row)) found.push({ subject: key, setting: "", ours: row.name, theirs: "" });
  }
  for (const [key, row] of theirs) if (!ours.has(key) && stays(row)) found.push({ subject: key, setting: "", ours: "", theirs: row.name });
  return found.sort((a, b) => (a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0));
}

function treeIn(rows: ReadonlyMap<string, AnyRow>): Branch[] {
  const all = [...rows.values()];
  return treeOf(all.filter((row) => row.kind === "Cohort"), all.filter((row) => row.kind === "ClusterQueue"));
}

const stays = (row: AnyRow): boolean => row.kind !== "Workload" && settingsOf(row, []) !== null;

function changesIn(subject: string, ours: Settings, theirs: Settings): SettingChange[] {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return names
    .filter((name) => ours[name] !== theirs[name])
    .map((setting) => ({ subject, setting, ours: ours[setting] ?? "", theirs: theirs[setting] ?? "" }));
}
