// The open what-if as the page holds it, against a server that writes down what it is asked.
import { beforeEach, expect, it, vi } from "vitest";

import type { WhatIfChange } from "@/protocol/types";
import type { Part } from "@/store/edits/changes";
import { commandsOf } from "@/store/edits/result";
import type { FollowedSandbox } from "@/store/live/followed.svelte";
import { EMPTY_PAGE } from "@/store/rows/page";
import { RowStore } from "@/store/rows/rowStore.svelte";

const queue = (name: string): Record<string, unknown> => ({ kind: "ClusterQueue", metadata: { name }, spec: { cohortName: "all" } });
let asked: { method: string; path: string; body: Record<string, unknown> }[] = [];
let number = 0;
let there: Record<string, unknown> | null = null; // what a patch is of, as it was
let stored: readonly Part[] = [{ policy: {} }]; // the changes of what is open already

const state = (id: number, how = "open"): Record<string, unknown> => ({ id, state: how, at: 12, revision: 1, changes: stored, horizonMs: 60_000, seeds: [], said: null, verdict: null, replacedBy: null });

// What a server answers: a what-if that is open at the tick asked for, 40 for now.
function answer(path: string, body: Record<string, unknown>): unknown {
  if (path.endsWith("/what-ifs") && Object.keys(body).length === 0) return { items: [state(1), state(2, "kept"), state(3)] };
  if (/what-ifs\/\d+$/.test(path)) return state(Number(path.split("/").at(-1)));
  if (/\/(objects\/.*|policy)$/.test(path)) return there ?? [];
  if (!path.endsWith("/what-ifs")) return {};
  return { id: ++number, state: "open", at: body["at"] ?? 40, revision: 1, changes: (body["changes"] as Part[]).flatMap((one) => ("yaml" in one ? [{ apply: queue("q") }, { apply: queue("r") }] : [one])), horizonMs: body["horizonMs"], seeds: [], said: null, verdict: null, replacedBy: null };
}

vi.stubGlobal("location", new URL("http://quotalab/s/a/board"));
vi.stubGlobal("history", { replaceState: (_: unknown, __: string, href: string) => vi.stubGlobal("location", new URL(href, "http://quotalab")) });
vi.stubGlobal("document", { cookie: "" });
let newest = 0; // the revision at which another changed what is edited here
vi.stubGlobal("fetch", (url: string, init: { method: string; body?: string }) => {
  const path = url.split("?")[0] ?? "";
  const body = JSON.parse(init.body ?? "{}") as Record<string, unknown>;
  asked.push({ method: init.method, path, body });
  if (typeof body["revision"] === "number" && body["revision"] < newest) {
    const causes = [{ field: "ClusterQueue//q", message: "revision 9: another changes it" }];
    return Promise.resolve(new Response(JSON.stringify({ message: "edited since", reason: "Conflict", details: { causes } }), { status: 409 }));
  }
  return Promise.resolve(new Response(JSON.stringify(answer(path, body)), { status: 200 }));
});
const { editAll } = await import("@/store/edits/bulk");
const { keep } = await import("@/store/edits/ends");
const { live } = await import("@/store/live/live.svelte");
const { change, changeObject, changeYaml, discard, draft, letGo, listOpen, lookBeside, objectChange, open, trySeeds, whatIf } = await import("@/store/edits/whatIf.svelte");

beforeEach(async () => {
  newest = -1;
  await discard();
  asked = [];
  live.sandbox = { id: "a", rows: new RowStore(), loaded: true } as unknown as FollowedSandbox;
  [live.past, live.pastShown, live.pastTick] = [null, null, null];
});

const begun = (): unknown[] => asked.filter((one) => one.path.endsWith("/what-ifs")).map((one) => one.body["at"]);
const hold = { spec: { stopPolicy: "Hold" } };

it("begins where the run stands when that is shown", async () => {
  await changeObject("ClusterQueue//q", hold, ["held"]);
  expect([begun(), whatIf.at]).toEqual([[null], 40]);
});

