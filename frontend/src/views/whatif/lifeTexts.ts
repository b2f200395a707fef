// What is said of one who comes out otherwise: by how much, what else befalls it, and each of its two lives.

import { shortSpan, span, tickOf } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { RunCourse, WorkloadVerdict } from "@/protocol/types";
import { groupOf, shiftOf } from "@/store/edits/verdict";
import type { Frame } from "@/store/edits/whatIf.svelte";

/** Return "5:16 later", "never runs, in 10 min", "moved by the change"; "" where it is equal. */
export function shiftText(row: WorkloadVerdict, { fromMs, toMs }: Frame): string {
  const [first] = row.fates;
  if (first === "never") return t("pair.row.never", { span: span(toMs - fromMs) });
  if (first === "only") return t("pair.row.only");
  if (first === "onlyWith" || first === "onlyWithout" || first === "moved" || first === "elsewhere") return t(`pair.row.${first}`);
  const shift = shiftOf(row);
  if (shift === null) return groupOf(row) === "equal" ? "" : moreText(row);
  const text = shift.atLeast ? t("pair.atLeast", { span: shortSpan(shift.ms) }) : shortSpan(shift.ms);
  return t(row.laterMs > 0 ? "pair.row.later" : "pair.row.earlier", { span: text });
}

/** Return "+5:16", "−0:20", "never", "elsewhere" or "evicted +1", where there is room for a few letters; "" where it is equal. */
export function shortShift(row: WorkloadVerdict): string {
  const [[first = "equal"], shift] = [row.fates, shiftOf(row)];
  if (first === "never" || first === "onlyWith" || first === "onlyWithout" || first === "moved" || first === "elsewhere") return t(`pair.row.short.${first}`);
  if (shift !== null) return t(row.laterMs > 0 ? "pair.row.short.later" : "pair.row.short.earlier", { span: shortSpan(shift.ms) });
  if (first === "only") return t("pair.row.short.only");
  const more = (row.changed?.evictions ?? 0) - (row.without?.evictions ?? 0);
  if (more !== 0) return t("pair.row.short.evicted", { n: `${more > 0 ? "+" : "−"}${Math.abs(more)}` });
  const sign = row.lostMs > 0 ? "+" : "−";
  return row.lostMs === 0 ? "" : t("pair.row.short.lost", { span: `${sign}${shortSpan(Math.abs(row.lostMs))}` });
}

/** Return what else befalls it: "evicted 2 times more, 1:15 lost". */
export function moreText({ without, changed, lostMs }: WorkloadVerdict): string {
  if (without === null || changed === null) return "";
  const more = changed.evictions - without.evictions;
  const parts = [
    more === 0 ? "" : t(more > 0 ? "pair.row.evictedMore" : "pair.row.evictedLess", { n: Math.abs(more) }),
    lostMs === 0 ? "" : t(lostMs > 0 ? "pair.row.lostMore" : "pair.row.lostLess", { span: shortSpan(Math.abs(lostMs)) }),
  ];
  return parts.filter(Boolean).join(", ");
}

/** Return a life in words, up to the horizon. */
export function courseText(course: RunCourse | null, { fromMs, tickMs }: Frame): string {
  if (course === null) return t("pair.row.absent");
  const { startedMs, finishedMs, evictions, lostMs, place } = course;
  const start = startedMs === null ? t("pair.row.waits") : startedMs < fromMs ? t("pair.row.runs") : t("pair.row.starts", { tick: tickOf(startedMs, tickMs) });
  const end = finishedMs === null ? "" : t("pair.row.ends", { tick: tickOf(finishedMs, tickMs) });
  const out = evictions === 0 ? "" : t("pair.row.evicted", { n: evictions, lost: span(lostMs) });
  return [start, end, place, out].filter(Boolean).join(", ");
}

/** Return both lives in words, one a line. */
export function bothText(row: WorkloadVerdict, frame: Frame): string {
  return `${t("pair.with")}: ${courseText(row.changed, frame)}\n${t("pair.without")}: ${courseText(row.without, frame)}`;
}
