// The draft of an experiment: kept in the URL, and written as the document it stands for; pure.

import type { Json } from "@/net/rest";
import { patchAt } from "@/store/policy/paths";

/** One thing that is made different: what, and what it becomes. */
export interface Trial {
  readonly what: string; // the id of a Subject
  readonly value: unknown;
}
export interface DraftVariant {
  readonly name: string;
  readonly trials: readonly Trial[];
}
export interface DraftAxis {
  readonly what: string;
  readonly values: string; // by commas; "low..high" in a search
}
export interface DraftPromise {
  readonly measure: string;
  readonly min: string;
  readonly max: string;
  readonly over: "mean" | "every";
}
export interface Draft {
  readonly title: string;
  readonly from: "now" | "start"; // the tick that is shown, or the scenario's beginning
  readonly seeds: number;
  readonly firstSeed: number;
  readonly horizon: string;
  readonly limit: string;
  readonly mode: "list" | "grid" | "search";
  readonly samples: number;
  readonly variants: readonly DraftVariant[];
  readonly axes: readonly DraftAxis[];
  readonly promises: readonly DraftPromise[];
  readonly raw: string; // the document, once it was written by hand; "" = made from the above
}

export const BLANK: Draft = {
  title: "",
  from: "now",
  seeds: 3,
  firstSeed: 1,
  horizon: "5m",
  limit: "1m",
  mode: "list",
  samples: 8,
  variants: [],
  axes: [],
  promises: [],
  raw: "",
};

/** Return the draft as a text for the URL. */
export function packDraft(draft: Draft): string {
  const parts = Object.entries(draft).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(BLANK[name as keyof Draft]));
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(parts)));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return the draft of a URL; null when it is none. */
export function unpackDraft(packed: string | null): Draft | null {
  if (packed === null) return null;
  try {
    const text = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const read: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    if (typeof read !== "object" || read === null) return null;
    return { ...BLANK, ...(read as Partial<Draft>) };
  } catch {
    return null;
  }
}

/** What a variant may be made of, on its way into the document. */
export interface Part {
  readonly policy?: Json;
  readonly objects?: readonly Json[];
  readonly arrivals?: number;
}

/** How a subject becomes a part of the document. */
export interface Subject {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  readonly kind: "choice" | "number" | "text" | "flag";
  readonly choices: readonly Choice[];
  readonly now: string; // what it is here
  readonly part: (value: unknown) => Part;
  readonly axis?: Json; // for a grid: policy path, or object and field
}
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly value: unknown;
}

/** Return the subject of a policy switch. */
export function policyPart(path: string): (value: unknown) => Part {
  return (value) => ({ policy: patchAt(path, value) });
}

export interface Source {
  readonly sandbox: string;
  readonly tick: number;
  readonly scenario: string; // "" = it came from no scenario
  readonly whatIf?: number | null; // the open what-if: every run begins with its changes, at its tick
}

/** Return where runs begin: the open what-if with its changes, or the sandbox at a tick. */
export function baseOf({ sandbox, tick, whatIf = null }: Omit<Source, "scenario">): Json {
  return whatIf === null ? { sandbox, tick } : { sandbox, whatIf };
}

/** Return the document `kind: Experiment` of a draft. Throws for a subject that is gone. */
export function documentOf(draft: Draft, source: Source, subjects: ReadonlyMap<string, Subject>): Json {
  const base = draft.from === "start" && source.scenario !== "" ? { scenario: source.scenario } : baseOf(source);
  const axes = draft.axes.map((axis) => axisOf(axis, need(subjects, axis.what), draft.mode === "search"));
  return {
    apiVersion: "quotalab.dev/v1",
    kind: "Experiment",
    spec: {
      ...(draft.title === "" ? {} : { title: draft.title }),
      base,
      seeds: { count: draft.seeds, start: draft.firstSeed },
      horizon: draft.horizon,
      limit: draft.limit,
      ...(draft.mode === "list" ? { variants: draft.variants.map((one) => variantOf(one, subjects)) } : {}),
      ...(draft.mode === "grid" ? { variants: [{ name: "as it is" }], grid: axes } : {}),
      ...(draft.mode === "search" ? { variants: [{ name: "as it is" }], search: { samples: draft.samples, seed: draft.firstSeed, axes } } : {}),
      ...(draft.promises.length === 0 ? {} : { assertions: draft.promises.map(assertionOf) }),
    },
  };
}

