// What a search came to and what it had to keep, in the reader's language.

import { formatNumber, signed, t } from "@/lib/words.svelte";
import type { AdviceAnswer, Constraint, Interval } from "@/protocol/types";
import { measureLabel, measureText } from "@/store/runs/measures";

const EVERY_QUEUE = "queues.*.meanMs";
const percent = (share: number): string => `${formatNumber(share * 100, 1)}\u00a0%`;

/** Return a constraint as a phrase; `own`: in the words of the server. */
export function constraintText(constraint: Constraint | undefined, own: string): string {
  if (constraint === undefined) return own;
  const bound = boundText(constraint);
  if (bound === "") return own;
  return constraint.over === "every" ? t("advisor.bound.every", { bound }) : bound;
}

function boundText({ measure: name, min, max, loses }: Constraint): string {
  if (typeof loses === "number" && name === EVERY_QUEUE) return t("advisor.bound.nobody", { share: percent(loses) });
  const measure = measureLabel(name);
  if (typeof loses === "number") return t("advisor.bound.loses", { measure, share: percent(loses) });
  const [least, most] = [min, max].map((value) => (typeof value === "number" ? measureText(name, value) : ""));
  if (least && most) return t("advisor.bound.both", { measure, least, most });
  if (least) return t("advisor.bound.least", { measure, least });
  return most ? t("advisor.bound.most", { measure, most }) : "";
}

/** Return what an answer claims, in a sentence or two. */
export function summaryText(answer: AdviceAnswer): string {
  const { unrunnable, tried } = answer;
  return unrunnable === 0 ? claim(answer) : `${claim(answer)} ${t("advisor.sum.unrunnable", { n: unrunnable, tried })}`;
}

function claim({ verdict, edits, constraints, gain, heldOut }: AdviceAnswer): string {
  const missed = constraints.filter((one) => !one.heldAfter).map((one) => constraintText(one.constraint, one.text)).join("; ");
  const holes = { n: edits.length, seeds: heldOut.length, missed };
  if (verdict === "unmet") return missed === "" ? t("advisor.sum.unmet") : `${t("advisor.sum.unmet")} ${t("advisor.sum.missed", holes)}`;
  if (edits.length === 0) return t("advisor.sum.nothing");
  if (missed !== "") return t("advisor.sum.lost", holes);
  if (verdict !== "improved") return t("advisor.sum.unsure", holes);
  if (gain === null || gain.mean === 0) return t("advisor.sum.keeps", holes);
  const size = { ...holes, gain: percent(Math.abs(gain.mean)), between: between(gain) };
  return t(gain.mean < 0 ? "advisor.sum.better" : "advisor.sum.worse", size);
}

function between({ low, high }: Interval): string {
  if (low === null || high === null) return "";
  const [from, to] = [low, high].map((share) => `${signed(share * 100, 1)}\u00a0%`);
  return t("advisor.sum.between", { low: from ?? "", high: to ?? "" });
}
