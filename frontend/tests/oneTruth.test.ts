// Whatever is kept up to date by diffs is what the same rows give from scratch: over a
// recorded run with edits, rewinds, undo, redo and another policy, in any order of looking.
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Diff, PageState } from "@/protocol/types";
import { applyDiff, pageAt, pageOf, rewritesHistory, tickOf, type Page } from "@/store/rows/page";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { workload } from "./worlds";

interface Step {
  readonly what: string;
  readonly diffs: readonly Diff[];
  readonly fresh: PageState;
}
interface Recording {
  readonly state: PageState;
  readonly steps: readonly Step[];
  readonly past: readonly PageState[];
}
const file = new URL("./fixtures/recording.json", import.meta.url);
const recorded = JSON.parse(readFileSync(file, "utf8")) as Recording;

/** What the views can ask of a store, as plain values. */
function shownBy(store: RowStore): unknown {
  const kinds = ["Sandbox", "Cohort", "ClusterQueue", "LocalQueue", "Workload", "Node", "Pod", "Policy"] as const;
  return {
    keys: kinds.map((kind) => store.keys(kind)),
    rows: kinds.map((kind) => store.all(kind)),
    columns: store.columns.keys().map((key) => [key, store.columns.of(key)]),
    samples: store.samples,
    events: store.events,
  };
}

// The page as the follower keeps it: history that is rewritten is asked for again.
function after(page: Page, diff: Diff, fresh: PageState): Page {
  const next = applyDiff(page, diff);
  return rewritesHistory(diff) ? pageOf(fresh) : next;
}

const steps = fc.integer({ min: 0, max: recorded.steps.length });

describe("what is shown", () => {
  it.each(recorded.steps.map((step, index) => [step.what, index] as const))("after %s is what a page that opens then shows", (_, index) => {
    const followed = new RowStore(pageOf(recorded.state));
    let page = pageOf(recorded.state);
    for (const step of recorded.steps.slice(0, index + 1)) {
      for (const diff of step.diffs) followed.show((page = after(page, diff, step.fresh)));
    }
    const opened = new RowStore(pageOf(recorded.steps[index]?.fresh ?? recorded.state));
    const { rows, columns, keys } = shownBy(followed) as Record<string, unknown>;
    expect({ rows, columns, keys }).toEqual((({ rows, columns, keys }) => ({ rows, columns, keys }))(shownBy(opened) as Record<string, unknown>));
  });

  it("is the same from scratch, whatever was shown before it", () => {
    const pages = [recorded.state, ...recorded.steps.map((step) => step.fresh), ...recorded.past].map(pageOf);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: pages.length - 1 }), { minLength: 1, maxLength: 8 }), (order) => {
        const store = new RowStore();
        for (const at of order) {
          const page = pages[at];
          if (page === undefined) continue;
          store.show(page);
          expect(shownBy(store)).toEqual(shownBy(new RowStore(page)));
        }
      }),
    );
  });

  it("is the same after a reconnect at any step", () => {
    fc.assert(
      fc.property(steps, steps, (from, to) => {
        const start = from === 0 ? recorded.state : recorded.steps[from - 1]?.fresh;
        let page = pageOf(start ?? recorded.state);
        const store = new RowStore(page);
        for (const step of recorded.steps.slice(from, Math.max(from, to))) {
          for (const diff of step.diffs) {
            if (diff.revision <= page.revision) continue; // a repeated diff
            store.show((page = after(page, diff, step.fresh)));
          }
        }
        expect(shownBy(store)).toEqual(shownBy(new RowStore(page)));
      }),
    );
  });

  it("has nothing of a tick after its own", () => {
    let page = pageOf(recorded.state);
    for (const step of recorded.steps) {
      for (const diff of step.diffs) {
        page = applyDiff(page, diff);
        const tick = tickOf(page);
        expect(page.samples.filter((sample) => sample.tick > tick)).toEqual([]);
        expect(page.events.filter((event) => event.tick > tick)).toEqual([]);
      }
    }
  });

  it("of the past has curves and decisions up to its tick alone", () => {
    const newest = pageOf(recorded.steps.at(-1)?.fresh ?? recorded.state);
    for (const state of recorded.past) {
      const page = pageAt(state, newest);
      expect(page.samples.every((sample) => sample.tick <= tickOf(page))).toBe(true);
      expect(page.events.every((event) => event.tick <= tickOf(page))).toBe(true);
    }
  });

  it("is placed anew when the stack is another one", () => {
    const page = pageOf(recorded.state);
    const sandbox = page.rows.get("Sandbox//sandbox");
    if (sandbox?.kind !== "Sandbox") throw new Error("the recording has no sandbox");
    const card = workload({ phase: "pending" });
    const rows = new Map([...page.rows, [card.key, card] as const]);
    const other = new Map([...rows, [sandbox.key, { ...sandbox, stack: "kube" as const }] as const]);
    const store = new RowStore({ ...page, rows });
    store.show({ ...page, rows: other });
    expect(shownBy(store)).toEqual(shownBy(new RowStore({ ...page, rows: other })));
  });
});
