// A view that asks again while the sandbox moves: one question at a time, the last one answered.

import { describe, expect, it } from "vitest";

import { Refresh } from "@/lib/refresh";

/** A question that is answered when the test says so. */
function held(): { asked: () => number; answer: () => void; refresh: Refresh } {
  let [count, done] = [0, (): void => undefined];
  const ask = (): Promise<void> => {
    count += 1;
    return new Promise((resolve) => (done = resolve));
  };
  return { asked: () => count, answer: () => done(), refresh: new Refresh(ask, () => false, 1000) };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe("a refresh", () => {
  it("asks once more for all that was put while a question was under way", async () => {
    const { asked, answer, refresh } = held();
    for (let times = 0; times < 3; times++) void refresh.put();
    expect(asked()).toBe(1);
    answer();
    await settled();
    expect(asked()).toBe(2);
    answer();
    await settled();
    expect(asked()).toBe(2);
  });

  it("asks no more when who asked is gone", async () => {
    const { asked, answer, refresh } = held();
    void refresh.put();
    void refresh.put();
    refresh.end();
    answer();
    await settled();
    expect(asked()).toBe(1);
  });
});