function need(subjects: ReadonlyMap<string, Subject>, what: string): Subject {
  const found = subjects.get(what);
  if (found === undefined) throw new Error(what);
  return found;
}

function variantOf(variant: DraftVariant, subjects: ReadonlyMap<string, Subject>): Json {
  const parts = variant.trials.map((trial) => need(subjects, trial.what).part(trial.value));
  const policy = parts.reduce<Json>((all, part) => merged(all, part.policy ?? {}), {});
  const objects = gathered(parts.flatMap((part) => part.objects ?? []));
  const arrivals = parts.reduce((product, part) => product * (part.arrivals ?? 1), 1);
  return {
    name: variant.name,
    ...(Object.keys(policy).length === 0 ? {} : { policy }),
    ...(objects.length === 0 ? {} : { objects }),
    ...(arrivals === 1 ? {} : { arrivals }),
  };
}

// Several fields of one object are one change of it.
function gathered(changes: readonly Json[]): Json[] {
  const found: Json[] = [];
  for (const change of changes) {
    const at = found.findIndex((one) => one["object"] !== undefined && one["object"] === change["object"] && "set" in one && "set" in change);
    const before = found[at];
    if (before === undefined) found.push(change);
    else found[at] = { ...before, set: { ...(before["set"] as Json), ...(change["set"] as Json) } };
  }
  return found;
}

function merged(into: Json, patch: Json): Json {
  const result: Record<string, unknown> = { ...into };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    result[name] = isMap(before) && isMap(value) ? merged(before, value) : value;
  }
  return result;
}

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

function axisOf(axis: DraftAxis, subject: Subject, search: boolean): Json {
  const range = /^\s*([\d.]+)\s*\.\.\s*([\d.]+)\s*$/.exec(axis.values);
  if (search && range !== null && subject.axis !== undefined) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    const whole = Number.isInteger(low) && Number.isInteger(high) && subject.id !== "arrivals";
    return { ...subject.axis, name: subject.id === "arrivals" ? "arrivals" : subject.label, range: { low, high, whole } };
  }
  const values = axisValues(axis, subject);
  if (subject.axis !== undefined) {
    return { ...subject.axis, name: subject.id === "arrivals" ? "arrivals" : subject.label, values: values.map((one) => one.value) };
  }
  const choices = values.map((one) => ({ name: one.label, ...subject.part(one.value) }));
  return { name: subject.label, choices };
}

/** Return what an axis takes on, each with its label. */
export function axisValues(axis: DraftAxis, subject: Subject): Choice[] {
  const names = axis.values.split(",").map((one) => one.trim()).filter(Boolean);
  return names.map((name) => subject.choices.find((choice) => choice.name === name) ?? { name, label: name, value: valueOf(name, subject) });
}

function valueOf(text: string, subject: Subject): unknown {
  if (subject.kind === "flag") return text === "true";
  return subject.kind === "number" && text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function assertionOf(promise: DraftPromise): Json {
  return {
    measure: promise.measure,
    ...(promise.min.trim() === "" ? {} : { min: Number(promise.min) }),
    ...(promise.max.trim() === "" ? {} : { max: Number(promise.max) }),
    ...(promise.over === "every" ? { over: "every" } : {}),
  };
}

/** Return how many variants a draft has. */
export function variantCount(draft: Draft, subjects: ReadonlyMap<string, Subject>): number {
  if (draft.mode === "list") return draft.variants.length;
  if (draft.mode === "search") return draft.axes.length === 0 ? 1 : 1 + draft.samples;
  const sizes = draft.axes.map((axis) => {
    const subject = subjects.get(axis.what);
    return subject === undefined ? 0 : axisValues(axis, subject).length;
  });
  return 1 + (sizes.length === 0 ? 0 : sizes.reduce((product, size) => product * size, 1));
}
