// Measures of runs: their names in words and their values with units; pure.

import { unitOf } from "@/lib/amounts";
import { span } from "@/lib/times";
import { formatNumber, t, type Word } from "@/lib/words.svelte";

const WORDS = {
  admitted: "measure.admitted",
  arrived: "measure.arrived",
  endMs: "measure.endMs",
  evictions: "measure.evictions",
  evictionsPerHour: "measure.evictionsPerHour",
  finished: "measure.finished",
  fragmentation: "measure.fragmentation",
  jain: "measure.jain",
  makespanMs: "measure.makespanMs",
  nominalUse: "measure.nominalUse",
  preemptions: "measure.preemptions",
  preemptionsPerHour: "measure.preemptionsPerHour",
  schedulingMs: "measure.schedulingMs",
  share: "measure.share",
  shareError: "measure.shareError",
  timeToFairMaxMs: "measure.timeToFairMax",
  timeToFairMs: "measure.timeToFair",
  unfairSpans: "measure.unfairSpans",
  searches: "measure.searches",
  candidatesLookedAt: "measure.candidatesLookedAt",
  simulations: "measure.simulations",
  neverStarted: "measure.waiting",
  started: "measure.started",
  usedHours: "measure.usedHours",
  utilisation: "measure.utilisation",
  waitMaxMs: "measure.waitMaxMs",
  waitMeanMs: "measure.waitMeanMs",
  waitP50Ms: "measure.waitP50Ms",
  waitP95Ms: "measure.waitP95Ms",
  slowdown: "measure.slowdown",
  slowdownRatio: "measure.slowdownRatio",
  waiting: "measure.waiting",
  withinLimit: "measure.withinLimit",
  goodput: "measure.goodput",
  cost: "measure.cost",
  restarts: "measure.restarts",
  workLost: "measure.workLost",
  workLostMs: "measure.workLostMs",
  count: "measure.started",
  meanMs: "measure.waitMeanMs",
  p50Ms: "measure.waitP50Ms",
  p95Ms: "measure.waitP95Ms",
  maxMs: "measure.waitMaxMs",
  meanLastMs: "measure.meanLastMs",
} as const satisfies Readonly<Record<string, Word>>;

const SHARES = new Set(["goodput", "utilisation", "fragmentation", "shareError", "withinLimit", "nominalUse"]);
const BYTES = 2 ** 30;

/** Those that say most about a policy, in the order in which they are read. */
export const FIRST = ["waitMeanMs", "waitP95Ms", "waiting", "utilisation", "preemptions", "workLostMs", "shareError", "timeToFairMs"] as const;

/** Return what a measure is called: "Utilisation, GPU", "Mean wait, class high". */
export function measureLabel(name: string): string {
  const [first = "", ...rest] = parts(name);
  if (first === "workloads") return word(rest.at(-1) ?? "");
  if (first === "queues") return t("measure.of", { measure: word(rest.at(-1) ?? ""), name: rest.slice(0, -1).join(".") });
  if (first === "classes") return t("measure.ofClass", { measure: word(rest.at(-1) ?? ""), name: rest.slice(0, -1).join(".") });
  if (rest.length === 0) return word(first);
  if (first === "usedHours") return t("measure.of", { measure: word(first), name: `${rest[0] ?? ""}, ${unitOf(rest[1] ?? "")}` });
  return t("measure.of", { measure: word(first), name: first === "nominalUse" || first === "share" ? rest.join(".") : unitOf(rest.join(".")) });
}

function word(name: string): string {
  return name in WORDS ? t(WORDS[name as keyof typeof WORDS]) : name;
}

// Resources hold dots ("nvidia.com/gpu"), and so may queues; the measure comes first.
function parts(name: string): string[] {
  const at = name.indexOf(".");
  if (at < 0) return [name];
  const [first, rest] = [name.slice(0, at), name.slice(at + 1)];
  if (first === "workloads") return [first, rest];
  if (first === "classes" || first === "queues") {
    const last = rest.lastIndexOf(".");
    return [first, rest.slice(0, last), rest.slice(last + 1)];
  }
  if (first === "usedHours") {
    const middle = rest.indexOf(".");
    return [first, rest.slice(0, middle), rest.slice(middle + 1)];
  }
  return [first, rest];
}

/** Return whether a measure is a time of the run. */
export function isTime(name: string): boolean {
  return name.endsWith("Ms");
}

/** Return a value with its unit: "34 s", "98.5 %", "2 GPU·h". */
export function measureText(name: string, value: number): string {
  const [first = "", ...rest] = parts(name);
  if (isTime(name)) return timeText(value);
  if (SHARES.has(first)) return `${formatNumber(value * 100, 1)}\u00a0%`;
  if (first === "workLost" || first === "usedHours") return hours(rest.at(-1) ?? "", value);
  return formatNumber(value, first === "jain" ? 3 : Math.abs(value) < 10 ? 2 : 1);
}

// Below a minute tenths of a second separate variants.
function timeText(ms: number): string {
  if (ms < 0) return `−${timeText(-ms)}`;
  if (ms === 0) return t("time.s", { n: 0 });
  return ms >= 1000 && ms < 59_950 ? t("time.s", { n: formatNumber(ms / 1000, 1) }) : span(ms);
}

/** Return a value at an axis, fine enough to distinguish the steps of its range. */
export function axisText(name: string, value: number, range: number): string {
  const digits = (size: number): number => Math.min(4, Math.max(0, Math.ceil(-Math.log10(Math.max(size, 1e-9) / 8))));
  if (isTime(name) && range < 20_000) return t("time.s", { n: formatNumber(value / 1000, digits(range / 1000)) });
  if (SHARES.has(parts(name)[0] ?? "")) return `${formatNumber(value * 100, digits(range * 100))}\u00a0%`;
  if (isTime(name) || /^(workLost|usedHours)\./.test(name)) return measureText(name, value);
  return formatNumber(value, digits(range));
}

function hours(resource: string, value: number): string {
  if (/memory|storage/.test(resource)) return `${formatNumber(value / BYTES, 1)}\u00a0GiB·h`;
  return `${formatNumber(value, 2)}\u00a0${unitOf(resource)}·h`;
}

/** Return a difference with its sign, in the measure's unit. */
export function changeText(name: string, value: number): string {
  const size = measureText(name, Math.abs(value));
  if (/^[0.,\s]*(\D*)$/.test(size)) return size;
  return value < 0 ? `−${size}` : `+${size}`;
}

/** Return the measures worth a column first: the usual ones that these runs have. */
export function usualMeasures(names: readonly string[]): string[] {
  return FIRST.flatMap((first) => {
    const found = names.filter((name) => name === first || name.startsWith(`${first}.`));
    return found.sort((a, b) => rank(a) - rank(b)).slice(0, 1);
  });
}

const rank = (name: string): number => (name.includes("/") ? 0 : name.endsWith("cpu") ? 1 : 2);
