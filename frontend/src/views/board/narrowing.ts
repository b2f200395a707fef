// The filters of the board and of Workloads, as the address holds them.

import { address } from "@/lib/address.svelte";
import { t, type Word } from "@/lib/words.svelte";
import type { WorkloadField, Narrowing } from "@/store/rows/workloadTable";

/** Return what the address asks for; reactive. */
export function narrowing(): Narrowing {
  const part = (name: string): string => address.query.get(name) ?? "";
  return { words: part("q"), queue: part("queue"), user: part("user"), phase: part("phase"), priority: part("priority") };
}

/** Return a value of a field as people read it. */
export function valueText(field: WorkloadField, value: string): string {
  if (field === "phase") return t(`phase.${value}` as Word);
  if (field === "priority") return t("pane.priority", { priority: Number(value) });
  return value || t("column.none");
}
