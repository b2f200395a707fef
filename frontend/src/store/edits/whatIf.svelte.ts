// The open what-if: changes from a tick on, run beside the run without them, until it is kept or put away.

import { untrack } from "svelte";

import { address, ask as inAddress } from "@/lib/address.svelte";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { ask, record, Refusal, request, type Cause, type Json } from "@/net/rest";
import type { PairLine, WhatIfState, WorkloadVerdict } from "@/protocol/types";
import { addedTo, changed, movesOf, type Change, type Part } from "@/store/edits/changes";
import { bothAt, differs, furthestApart, lineKey, linesByKey, rowsOf, type Apart } from "@/store/edits/pairLines";
import { attempt, nameOf, reportRefusal, undo } from "@/store/live/intents";
import { halt } from "@/store/live/cursor.svelte";
import { live } from "@/store/live/live.svelte";
import { objectPath } from "@/store/live/server";
import { Signal } from "@/store/rows/signals.svelte";

const HORIZON_MS = 600_000;

/** From where to where both sides run, and how long a tick is; milliseconds. */
export interface Frame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly tickMs: number;
}

/** A change that is looked at before it is made: the drop of what is carried, a quota that is pulled, a field as it is typed. */
export interface Draft {
  readonly change: Change;
  /** The answer to it after the changes made, as far as both sides have run. */
  readonly found: WhatIfState | null;
  readonly running: boolean;
  readonly problem: string; // why it cannot be made; "" where it can
}

/** Another branch that is shown beside this one, which is the side without the change. */
export interface Branch {
  readonly id: string;
  readonly name: string;
  readonly found: WhatIfState | null; // null: it is not known yet
  readonly problem: string;
}

/** An edit that was refused: another person changed the same meanwhile. */
export interface Stale {
  readonly causes: readonly Cause[]; // what they did; `field` is the key of what they changed
  readonly parts: readonly Part[]; // what this edit changes
  readonly mine: () => Promise<unknown>; // make it nonetheless, of what there is now
  readonly theirs: () => unknown; // leave it
}

/** More seeds that run: how many are through. */
export interface Sure {
  readonly of: number;
  readonly done: number;
  readonly found: WhatIfState | null; // as far as it is known
}

class WhatIf {
  changes = $state.raw<readonly Change[]>([]);
  draft = $state.raw<Draft | null>(null);
  /** The answer to these changes, as far as both sides have run, or to those before until it is known. */
  found = $state.raw<WhatIfState | null>(null);
  /** The tick that it begins at; null: none is open. */
  at = $state<number | null>(null);
  horizonMs = $state(HORIZON_MS);
  /** With how many seeds both sides run: one is that of this run. */
  seeds = $state(1);
  /** Those that are open in this sandbox, newest first, with the sums of their verdicts alone. */
  listed = $state.raw<readonly WhatIfState[]>([]);
  /** Those that are set aside. */
  readonly aside: readonly WhatIfState[] = $derived(this.listed.filter((one) => one.id !== this.found?.id));
  /** Another one that is looked at beside it. */
  beside = $state.raw<WhatIfState | null>(null);
  /** The revision up to which what it would take the place of was seen. */
  seen = 0;
  stale = $state.raw<Stale | null>(null);
  /** How often what was typed gave way to what another changed. */
  givenWay = $state(0);
  /** The instant that somebody looks at beyond the tick shown; null: none is asked for. */
  lookMs = $state<number | null>(null);
  running = $state(false);
  /** It runs with more seeds, or goes on where it was opened while it ran; what stands may be changed, kept or put away meanwhile. */
  sure = $state.raw<Sure | null>(null);
  branch = $state.raw<Branch | null>(null);
  readonly open = $derived(this.changes.length > 0);
  /** There is something to draw: what is open, or a draft. */
  readonly drawn = $derived(this.open || (this.draft ?? this.branch) !== null);
  /** Both sides still run of what is drawn. */
  readonly busy = $derived(this.running || this.draft?.running === true);
  /** What was changed, a sentence each: one edit may say several. */
  readonly said: readonly string[] = $derived(this.changes.flatMap((one) => one.said));
  readonly parts: readonly Part[] = $derived(this.changes.flatMap((one) => one.parts));
  /** What is drawn: the answer with the draft where there is one; of more seeds once a second one is through. */
  readonly shown: WhatIfState | null = $derived(this.draft?.found ?? ((this.sure?.done ?? 0) > 1 || this.found === null ? this.sure?.found : null) ?? this.found ?? (this.open || this.draft !== null ? null : (this.branch?.found ?? null)));

