// The arithmetic of one workload against one queue: numbers ready to be read; pure.

import { amount, bare, isUnlimited, orderResources } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import type { QuotaCell, ClusterQueueRow, WorkloadRow } from "@/protocol/types";
import { subtreeLevel, type Branch } from "@/store/rows/quota";

export interface ArithmeticColumn {
  readonly resource: string;
  readonly requested: string;
  readonly used: string;
  readonly nominal: string;
  readonly borrowed: string;
  readonly borrows: boolean;
  readonly limit: string;
  readonly cohortQuota: string;
  readonly cohortUsed: string;
  readonly free: string;
  readonly short: string; // how much is missing, "" when nothing
}

export interface Arithmetic {
  readonly flavor: string;
  readonly cohort: string; // key of the root, "" when the queue stands alone
  readonly columns: readonly ArithmeticColumn[];
}

/** Return one block per flavor that covers something the workload asks for. */
export function arithmeticOf(
  row: WorkloadRow,
  queue: ClusterQueueRow,
  tree: readonly Branch[],
): Arithmetic[] {
  const asked = orderResources(Object.keys(row.totals)).filter((name) => amount(row.totals[name]) > 0);
  const root = rootOf(queue.key, tree);
  const flavors = [...new Set(queue.cells.map((cell) => cell.flavor))];
  return flavors
    .map((flavor) => {
      const cells = queue.cells.filter((cell) => cell.flavor === flavor && asked.includes(cell.resource));
      cells.sort((a, b) => asked.indexOf(a.resource) - asked.indexOf(b.resource));
      const columns = cells.map((cell) => columnOf(row, cell, tree, root));
      return { flavor, cohort: root, columns };
    })
    .filter((block) => block.columns.length > 0);
}

function columnOf(
  row: WorkloadRow,
  cell: QuotaCell,
  tree: readonly Branch[],
  root: string,
): ArithmeticColumn {
  const { resource } = cell;
  const requested = amount(row.totals[resource]);
  const free = Math.max(0, amount(cell.available));
  const cohort = root === "" ? null : subtreeLevel(tree, root, `${cell.flavor}/${resource}`);
  const text = (value: number): string => bare(resource, value);
  return {
    resource,
    requested: text(requested),
    used: text(amount(cell.used)),
    nominal: text(amount(cell.nominal)),
    borrowed: text(amount(cell.borrowed)),
    borrows: amount(cell.borrowed) > 0,
    limit: limitText(cell),
    cohortQuota: text(cohort?.nominal ?? 0),
    cohortUsed: text(cohort?.used ?? 0),
    free: text(free),
    short: requested > free ? text(requested - free) : "",
  };
}

function limitText(cell: QuotaCell): string {
  if (cell.borrowingLimit === null || isUnlimited(amount(cell.borrowingLimit))) return t("bar.noLimit");
  return bare(cell.resource, amount(cell.borrowingLimit));
}

function rootOf(key: string, tree: readonly Branch[]): string {
  const branch = tree.find((other) => other.row.key === key);
  if (branch === undefined) return "";
  if (branch.parent === "") return branch.row.kind === "Cohort" ? key : "";
  return rootOf(branch.parent, tree);
}
