// What a step of Kueue's search for victims says, in the reader's language.
// A kind, code or verdict that is not known here is said in the server's own words.

import { quantity } from "@/lib/amounts";
import { listed } from "@/lib/listed";
import { formatNumber, t, tOr } from "@/lib/words.svelte";
import type { Amount, PreemptionSearch, PreemptionStep, QuotaCheck, Source, Standing, Test } from "@/protocol/types";
import { shareOf } from "@/store/explain/fairness";
import { displayNameOf } from "@/store/live/displayNames";
import { shareText } from "@/store/rows/quota";

/** Return what became of a candidate. */
export function verdictOf({ verdict }: PreemptionStep): string {
  return tOr(`verdict.${verdict}`, verdict);
}

/** Return how many of a queue may go, or why nobody. */
export function sourceText(source: Source): string {
  if (source.candidates > 0) return t("step.source", { queue: source.queue, n: source.candidates, policy: source.policy });
  return `${source.queue}: ${tOr(`search.why.${source.code}`, source.why || source.policy)}`;
}

/** Return the headline of each step of a search. */
export function titlesOf(search: PreemptionSearch): string[] {
  let tried = 0;
  return search.steps.map((step) => titleOf(step, step.kind === "candidate" ? ++tried : tried));
}

function titleOf(step: PreemptionStep, tried: number): string {
  switch (step.kind) {
    case "setup":
      return t("search.title.setup");
    case "attempt":
      return t(step.borrowing ? "search.title.attempt.borrowing" : "search.title.attempt.within");
    case "round":
      return step.rule || t("search.title.round");
    case "turn":
      return t("search.title.turn", { queue: step.queue });
    case "candidate":
      return t("search.title.candidate", { n: tried, name: displayNameOf(step.workload) });
    case "putBack":
      return t("search.title.putBack", { name: displayNameOf(step.workload) });
    case "failed":
      return t("search.title.failed");
    case "targets":
      return t("search.title.targets");
    default:
      return step.headline;
  }
}

/** Return the sentence of a step of a search, with its numbers. */
export function sentenceOf(step: PreemptionStep, search: PreemptionSearch): string {
  const checks = checksText(step.quotaChecks);
  switch (step.kind) {
    case "setup":
      return setup(step, search);
    case "attempt":
      return t(step.borrowing ? "search.said.attempt.borrowing" : "search.said.attempt.within", { checks });
    case "round":
      if (step.withinNominal) return t("search.said.round.within");
      return step.rule === (search.rules[0] ?? "") ? t("search.said.round.compared", { rule: step.rule, checks }) : t("search.said.round.again", { rule: step.rule });
    case "turn":
      return turn(step);
    case "candidate":
      return candidate(step);
    case "putBack":
      return t(step.fits ? "search.said.putBack.spared" : "search.said.putBack.needed", { checks });
    case "failed":
      return t(search.steps.slice(search.steps.indexOf(step)).some((later) => later.kind === "attempt") ? "search.said.failed.again" : "search.said.failed");
    case "targets":
      return t("search.said.targets", { n: search.targets.length, names: listed(search.targets.map((one) => displayNameOf(one.workload))) });
    default:
      return step.sentence;
  }
}

function setup(step: PreemptionStep, search: PreemptionSearch): string {
  const sources = search.sources.filter((source) => source.candidates > 0);
  const who = sources.map(({ candidates: n, holders, queue, policy }) => t("search.said.setup.source", { n, holders, queue, policy })).join(", ") || t("search.said.setup.nobody");
  const asked = amountsOf(search.requests);
  if (step.quotaChecks.length === 0) return t("search.said.setup", { asked, who });
  return t("search.said.setup.free", { asked, free: listed(step.quotaChecks.map((one) => quantity(one.resource, one.available))), who });
}

function turn(step: PreemptionStep): string {
  const { queue } = step;
  if (step.shares.length === 0) return t("search.said.turn", { queue });
  const share = shareText(shareOf(step.shares.find((one) => one.name === queue)?.share ?? null));
  return t(step.relation === "same" ? "search.said.turn.own" : "search.said.turn.highest", { queue, share });
}

function candidate(step: PreemptionStep): string {
  const name = displayNameOf(step.workload);
  const test = step.test === null ? "" : testSentence(step.test, step.verdict === "taken");
  if (step.verdict === "refused" || step.verdict === "skipped") return t(`search.said.candidate.${step.verdict}`, { test, name });
  const holes = { held: amountsOf(step.held), checks: checksText(step.quotaChecks), end: t(step.fits ? "search.said.candidate.fits" : "search.said.candidate.notYet") };
  return test === "" ? t("search.said.candidate.goes", { name, reason: step.reason, ...holes }) : t("search.said.candidate.taken", { test, ...holes });
}

function testSentence(test: Test, taken: boolean): string {
  if (test.kind === "withinNominal") return t("search.test.withinNominal", { cells: listed(test.cells.map(cellText)) });
  if (test.kind === "priority" && test.below === null) return t("search.test.priority.nobody");
  if (test.kind === "priority") return t("search.test.priority", { test: testText(test) });
  if (test.rule === 0 && test.preemptorShare === null && !taken) return t("search.test.share.infinite");
  return taken ? testText(test) : t("search.test.share.false", { test: testText(test) });
}

/** Return the numbers of a test as a comparison; "" without a test. */
export function testText(test: Test | null): string {
  if (test === null) return "";
  if (test.kind === "share") return sharesText(test);
  if (test.kind === "priority" && test.priority !== null) {
    return test.below === null ? formatNumber(test.priority) : `${formatNumber(test.priority)} < ${formatNumber(test.below)}`;
  }
  return t("step.within");
}

function sharesText(test: Test): string {
  const [sign, theirs] = test.rule === 1 ? ["<", test.targetShareBefore] : ["≤", test.targetShareAfter];
  const [one, other] = [shareOf(test.preemptorShare), shareOf(theirs)];
  // Two that are written alike but are not the same are written more exactly.
  const close = shareText(one) === shareText(other) && one !== other;
  const text = (share: number): string => (close ? formatNumber(share, 2) : shareText(share));
  return `${text(one)} ${sign} ${text(other)}`;
}

const cellText = (cell: Standing): string => t("search.test.withinNominal.cell", { name: cell.name, used: quantity(cell.resource, cell.used), quota: quantity(cell.resource, cell.quota) });
const checksText = (checks: readonly QuotaCheck[]): string => checks.map(checkText).join("; ");
const amountsOf = (amounts: readonly Amount[]): string => listed(amounts.map((one) => quantity(one.resource, one.amount)));

function checkText(check: QuotaCheck): string {
  const available = Number(check.available);
  const free = check.withinNominal === null ? available : Math.min(available, Math.max(0, Number(check.withinNominal)));
  const sign = free >= Number(check.amount) ? "≥" : "<";
  return t("search.check", { free: quantity(check.resource, free), sign, asked: quantity(check.resource, check.amount) });
}