it("begins at the tick shown, and further changes are made there too", async () => {
  [live.past, live.pastShown, live.pastTick] = [new RowStore(), 7, 9]; // 9 is still read
  await changeObject("ClusterQueue//q", hold, ["held"]);
  live.pastShown = 20;
  await changeObject("ClusterQueue//r", hold, ["held"]);
  expect([begun(), new URL(location.href).searchParams.get("tick")]).toEqual([[7, 7], "7"]);
});

it("holds the objects that the server reads in a text", async () => {
  await changeObject("ClusterQueue//q", hold, ["held"]);
  await changeYaml("kind: ClusterQueue", "written");
  await changeObject("ClusterQueue//q", hold, ["held again"]);
  const sent = asked.filter((one) => one.path.endsWith("/what-ifs")).at(-1)?.body["changes"] as Part[];
  expect(sent.map((one) => Object.keys(one)[0])).toEqual(["patch", "apply", "apply", "patch"]);
  expect(whatIf.with("ClusterQueue//r", {})).toEqual(queue("r"));
  expect(whatIf.with("ClusterQueue//q", {})).toMatchObject({ spec: { cohortName: "all", stopPolicy: "Hold" } });
});

it("takes an edit of many workloads as one change, and asks for nothing else", async () => {
  await editAll(["Workload/a/one", "Workload/a/two"], { act: "hold" });
  expect([whatIf.changes.length, whatIf.parts.length]).toEqual([1, 2]);
  expect(asked.map((one) => one.path)).toEqual(["/api/v1/sandboxes/a/what-ifs"]);
});

it("lists those that are open, opens one at its tick, and another beside it", async () => {
  await listOpen();
  expect(whatIf.aside.map((one) => one.id)).toEqual([1, 3]);
  await open(3);
  await lookBeside(1);
  expect([whatIf.at, whatIf.aside.map((one) => one.id), whatIf.beside?.id]).toEqual([12, [1], 1]);
  await open(1);
  expect(whatIf.beside).toBeNull();
});

// One change of each kind that REST takes, and what the page calls it.
const [pod, to] = [{ namespace: "a", name: "p" }, { kind: "ClusterQueue", namespace: "", name: "r" }];
const KINDS: Readonly<Record<keyof WhatIfChange, readonly [Part, string]>> = {
  patch: [{ patch: { ...to, body: { spec: { stopPolicy: "Hold" } } } }, "r · stopPolicy: Hold"],
  apply: [{ apply: queue("q") }, "+ ClusterQueue q"],
  yaml: [{ yaml: "kind: ClusterQueue" }, "YAML"],
  delete: [{ delete: to }, "− ClusterQueue r"],
  policy: [{ policy: { spec: { kueue: { laws: "main" } } } }, "Policy · kueue.laws: main"],
  release: [{ release: { kueue: "0.16.4", kubernetes: "1.35.4" } }, "as Kueue 0.16.4, Kubernetes 1.35.4"],
  move: [{ move: { kind: "Workload", ...pod, to } }, "p → r"],
  pin: [{ pin: { ...pod, node: "n" } }, "p → n"],
  node: [{ node: { name: "n", change: "drain" } }, "n: drain"],
  cluster: [{ cluster: { name: "east", change: "lose" } }, "east: lose"],
};

it.each(Object.entries(KINDS))("opens one whose change is a %s that was made elsewhere, and says what it comes to", async (_, [part, said]) => {
  stored = [part];
  await open(3);
  expect([whatIf.open, whatIf.said, whatIf.parts]).toEqual([true, [said], [part]]);
  expect(commandsOf(whatIf.parts)).not.toBe("");
});

