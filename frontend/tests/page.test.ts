import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Diff, PageState } from "@/protocol/types";
import { isServerMessage } from "virtual:checks/live";
import { parsed } from "@/protocol/checked";
import { applyDiff, changedKeys, EMPTY_PAGE, GapError, joinSamples, pageOf } from "@/store/rows/page";
import { RowMap } from "@/store/rows/rowMap";
import { workload } from "./worlds";

interface Run {
  readonly state: PageState;
  readonly steps: readonly { readonly diffs: readonly Diff[]; readonly fresh: PageState }[];
}
const file = new URL("./fixtures/recording.json", import.meta.url);
const [run] = (JSON.parse(readFileSync(file, "utf8")) as { runs: readonly [Run] }).runs;
const FORWARD = 8; // steps before the first rewind
const forward = run.steps.slice(0, FORWARD);
const recorded = { state: run.state, diffs: forward.flatMap((step) => step.diffs), fresh: forward.at(-1)?.fresh ?? run.state };

function replayed(): ReturnType<typeof pageOf> {
  return recorded.diffs.reduce(applyDiff, pageOf(recorded.state));
}

describe("a page", () => {
  it("is after every diff what the server says is there", () => {
    const fresh = pageOf(recorded.fresh);
    const page = replayed();
    expect(page.revision).toBe(fresh.revision);
    expect(Object.fromEntries(page.rows)).toEqual(Object.fromEntries(fresh.rows));
    expect(page.samples).toEqual(fresh.samples);
  });

  it("does not change when a diff makes the next one", () => {
    const before = pageOf(recorded.state);
    const rows = new Map(before.rows);
    const first = recorded.diffs[0];
    if (first !== undefined) applyDiff(before, first);
    expect(new Map(before.rows)).toEqual(rows);
  });

  it("refuses a diff that starts at another revision", () => {
    const second = recorded.diffs[1];
    if (second === undefined) throw new Error("the recording is too short");
    expect(() => applyDiff(pageOf(recorded.state), second)).toThrow(GapError);
  });

  it("refuses a diff that updates what does not exist", () => {
    const diff: Diff = {
      ...(recorded.diffs[0] as Diff),
      from: -1,
      updated: { "Workload/teams/nobody": { phase: "admitted" } },
    };
    expect(() => applyDiff(EMPTY_PAGE, diff)).toThrow(GapError);
  });

  it("names what differs between two pages and nothing else", () => {
    const page = replayed();
    expect(changedKeys(page, page)).toEqual([]);
    const without = { ...page, rows: new RowMap(new Map([...page.rows].slice(1))) };
    expect(changedKeys(without, page)).toEqual([[...page.rows.keys()][0]]);
  });

  it("keeps one sample a tick, the later one, also after a rewind", () => {
    const samples = replayed().samples;
    const again = joinSamples(samples, samples.slice(3, 5));
    expect(again.map((sample) => sample.tick)).toEqual(
      samples.slice(0, 5).map((sample) => sample.tick),
    );
  });
});

describe("a recorded message", () => {
  it("passes the border", () => {
    expect(parsed(isServerMessage, JSON.stringify(recorded.state), "message").type).toBe("page_state");
    for (const diff of recorded.diffs) {
      expect(parsed(isServerMessage, JSON.stringify(diff), "message").type).toBe("diff");
    }
  });

  it("is stopped there with its place when a field is of another type", () => {
    const rows = recorded.state.rows.map((row) => ({ ...row, name: 3 }));
    const broken = JSON.stringify({ ...recorded.state, rows });
    expect(() => parsed(isServerMessage, broken, "message")).toThrow(/rows.0.name/);
  });

  it.each([
    [{ "Node//n1": { used: 8 } }, /updated\.Node\.\.n1\.used/],
    [{ "Node//n1": { kind: "Node" } }, /updated\.Node\.\.n1/],
    [{ "Sandbox//sandbox": {}, "Nodes//n1": {} }, /additionalProperty.*Nodes\/\/n1/],
  ])("is refused at the row of a diff that is not of this protocol: %j", (updated, where) => {
    const diff = { type: "diff", from: 1, revision: 2, tick: 2, added: [], removed: [], samples: [], events: [], updated };
    expect(() => parsed(isServerMessage, JSON.stringify(diff), "message")).toThrow(where);
  });
});

describe("rows in versions", () => {
  const change = fc.tuple(fc.nat({ max: 5 }).map(String), fc.option(fc.nat(), { nil: undefined }));
  const changes = fc.array(change, { maxLength: 4 });
  // Which version is changed, how, and which one is read as a whole afterwards.
  const act = fc.record({ of: fc.nat(), changes, read: fc.nat() });

  it("each are what a copy with the same changes is", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 10 }), (acts) => {
        const versions = [new RowMap(new Map())];
        const copies = [new Map<string, ReturnType<typeof workload>>()];
        for (const { of, changes, read } of acts) {
          const [version, copy] = [versions[of % versions.length], new Map(copies[of % copies.length])];
          if (version === undefined) continue;
          const rows = new Map(changes.map(([key, priority]) => [key, priority === undefined ? undefined : workload({ name: key, priority })] as const));
          for (const [key, row] of rows) {
            if (row === undefined) copy.delete(key);
            else copy.set(key, row);
          }
          versions.push(version.with(rows));
          copies.push(copy);
          const looked = read % versions.length;
          expect(new Map(versions[looked])).toEqual(copies[looked]);
        }
        versions.forEach((version, at) => {
          for (const key of "012345") expect(version.get(key)).toBe(copies[at]?.get(key));
          expect(version.size).toBe(copies[at]?.size);
        });
      }),
    );
  });
});
