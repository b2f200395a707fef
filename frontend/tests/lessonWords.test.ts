// A lesson is a sequence of states: in none of them is a word of an answer said before its bet is closed.
import { describe, expect, it } from "vitest";

import type { Checkpoint } from "@/protocol/types";
import { isSummedUp, isTold, openStop } from "@/store/live/lessonWords";

const stop = (say: string, answer = ""): Checkpoint =>
  ({ say: { en: say }, answer: answer === "" ? {} : { en: answer } }) as unknown as Checkpoint;
const stops = [stop("Two wait.", "The elder."), stop("The elder went."), stop("One waits.", "Nobody."), stop("Nobody went.")];

/** The lines that stand in the list once these answers were seen. */
const lines = (...seen: number[]): (string | undefined)[] =>
  stops.filter((_, index) => isTold(stops, new Set(seen), index)).map((one) => one.say["en"]);

describe("the panel of a lesson", () => {
  it("tells no stop after a question that is open", () => {
    expect([lines(), lines(0), lines(0, 2)]).toEqual([["Two wait."], ["Two wait.", "The elder went.", "One waits."], stops.map((one) => one.say["en"])]);
  });
  it("sums up when every answer was seen, and not before", () => {
    const after = [[], [0], [2], [0, 2]].map((seen) => isSummedUp(stops, new Set(seen)));
    expect(after).toEqual([false, false, false, true]);
  });
  it("has no open question where nothing is asked", () => {
    expect(openStop([stop("Look.")], new Set())).toBe(1);
  });
});