  /** Who comes out otherwise, by key; a pod of a gang or an application has the row of that. */
  readonly rows: ReadonlyMap<string, WorkloadVerdict> = $derived(new Map(this.shown?.verdict?.seeds[0]?.verdict.workloads.flatMap((row) => [row.subject, ...row.members].map((key) => [key, row] as const))));
  /** Where each Workload goes that is moved or added: key -> key of its queue. */
  readonly moves: ReadonlyMap<string, string> = $derived.by(() => {
    const parts = [...this.parts, ...(this.draft?.change.parts ?? [])];
    const there = this.shown?.verdict?.seeds[0]?.onlyWith ?? [];
    return new Map([...movesOf(parts), ...addedTo(parts, there, (key) => live.shown.get("LocalQueue", key)?.clusterQueue)]);
  });
  /** From where to where both sides run; null until they have. */
  readonly frame: Frame | null = $derived.by(() => {
    const verdict = this.shown?.verdict ?? null;
    return verdict === null ? null : { fromMs: verdict.fromMs, toMs: verdict.toMs, tickMs: live.shown.tickMs };
  });
  readonly #all: ReadonlyMap<string, PairLine> = $derived(linesByKey(this.shown?.verdict?.lines ?? []));
  // Both sides of each line at `atMs`: when that moves, only who reads a line with another value then is asked again.
  readonly #sides: ReadonlyMap<string, Signal<Apart | null>> = $derived(new Map([...this.#all].map(([key, line]) => [key, new Signal(bothAt(line, untrack(() => this.atMs)))])));
  /** How queues go on where the sides differ. */
  readonly lines: ReadonlyMap<string, PairLine> = $derived(new Map([...this.#all].filter(([, line]) => differs(line))));
  /** The keys of queues and cohorts that differ anywhere: their rows are drawn of `atMs` as a whole. */
  readonly rowsApart: ReadonlySet<string> = $derived(rowsOf(this.lines.values()));
  readonly #furthest = $derived(furthestApart(this.lines.values()));
  /** The instant that ghosts are of: the one asked for, or the tick shown; where the what-if begins there, when the sides are furthest apart. */
  readonly atMs: number = $derived.by(() => {
    const { frame } = this;
    if (frame === null) return 0;
    const ms = this.lookMs ?? live.nowMs;
    return ms > frame.fromMs && ms <= frame.toMs ? ms : (this.#furthest ?? frame.toMs);
  });

  constructor() {
    $effect.root(() => {
      $effect(() => {
        const [{ atMs }, sides] = [this, this.#sides];
        for (const [key, side] of sides) {
          const [before, now] = [side.peek, bothAt(this.#all.get(key), atMs)];
          if (before?.without !== now?.without || before?.changed !== now?.changed) side.value = now;
        }
      });
    });
  }

  /** Return both sides of a queue at that instant; null where they are equal. */
  apart(...of: Parameters<WhatIf["both"]>): Apart | null {
    const both = this.both(...of);
    return both?.without === both?.changed ? null : both;
  }

  /** Return both sides of a queue that differs at that instant, also where they are equal; null of one that does not. */
  both(of: PairLine["of"], queue: string, flavor = "", resource = ""): Apart | null {
    return this.#sides.get(lineKey(of, queue, flavor, resource))?.value ?? null;
  }

  /** Return an object's manifest, or the policy document, with the changes made. */
  with(key: string, manifest: Json): Json {
    return changed(this.parts, key, manifest);
  }

  /** Return the text of a field of an object with the changes made; `value` where none is about it. */
  held(key: string, path: string, value: string): string {
    const after = path.split(".").reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? (at as Json)[name] : undefined), this.with(key, {}));
    return typeof after === "string" ? after : value;
  }
}

export const whatIf = new WhatIf();
let line: Promise<unknown> = Promise.resolve();

// One after the other: each builds upon the changes before it.
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const next = line.then(run, run);
  line = next;
  return next;
}

const base = (): string => `/sandboxes/${String(live.id)}`;

/** Make a change in the open what-if, or open one at the tick shown; `seen` is the revision of what it is a change of. Returns whether the server took it. */
export function change(said: readonly string[], parts: readonly Part[], seen = seenNow()): Promise<boolean> {
  return inTurn(async () => {
    if (!whatIf.open && drafted === null) await begin();
    return run([...whatIf.changes, { said, parts, seen }]);
  });
}

/** Return the revision that is shown: what a person sees, and edits. */
export const seenNow = (): number => live.latest.page.revision;

/** Write objects as a whole, as a text has them. */
export const changeYaml = (yaml: string, said: string, seen?: number): Promise<boolean> => change([said], [{ yaml }], seen);

/** Change fields of an object by a merge patch; of a YuniKorn queue the policy that holds it. */
export function changeObject(key: string, body: Json, said: readonly string[]): Promise<boolean> {
  const one = objectChange(key, body, said);
  return change(one.said, one.parts);
}

/** Return the change that a merge patch of an object is. */
export function objectChange(key: string, body: Json, said: readonly string[]): Change {
  const [kind = "", namespace = ""] = key.split("/");
  const name = nameOf(key);
  const part: Part = kind === "Queue" ? { policy: body } : { patch: { kind, namespace, name, body } };
  return { said: said.map((one) => (one.includes(name) ? one : `${name} · ${one}`)), parts: [part] };
}

// What is shown stands while a change of it is looked at: the tick shown is that of the verdict.
async function begin(): Promise<void> {
  whatIf.horizonMs = HORIZON_MS;
  whatIf.at = live.past === null ? null : live.pastShown; // null: where the run stands
  halt();
  if (whatIf.at !== null) inAddress({ tick: String(whatIf.at) });
  else if (live.latest.sandbox?.playing === true) {
    playsOn = true;
    await request("POST", `${base()}/actions/pause`, { body: {} }).catch(() => null);
  }
}

// Both sides that are asked for: what they are asked with, who hears how far they are, and how it comes out.
interface Asking {
  readonly key: string;
  hear: (found: WhatIfState) => void;
  readonly answer: Promise<WhatIfState>;
  readonly stop: () => void;
}
let drafted: Asking | null = null;
let playsOn = false; // a draft has halted the run

// The seed of the run is the first of several, so that who comes out otherwise is named of this run.
function seedsOf(count: number): number[] {
  if (count < 2) return [];
  const own = Number(live.latest.sandbox?.seed ?? 0);
  return [...new Set([own, ...Array.from({ length: count }, (_, at) => at + 1)])].filter(Number.isSafeInteger).slice(0, count);
}

const bodyOf = (changes: readonly Change[], seeds: number): Json => ({ at: whatIf.at, changes: changes.flatMap((one) => one.parts), horizonMs: whatIf.horizonMs, seeds: seedsOf(seeds) });

// Each change was of what was there when it was made: the oldest counts.
const seenOf = (changes: readonly Change[]): number => Math.min(...changes.map((one) => one.seen ?? seenNow()));

function asking(body: Json, revision: number, hear: Asking["hear"]): Asking {
  const [path, end] = [`${base()}/what-ifs`, new AbortController()];
  let [number, stopped] = [0, false];
  const stop = (): void => {
    stopped = true;
    if (number === 0) return; // the next answer tells which it is
    end.abort();
    void request("POST", `${path}/${number}/discard`).catch(() => null);
  };
  const told = (found: WhatIfState): WhatIfState => {
    number = found.id;
    if (stopped) stop();
    else if (found.verdict !== null || found.state !== "running") one.hear(found);
    return found;
  };
  const answer = ask("WhatIfState", "POST", path, { body: { ...body, revision }, query: { wait: 0 }, soFar: told, signal: end.signal }).then(told);
  const one = { key: JSON.stringify(body), hear, answer, stop };
  return one;
}

/** Look at a change before it is made: both sides run with it after those that are made. */
export async function draft(change: Change): Promise<void> {
  abandon();
  const { id } = live;
  const wanted = (): boolean => live.id === id && whatIf.draft?.change === change;
  const told = (found: WhatIfState | null, problem = ""): void => {
    if (wanted()) whatIf.draft = { change, found: found ?? whatIf.draft?.found ?? null, running: found?.state === "running", problem };
  };
  whatIf.draft = { change, found: null, running: true, problem: "" };
  await line.catch(() => null);
  if (wanted() && !whatIf.open && whatIf.at === null) await begin();
  if (!wanted()) return;
  const changes = [...whatIf.changes, change];
  const mine = (drafted = asking(bodyOf(changes, 1), seenOf(changes), told));
  try {
    await mine.answer;
  } catch (error) {
    if (drafted === mine) drafted = null;
    told(null, error instanceof Error ? error.message : String(error));
  }
}

/** Forget the draft; what is made stays. */
export function abandon(): void {
  drafted?.stop();
  [drafted, whatIf.draft] = [null, null];
}

/** Forget the draft, and play on where it has halted the run. */
export function letGo(): void {
  abandon();
  if (whatIf.open) return;
  whatIf.at = null;
  if (playsOn) void request("POST", `${base()}/actions/play`, { body: {} }).catch(() => null);
  playsOn = false;
}

async function run(changes: readonly Change[], seeds = 1): Promise<boolean> {
  const { id } = live;
  if (id === null) return false;
  leaveSeeds();
  const before = { changes: whatIf.changes, found: whatIf.found, seeds: whatIf.seeds };
  const soFar = (found: WhatIfState): void => {
    if (live.id === id) whatIf.found = found;
  };
  const body = bodyOf(changes, seeds);
  const one = drafted?.key === JSON.stringify(body) ? drafted : asking(body, seenOf(changes), soFar); // what was looked at is made
  one.hear = soFar;
  if (one !== drafted) drafted?.stop();
  drafted = null;
  [whatIf.changes, whatIf.found, whatIf.draft, whatIf.running, whatIf.seeds] = [changes, whatIf.draft?.found ?? whatIf.found, null, true, seeds];
  const found = await one.answer.catch((error: unknown) => {
    if (live.id === id) refused(error, changes.flatMap((change) => change.parts), () => run(asSeenNow(changes), seeds), giveWay);
    return null;
  });
  whatIf.running = false;
  if (live.id !== id) return false;
  if (found === null) {
    [whatIf.changes, whatIf.found, whatIf.seeds] = [before.changes, before.found, before.seeds];
    return false;
  }
  playsOn = false;
  whatIf.changes = takenApart(changes, found.changes as unknown as readonly Part[]);
  takesPlace(found, before.found);
  return true;
}

// What was found stands from now on, in the place of what stood before.
function takesPlace(found: WhatIfState, before: WhatIfState | null): void {
  [whatIf.found, whatIf.at, whatIf.seen] = [found, found.at, seenBy(found)];
  inAddress({ "what-if": String(found.id) });
  if (before === null || before.id === found.id) return;
  whatIf.listed = whatIf.listed.filter((one) => one.id !== before.id);
  void putAway(before.id, found.id);
}

// Who goes back in time leaves what came after to a branch, and sees it until now.
const seenBy = (found: WhatIfState): number => (found.at < (live.latest.sandbox?.tick ?? 0) ? seenNow() : found.revision);

const asSeenNow = (changes: readonly Change[]): readonly Change[] => changes.map((one) => ({ ...one, seen: seenNow() }));

/** Forget what was typed: it is what another made of it. */
function giveWay(): void {
  whatIf.givenWay++;
}

/** Say what was refused; where another changed the same, ask whose it is to be. */
export function refused(error: unknown, parts: readonly Part[], mine: Stale["mine"], theirs: Stale["theirs"]): void {
  const causes = error instanceof Refusal && error.code === 409 ? error.causes.filter((one) => one.field.includes("/")) : [];
  if (causes.length === 0) reportRefusal(error);
  else whatIf.stale = { causes, parts, mine, theirs };
}

/** Make the changes anew of what there is now. Returns whether the server took them. */
export function rebase(): Promise<boolean> {
  return inTurn(() => {
    whatIf.at = null;
    return run(asSeenNow(whatIf.changes), whatIf.seeds);
  });
}

// A text of the last change is the objects that the server has read in it; those of earlier ones are so already.
function takenApart(changes: readonly Change[], made: readonly Part[]): readonly Change[] {
  const [before, last] = [changes.slice(0, -1), changes.at(-1)];
  const first = before.reduce((sum, one) => sum + one.parts.length, 0);
  return last === undefined ? changes : [...before, { ...last, parts: made.slice(first) }];
}

const putAway = (number: number, replacedBy?: number): Promise<unknown> => request("POST", `${base()}/what-ifs/${number}/discard`, { body: replacedBy === undefined ? {} : { replacedBy } }).catch(() => null);

/** Run both sides up to another horizon. */
export function lookAhead(horizonMs: number): Promise<boolean> {
  return inTurn(async () => {
    const before = whatIf.horizonMs;
    whatIf.horizonMs = horizonMs;
    const done = await run(whatIf.changes, whatIf.seeds);
    if (!done) whatIf.horizonMs = before;
    return done;
  });
}

/** Run both sides with so many seeds: how sure is what comes out? Whoever changes what stands meanwhile stops it. */
export async function trySeeds(count: number): Promise<void> {
  await line.catch(() => null);
  leaveSeeds();
  const { found, changes, seeds } = whatIf;
  if (found === null) return;
  const hear = (so: WhatIfState): void => {
    heard(one, so);
  };
  const one = asking(bodyOf(changes, count), seenOf(changes), hear);
  await runsBeside(one, { of: count, done: 0, found: null }, () => (whatIf.seeds = seeds));
}

// The seeds that run; what they come to takes the place of what stands, unless that is another by then.
let beside: Asking | null = null;

function heard(one: Asking, found: WhatIfState): void {
  if (beside !== one || whatIf.sure === null) return;
  if (whatIf.sure.found === null) inAddress({ "what-if": String(found.id) }); // who reloads sees it run
  whatIf.sure = { ...whatIf.sure, found, done: found.verdict === null || found.verdict.toMs < found.verdict.fromMs + found.horizonMs ? 0 : found.verdict.seeds.length };
}

async function runsBeside(one: Asking, sure: Sure, failed: () => void): Promise<void> {
  [beside, whatIf.sure, whatIf.seeds] = [one, sure, sure.of];
  const found = await one.answer.catch((error: unknown) => {
    if (beside === one) reportRefusal(error);
    return null;
  });
  if (beside !== one) return;
  [beside, whatIf.sure] = [null, null];
  if (found === null) failed();
  else takesPlace(found, whatIf.found);
}

function leaveSeeds(): void {
  beside?.stop();
  [beside, whatIf.sure] = [null, null];
}

/** Stop the seeds that run; what stood before them stands. */
export function stopSeeds(): void {
  const { found, sure } = whatIf;
  leaveSeeds();
  whatIf.seeds = Math.max(1, found?.seeds.length ?? 1);
  if (found !== null) inAddress({ "what-if": String(found.id) });
  else if (sure?.found) {
    void putAway(sure.found.id);
    close();
  }
}

/** Take back the last change; without a what-if, the last edit of the run. */
export function undoLast(): Promise<unknown> {
  if (!whatIf.open) return undo();
  return inTurn(async () => (whatIf.changes.length > 1 ? run(whatIf.changes.slice(0, -1)) : discard()));
}

/** Put the what-if away; the run stays as it is. */
export async function discard(): Promise<void> {
  const number = whatIf.found?.id;
  close();
  if (number !== undefined) await putAway(number);
  await listOpen();
}

/** Put away one that is set aside. */
export async function discardAside(number: number): Promise<void> {
  if (whatIf.beside?.id === number) whatIf.beside = null;
  await putAway(number);
  await listOpen();
}

/** Read which are open in this sandbox. */
export async function listOpen(): Promise<void> {
  const { id } = live;
  if (id === null) return;
  const found = await ask("WhatIfs", "GET", `/sandboxes/${id}/what-ifs`).catch(() => null);
  if (live.id === id) whatIf.listed = (found?.items ?? []).filter((one) => one.state === "open");
}

/** Look at one that is set aside beside the open one; null: at that alone. */
export async function lookBeside(number: number | null): Promise<void> {
  whatIf.beside = number === null ? null : await attempt(() => ask("WhatIfState", "GET", `${base()}/what-ifs/${number}`));
}

/** Open again what was kept and is undone: at its tick, with its changes and horizon, of what the undo's revision left. */
export async function reopen(found: WhatIfState, changes: readonly Change[], seen: number): Promise<void> {
  [whatIf.at, whatIf.horizonMs] = [found.at, found.horizonMs];
  await inTurn(() => run(changes.map((one) => ({ ...one, seen }))));
}

/** Return an object, or the policy, as it is at a tick; null where it is not there. */
async function documentAt(id: string, key: string, tick: number): Promise<Json | null> {
  try {
    return record(await request("GET", `/sandboxes/${id}/${key === "Policy//policy" ? "policy" : objectPath(key)}`, { query: { tick } }));
  } catch {
    return null;
  }
}

/** Open one that is in the list, as it was left. */
export async function open(number: number): Promise<void> {
  const { id } = live;
  if (id === null) return;
  const going = read(number);
  const [found, { describe, describeAll }] = await Promise.all([attempt(() => going.known), import("@/store/edits/describe")]);
  if (live.id !== id) {
    going.stop();
    return;
  }
  if (typeof found?.replacedBy === "number") {
    announceReplaced(number, found.replacedBy);
    return open(found.replacedBy);
  }
  if (found?.state !== "open" && found?.state !== "running") {
    inAddress({ "what-if": null });
    return;
  }
  const parts = found.changes as unknown as readonly Part[];
  void describeAll(parts, (key) => documentAt(id, key, found.at)).then((said) => {
    if (whatIf.parts.length === parts.length && whatIf.parts.every((part, at) => part === parts[at])) whatIf.changes = whatIf.changes.map((one, at) => ({ ...one, said: [said[at] ?? ""] }));
  });
  whatIf.seeds = Math.max(1, found.seeds.length);
  const runs = found.state === "running";
  [whatIf.changes, whatIf.found, whatIf.horizonMs, whatIf.at] = [parts.map((part) => ({ said: [describe(part)], parts: [part] })), runs ? null : found, found.horizonMs, found.at];
  whatIf.seen = seenBy(found);
  if (whatIf.beside?.id === found.id) whatIf.beside = null;
  inAddress({ "what-if": String(found.id) }); // the tick looked at stays
  if (runs) {
    going.hear = (so) => { heard(going, so); };
    void runsBeside(going, { of: whatIf.seeds, done: 0, found }, close);
  }
  await listOpen();
}

// One that somebody asked for, as far as it is; leaving it ends only the looking.
interface Going extends Asking {
  readonly known: Promise<WhatIfState>; // what is known first
}

function read(number: number): Going {
  const end = new AbortController();
  let first: (found: WhatIfState) => void = () => undefined;
  const soFar = new Promise<WhatIfState>((resolve) => (first = resolve));
  const told = (found: WhatIfState): void => {
    first(found);
    one.hear(found);
  };
  const answer = ask("WhatIfState", "GET", `${base()}/what-ifs/${number}`, { query: { wait: 0 }, soFar: told, signal: end.signal });
  const one: Going = { key: "", hear: () => undefined, answer, known: Promise.race([soFar, answer]), stop: () => { end.abort(); } };
  return one;
}

function announceReplaced(number: number, by: number): void {
  const text = t("pair.replaced", { n: number, by });
  announce(text);
  toast({ tone: "note", text });
}

/** Go back to the run; the what-if stays in the list, as it is. */
export function close(): void {
  clear();
  inAddress({ "what-if": null });
}

function clear(): void {
  abandon();
  leaveSeeds();
  [whatIf.changes, whatIf.found, whatIf.at, whatIf.beside, whatIf.lookMs] = [[], null, null, null, null];
}

/** Open the what-if that the address names; close it where the address names none. */
export function followAddress(): void {
  const asked = address.query.get("what-if");
  if ([whatIf.found, whatIf.sure?.found].some((one) => one !== null && one !== undefined && asked === String(one.id)) || whatIf.running) return;
  if (asked === null && whatIf.found === null && whatIf.sure === null) return;
  if (asked === null) clear();
  else if (live.loaded) void open(Number(asked));
}