it("says what each value was, and is, of one that was made elsewhere", async () => {
  stored = [KINDS.patch[0], { patch: { ...to, body: { spec: { stopPolicy: null } } } }];
  there = { spec: { stopPolicy: "None" } };
  await open(3);
  await vi.waitFor(() => { expect(whatIf.said).toEqual(["r · stopPolicy: None → Hold", "r · stopPolicy: Hold → –"]); });
});

it("has the releases that decide instead in its policy", async () => {
  stored = [KINDS.release[0]];
  await open(3);
  expect(whatIf.with("Policy//policy", { spec: { kueue: {} } })).toEqual({ spec: { kueue: {}, release: { kueue: "0.16.4", kubernetes: "1.35.4" } } });
});

const ends = (): string[] => asked.map((one) => one.path.split("/").slice(-2).join("/")).filter((path) => path.endsWith("discard"));

it("makes of a draft what was looked at, and runs nothing again", async () => {
  const held = objectChange("ClusterQueue//q", hold, ["held"]);
  await draft(held);
  expect([whatIf.open, whatIf.drawn, whatIf.shown?.id]).toEqual([false, true, number]);
  await change(held.said, held.parts);
  expect([begun().length, whatIf.open, whatIf.draft, whatIf.found?.id]).toEqual([1, true, null, number]);
});

it("puts a draft away that is not made, and plays on", async () => {
  live.sandbox = { id: "a", rows: { sandbox: { playing: true }, page: EMPTY_PAGE }, loaded: true } as unknown as FollowedSandbox;
  await draft(objectChange("ClusterQueue//q", hold, ["held"]));
  letGo();
  expect([whatIf.drawn, whatIf.at, ends()]).toEqual([false, null, [`${number}/discard`]]);
  expect(asked.map((one) => one.path.split("/").at(-1))).toEqual(["pause", "what-ifs", "discard", "play"]);
});

it("holds one draft, that of the last place", async () => {
  const [first, last] = [draft(objectChange("ClusterQueue//q", hold, ["q"])), draft(objectChange("ClusterQueue//r", hold, ["r"]))];
  await Promise.all([first, last]);
  expect([begun().length, whatIf.draft?.change.said]).toEqual([1, ["r"]]);
});

it("runs a change anew that the draft was not of, and puts the draft away", async () => {
  await draft(objectChange("ClusterQueue//q", hold, ["held"]));
  const drafted = number;
  await changeObject("ClusterQueue//r", hold, ["held"]);
  expect([begun().length, ends(), whatIf.parts.length]).toEqual([2, [`${drafted}/discard`], 1]);
});

it("asks several seeds on request, the one of the run first, and one again for the next change", async () => {
  live.sandbox = { id: "a", rows: { sandbox: { seed: "2" }, page: EMPTY_PAGE }, loaded: true } as unknown as FollowedSandbox;
  await changeObject("ClusterQueue//q", hold, ["held"]);
  await trySeeds(3);
  await changeObject("ClusterQueue//r", hold, ["held"]);
  const seeds = asked.filter((one) => one.path.endsWith("/what-ifs")).map((one) => one.body["seeds"]);
  expect([seeds, whatIf.seeds]).toEqual([[[], [2, 1, 3], []], 1]);
});

it("asks whose it is to be where another changed the same, and makes it of what there is now", async () => {
  newest = 9;
  expect(await change(["held"], [{ yaml: "kind: ClusterQueue" }], 8)).toBe(false);
  expect([whatIf.open, whatIf.stale?.causes.map((one) => one.field)]).toEqual([false, ["ClusterQueue//q"]]);
  live.sandbox = { id: "a", rows: { sandbox: {}, page: { ...EMPTY_PAGE, revision: 9 } }, loaded: true } as unknown as FollowedSandbox;
  expect([await whatIf.stale?.mine(), whatIf.open]).toEqual([true, true]);
});

it("keeps with the revision that it was looked at", async () => {
  await changeObject("ClusterQueue//q", hold, ["held"]);
  await keep();
  expect(asked.at(-1)?.body).toEqual({ revision: 1 });
});
