// Whatever is kept up to date by diffs is what the same rows give from scratch: over recorded
// runs with edits, rewinds, undo, redo, another policy, another stack and a fork, in any order
// of following, scrubbing and connecting again.
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Diff, PageState } from "@/protocol/types";
import { applyDiff, pageAt, pageOf, rewritesHistory, tickOf, type Page } from "@/store/rows/page";
import { usageLines } from "@/store/rows/curves";
import { largestAsk, poolsOf } from "@/store/rows/pools";
import { treeOf } from "@/store/rows/quota";
import { RowStore } from "@/store/rows/rowStore.svelte";
import { waitingIn } from "@/store/rows/workloadTable";
import { workload } from "./worlds";

interface Step {
  readonly what: string;
  readonly diffs: readonly Diff[];
  readonly fresh: PageState;
}
interface Run {
  readonly state: PageState;
  readonly steps: readonly Step[];
  readonly past: readonly PageState[];
}
const file = new URL("./fixtures/recording.json", import.meta.url);
const runs = (JSON.parse(readFileSync(file, "utf8")) as { runs: readonly [Run, Run] }).runs;
const [recorded] = runs;

/** What the views can ask of a store, as plain values. */
function shownBy(store: RowStore): unknown {
  const kinds = ["Sandbox", "Cohort", "ClusterQueue", "LocalQueue", "Workload", "Node", "Pod", "Policy"] as const;
  return {
    keys: kinds.map((kind) => store.keys(kind)),
    rows: kinds.map((kind) => store.all(kind)),
    columns: store.columns.keys().map((key) => [key, store.columns.of(key)]),
    samples: store.samples,
    events: store.events,
    tree: treeOf(store.all("Cohort"), store.all("ClusterQueue")),
    pools: poolsOf(store.all("Node")),
    asks: ["cpu", "memory"].map((resource) => store.asks.largest(resource)),
    curves: usageLines(store.samples, store.all("ClusterQueue").map((row) => row.name), "cpu"),
  };
}

// The page as the follower keeps it: history that is rewritten is asked for again.
function after(page: Page, diff: Diff, fresh: PageState): Page {
  const next = applyDiff(page, diff);
  return rewritesHistory(diff) ? pageOf(fresh) : next;
}

const steps = fc.integer({ min: 0, max: recorded.steps.length });

// What a reader does: go on by a step, look at a tick of the past, come back, connect again, open the fork.
const reading = fc.oneof(
  fc.constant("follow" as const),
  fc.constant("back" as const),
  fc.constant("connect" as const),
  fc.constant("other" as const),
  fc.integer({ min: 0, max: 2 }),
);

/** The page as `live` keeps it: the followed rows, and beside them those of a tick looked at. */
class Reader {
  #run: Run;
  #at = 0;
  #page: Page;
  #latest: RowStore;
  #past: RowStore | null = null;

  constructor(run: Run) {
    [this.#run, this.#page] = [run, pageOf(run.state)];
    this.#latest = new RowStore(this.#page);
  }

  #open(run: Run): void {
    [this.#run, this.#page, this.#at, this.#past] = [run, pageOf(run.state), 0, null];
    this.#latest = new RowStore(this.#page);
  }

  get shown(): RowStore {
    return this.#past ?? this.#latest;
  }

  read(what: "follow" | "back" | "connect" | "other" | number): void {
    if (typeof what === "number") this.#scrub(this.#run.past[what]);
    else if (what === "follow") this.#follow(this.#run.steps[this.#at++]);
    else if (what === "back") this.#past = null;
    else if (what === "connect") this.#latest.show((this.#page = pageOf(this.#run.steps[this.#at - 1]?.fresh ?? this.#run.state)));
    else this.#open(this.#run === runs[0] ? runs[1] : runs[0]);
  }

  #scrub(state: PageState | undefined): void {
    if (state === undefined) return;
    this.#past ??= new RowStore();
    this.#past.show(pageAt(state, this.#page));
  }

  #follow(step: Step | undefined): void {
    for (const diff of step?.diffs ?? []) {
      if (diff.revision > this.#page.revision) this.#latest.show((this.#page = after(this.#page, diff, step?.fresh ?? this.#run.state)));
    }
  }
}

const everyStep = runs.flatMap((run) => run.steps.map((step, index) => [step.what, run, index] as const));

describe("what is shown", () => {
  it.each(everyStep)("after %s is what a page that opens then shows", (_, run, index) => {
    const followed = new RowStore(pageOf(run.state));
    let page = pageOf(run.state);
    for (const step of run.steps.slice(0, index + 1)) {
      for (const diff of step.diffs) followed.show((page = after(page, diff, step.fresh)));
    }
    const opened = new RowStore(pageOf(run.steps[index]?.fresh ?? run.state));
    const { rows, columns, keys } = shownBy(followed) as Record<string, unknown>;
    expect({ rows, columns, keys }).toEqual((({ rows, columns, keys }) => ({ rows, columns, keys }))(shownBy(opened) as Record<string, unknown>));
  });

  it("is the same from scratch, whatever was shown before it", () => {
    const pages = runs.flatMap((run) => [run.state, ...run.steps.map((step) => step.fresh), ...run.past]).map(pageOf);
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

  it("has the largest request of who waits, as all rows have it", () => {
    const store = new RowStore(pageOf(recorded.state));
    for (const step of recorded.steps) {
      store.show(pageOf(step.fresh));
      const waiting = [...waitingIn(store.page.rows)];
      expect(store.asks.largest("cpu")).toBe(largestAsk(waiting, "cpu"));
    }
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

  it("is the same however one follows, scrubs and connects again", () => {
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 12 }), (readings) => {
        const reader = new Reader(recorded);
        for (const one of readings) {
          reader.read(one);
          const { shown } = reader;
          expect(shownBy(shown)).toEqual(shownBy(new RowStore(shown.page)));
          expect(shown.samples.every((sample) => sample.tick <= tickOf(shown.page))).toBe(true);
        }
      }),
    );
  });

  it.each(everyStep)("after %s counts in its tree what stands on its board", (_, run, index) => {
    const store = new RowStore(pageOf(run.steps[index]?.fresh ?? run.state));
    if (store.sandbox?.stack !== "kueue") return;
    for (const { key, counts } of store.all("ClusterQueue")) {
      const cards = store.columns.of(key);
      expect([cards.waiting.length, cards.reserved.length, cards.admitted.length, cards.finished.length]).toEqual(
        [counts.pending + counts.inadmissible, counts.reserved, counts.admitted, counts.finished],
      );
    }
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
    const rows = page.rows.with(new Map([[card.key, card]]));
    const other = rows.with(new Map([[sandbox.key, { ...sandbox, stack: "kube" as const }]]));
    const store = new RowStore({ ...page, rows });
    store.show({ ...page, rows: other });
    expect(shownBy(store)).toEqual(shownBy(new RowStore({ ...page, rows: other })));
  });
});
