// The plug-in x node table of a pod, and a YuniKorn ask's way to a node; checked here.

import { list, number, record, request, text, type Json } from "@/net/rest";
import { rowsOf } from "@/store/explain/explanationTypes";

export interface Scorer {
  readonly plugin: string;
  readonly weight: number;
  readonly skipped: boolean;
}
export interface Score {
  readonly raw: number;
  readonly normal: number;
}
export interface NodeLine {
  readonly node: string;
  readonly fits: boolean;
  readonly plugin: string; // that refuses
  readonly reasons: readonly string[];
  readonly scores: ReadonlyMap<string, Score>;
  readonly total: number | null;
}
export interface ScoreTable {
  readonly kind: "scores";
  readonly node: string; // that it has, or ""
  readonly scorers: readonly Scorer[];
  readonly nodes: readonly NodeLine[];
  readonly totalNodes: number;
  readonly feasible: number;
  readonly best: readonly string[];
  readonly problem: string;
  readonly sentences: readonly string[];
}
export interface Room {
  readonly queue: string;
  readonly resource: string;
  readonly guaranteed: string | null;
  readonly max: string | null;
  readonly used: string;
  readonly left: string | null;
}
export interface AskTable {
  readonly kind: "ask";
  readonly node: string;
  readonly path: readonly Room[];
  readonly requests: ReadonlyMap<string, string>;
  readonly checks: readonly { name: string; holds: boolean; detail: string }[];
  readonly verdicts: readonly { node: string; verdict: string }[];
  readonly withRoom: number;
  readonly totalNodes: number;
  readonly plans: readonly {
    laws: string;
    inForce: boolean;
    node: string;
    victims: readonly string[];
    reason: string;
  }[];
  readonly sentences: readonly string[];
}

/** Ask where a pod could go, now or at a tick of the past. */
export async function fetchPlaces(
  sandbox: string,
  key: string,
  tick: number | null,
  signal: AbortSignal,
): Promise<ScoreTable | AskTable> {
  const [, namespace = "", name = ""] = key.split("/");
  const path = `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
  const answer = record(await request("GET", path, { query: { kind: "Pod", tick }, signal }));
  return "scorers" in answer ? scoresOf(answer) : askOf(answer);
}

function scoresOf(answer: Json): ScoreTable {
  return {
    kind: "scores",
    node: text(answer["node"]),
    scorers: rowsOf(answer["scorers"]).map((row) => ({
      plugin: text(row["plugin"]),
      weight: number(row["weight"]),
      skipped: row["skipped"] === true,
    })),
    nodes: rowsOf(answer["nodes"]).map(lineOf),
    totalNodes: number(answer["totalNodes"]),
    feasible: number(answer["feasible"]),
    best: texts(answer["best"]),
    problem: text(answer["problem"]),
    sentences: texts(answer["sentences"]),
  };
}

function lineOf(row: Json): NodeLine {
  const scores = rowsOf(row["scores"]).map(
    (score) =>
      [text(score["plugin"]), { raw: number(score["raw"]), normal: number(score["normalized"]) }] as const,
  );
  return {
    node: text(row["node"]),
    fits: row["fits"] === true,
    plugin: text(row["plugin"]),
    reasons: texts(row["reasons"]),
    scores: new Map(scores),
    total: typeof row["total"] === "number" ? row["total"] : null,
  };
}

function askOf(answer: Json): AskTable {
  const maybe = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return {
    kind: "ask",
    node: text(answer["node"]),
    path: rowsOf(answer["path"]).map((row) => ({
      queue: text(row["queue"]),
      resource: text(row["resource"]),
      guaranteed: maybe(row["guaranteed"]),
      max: maybe(row["max"]),
      used: text(row["used"]),
      left: maybe(row["left"]),
    })),
    requests: new Map(rowsOf(answer["requests"]).map((row) => [text(row["resource"]), text(row["amount"])])),
    checks: rowsOf(answer["checks"]).map((row) => ({
      name: text(row["name"]),
      holds: row["holds"] === true,
      detail: text(row["detail"]),
    })),
    verdicts: rowsOf(answer["nodeVerdicts"]).map((row) => ({
      node: text(row["node"]),
      verdict: text(row["verdict"]),
    })),
    withRoom: number(answer["nodesWithRoom"]),
    totalNodes: number(answer["nodes"]),
    plans: rowsOf(answer["plans"]).map((row) => ({
      laws: text(row["laws"]),
      inForce: row["inForce"] === true,
      node: text(row["node"]),
      victims: rowsOf(row["victims"]).map((victim) => text(victim["workload"])),
      reason: text(row["reason"]),
    })),
    sentences: texts(answer["sentences"]),
  };
}

function texts(value: unknown): string[] {
  return list(value ?? []).map(text);
}

/** A refusal that several nodes share. */
export interface Refused {
  readonly nodes: readonly string[];
  readonly plugin: string;
  readonly reason: string;
}

/** Return the filtered nodes, those refused alike as one. */
export function refusedAlike(nodes: readonly NodeLine[]): Refused[] {
  const groups = new Map<string, Refused>();
  for (const line of nodes.filter((one) => !one.fits)) {
    const reason = line.reasons.join("; ");
    const id = `${line.plugin} ${reason}`;
    const there = groups.get(id)?.nodes ?? [];
    groups.set(id, { nodes: [...there, line.node], plugin: line.plugin, reason });
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}
