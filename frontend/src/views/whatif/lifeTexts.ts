// What is said of one who comes out otherwise: by how much, and each of its two lives.

import { shortSpan, span, tickOf } from "@/lib/times";
import { t } from "@/lib/words.svelte";
import type { RunCourse, WorkloadVerdict } from "@/protocol/types";
import { isPlace, shiftOf } from "@/store/edits/verdict";
import type { Frame } from "@/store/edits/whatIf.svelte";

/** Return "5:16 later", "keeps its place", or "" where no start moves. */
export function shiftText(row: WorkloadVerdict, { fromMs, toMs }: Frame): string {
  if (row.start !== "same" && isPlace(row, fromMs)) return t(row.gains ? "pair.row.kept" : "pair.row.lost");
  const shift = shiftOf(row, { fromMs, toMs });
  if (shift === null) return "";
  if (row.start === "never") return t("pair.row.never", { span: span(toMs - fromMs) });
  if (row.start === "only") return t("pair.row.only");
  return t(row.start === "earlier" ? "pair.row.earlier" : "pair.row.later", { span: shortSpan(shift.ms) });
}

/** Return a life in words, up to the horizon. */
export function courseText({ startedMs, finishedMs, evictions, lostMs, place }: RunCourse, { fromMs, tickMs }: Frame): string {
  const start = startedMs === null ? t("pair.row.waits") : startedMs < fromMs ? t("pair.row.runs") : t("pair.row.starts", { tick: tickOf(startedMs, tickMs) });
  const end = finishedMs === null ? "" : t("pair.row.ends", { tick: tickOf(finishedMs, tickMs) });
  const out = evictions === 0 ? "" : t("pair.row.evicted", { n: evictions, lost: span(lostMs) });
  return [start, end, place, out].filter(Boolean).join(", ");
}

/** Return both lives in words, one a line. */
export function bothText(row: WorkloadVerdict, frame: Frame): string {
  return `${t("pair.with")}: ${courseText(row.changed, frame)}\n${t("pair.without")}: ${courseText(row.without, frame)}`;
}
