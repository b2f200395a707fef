// What the page reads from the server, each answer checked at this border.

import { flag, list, number, record, request, requestText, text, type Json } from "@/net/rest";
import {
  parseEventLine,
  parseSample,
  parseServerMessage,
  type EventLine,
  type PageState,
  type Sample,
} from "@/protocol/wire";

export type Titles = Readonly<Record<string, string>>; // language -> text

export interface Checkpoint {
  readonly atMs: number; // virtual
  readonly say: Titles;
  readonly ask: Titles;
  readonly answer: Titles;
  readonly choices: readonly Titles[];
  readonly right: number | null; // index of the right choice
}

/** What a run of a scenario looked like, for its card. */
export interface Picture {
  readonly queues: readonly (readonly number[])[]; // [depth, own, borrowed, nominal] in %
  readonly nodes: readonly number[]; // 0 to 9 full; -1 takes no pods
  readonly waiting: readonly number[];
  readonly loop: number;
  readonly workloads: number;
  readonly nodeCount: number;
  readonly topics: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly title: Titles;
  readonly summary: Titles;
  readonly stack: string;
  readonly lesson: boolean;
  readonly picture: Picture | null;
  readonly checkpoints: readonly Checkpoint[];
}

export interface SandboxLine {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly parentRevision: number;
  readonly scenario: string;
  readonly role: string;
  readonly visibility: string;
  readonly stack: string;
  readonly tick: number;
  readonly tickMs: number;
  readonly playing: boolean;
  readonly hash: string;
  readonly changedMs: number; // wall time
  readonly keepTicks: number; // history kept; 0 = as the operator keeps
  readonly keepDays: number;
  readonly archived: boolean;
}

/** Return the library of scenarios, in its order. */
export async function fetchScenarios(): Promise<Scenario[]> {
  return items(await request("GET", "/scenarios")).map((item) => ({
    name: text(item["name"]),
    title: titles(item["title"]),
    summary: titles(item["summary"]),
    stack: text(item["stack"]),
    lesson: flag(item["lesson"]),
    picture: typeof item["picture"] === "object" && item["picture"] !== null ? pictureOf(record(item["picture"])) : null,
    checkpoints: items(item["checkpoints"] ?? []).map(checkpointOf),
  }));
}

function pictureOf(item: Json): Picture {
  return {
    queues: list(item["queues"]).map((row) => list(row).map(number)),
    nodes: list(item["nodes"]).map(number),
    waiting: list(item["waiting"]).map(number),
    loop: number(item["loop"]),
    workloads: number(item["workloads"]),
    nodeCount: number(item["nodeCount"]),
    topics: list(item["topics"]).map(text),
  };
}

function checkpointOf(item: Json): Checkpoint {
  return {
    atMs: number(item["atMs"]),
    say: titles(item["say"]),
    ask: titles(item["ask"]),
    answer: titles(item["answer"]),
    choices: list(item["choices"] ?? []).map(titles),
    right: typeof item["right"] === "number" ? item["right"] : null,
  };
}

/** Return the sandboxes that this reader may see, newest change first. */
export async function fetchSandboxes(): Promise<SandboxLine[]> {
  return items(await request("GET", "/sandboxes")).map(sandboxLine);
}

/** Return one sandbox as lists show it. */
export async function fetchSandbox(id: string): Promise<SandboxLine> {
  return sandboxLine(record(await request("GET", `/sandboxes/${id}`)));
}

function sandboxLine(item: Json): SandboxLine {
  return {
    id: text(item["id"]),
    title: text(item["title"]),
    branch: text(item["branch"]),
    parent: typeof item["parent"] === "string" ? item["parent"] : null,
    parentRevision: number(item["parentRevision"]),
    scenario: text(item["scenario"]),
    role: text(item["role"]),
    visibility: text(item["visibility"]),
    stack: text(item["stack"]),
    tick: number(item["tick"]),
    tickMs: number(item["tickMs"]),
    playing: flag(item["playing"]),
    hash: text(item["hash"]),
    changedMs: Date.parse(text(item["changedAt"])) || 0,
    keepTicks: number(item["keepTicks"]),
    keepDays: number(item["keepDays"]),
    archived: flag(item["archived"]),
  };
}

/** Return every row at a tick of the past, as a page state. */
export async function fetchPast(id: string, tick: number): Promise<PageState> {
  const answer = await requestText(`/sandboxes/${id}/state`, "application/json", { query: { tick } });
  const message = parseServerMessage(answer);
  if (message.type !== "page_state") throw new Error(`expected page_state, got ${message.type}`);
  return message;
}

/** Return the samples of a run up to a tick, oldest first, thinned to `limit`. */
export async function fetchSamples(id: string, toTick: number, limit = 2000): Promise<Sample[]> {
  const query = { toTick, limit };
  return itemsOf(await request("GET", `/sandboxes/${id}/samples`, { query })).map(parseSample);
}
/** Return events, newest last; `query` narrows them (subject, type, tick). */
export async function fetchEvents(
  id: string,
  query: Readonly<Record<string, string | number>>,
): Promise<EventLine[]> {
  const asked = { query: { newest: true, ...query } };
  return itemsOf(await request("GET", `/sandboxes/${id}/events`, asked)).map(parseEventLine);
}

/** Return an object's manifest as YAML. */
export function fetchYaml(id: string, key: string): Promise<string> {
  return requestText(`/sandboxes/${id}/${objectPath(key)}`, "application/yaml");
}

/** Return the path of an object below its sandbox; `-` where it has no namespace. */
export function objectPath(key: string): string {
  const [kind = "", namespace = "", ...rest] = key.split("/");
  const place = namespace === "" ? "-" : encodeURIComponent(namespace);
  return `objects/${kind}/${place}/${encodeURIComponent(rest.join("/"))}`;
}

/** Return the items of a list answer. */
export function items(answer: unknown): Json[] {
  return itemsOf(answer).map(record);
}

function itemsOf(answer: unknown): readonly unknown[] {
  return Array.isArray(answer) ? answer : list(record(answer)["items"] ?? record(answer)["results"]);
}

function titles(value: unknown): Titles {
  if (typeof value === "string") return { en: value };
  const texts = Object.entries(record(value ?? {}));
  return Object.fromEntries(texts.map(([name, item]) => [name, text(item)]));
}
