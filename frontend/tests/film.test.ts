import { describe, expect, it } from "vitest";

import type { Film, FilmCard, FilmFrame } from "@/protocol/types";
import { standingAt } from "@/store/explain/film";
import { filmAt, isFilmed } from "@/store/explain/filmed";
import { withWords } from "@/lib/words.svelte";
import { animated } from "@/views/theatre/apng";
import { fitted, sceneOf, widthOf, wrapped } from "@/views/theatre/scene";

await withWords(Promise.resolve());
const said = (text: string) => ({ code: "", text, holes: {} });
const frame = (over: Partial<FilmFrame>): FilmFrame => ({ kind: "x", title: said("t"), said: said("s"), spot: [], moves: {}, marks: {}, used: {}, demand: {}, tests: [], bet: null, ...over });
const card = (id: string, zone: string): FilmCard => ({ id, zone, group: "", priority: 0, held: [{ resource: "cpu", amount: "1000", flavor: "" }] });
const film = (frames: FilmFrame[], cards: FilmCard[]): Film => ({
  scheduler: "Kueue", law: "Classical", subject: "Workload/d/a", atMs: 0, tick: 1, cards, frames, hidden: 0,
  bars: [{ id: "free", kind: "Free", name: "free", resource: "cpu", used: 1000, limit: 2000 }, { id: "ClusterQueue/q/f/cpu", kind: "ClusterQueue", name: "q", resource: "cpu", used: 1000, limit: 4000 }],
});

describe("what stands on the stage", () => {
  const moves = film([frame({}), frame({ moves: { "Workload/d/a": "head" }, used: { free: 2000 } }), frame({ moves: { "Workload/d/a": "in" }, marks: { "Workload/d/a": "bound" } })], [card("Workload/d/a", "line")]);

  it("is what the frames up to the step did, forwards and backwards", () => {
    expect([0, 1, 2, 1, 0].map((at) => standingAt(moves, at)?.zones.get("Workload/d/a"))).toEqual(["line", "head", "in", "head", "line"]);
  });
  it("has no bar that only a later frame fills", () => {
    expect(standingAt(moves, 0)?.known.has("free")).toBe(false);
    expect(standingAt(moves, 1)?.known.has("free")).toBe(true);
  });
});

describe("a scene", () => {
  const many = Array.from({ length: 30 }, (_, n) => card(`Workload/d/a-workload-with-a-long-name-${n}`, n < 14 ? "candidates" : n < 20 ? "gone" : "running"));
  const scene = sceneOf(film([frame({ kind: "who" })], many), 0, () => "red");

  it("keeps every text in the stage and inside its card", () => {
    for (const group of scene) {
      const [card] = group.parts;
      for (const part of group.parts) {
        if (part.kind !== "text" || card?.kind !== "box") continue;
        const from = part.anchor === "end" ? part.x - widthOf(part.text, part.size) : part.x;
        if (group.id.startsWith("card")) expect(from + widthOf(part.text, part.size)).toBeLessThanOrEqual(card.w + 1);
        expect(group.x + from + widthOf(part.text, part.size)).toBeLessThanOrEqual(1280);
      }
    }
  });
  it("lays no card on another of the same zone", () => {
    const places = scene.filter((group) => group.id.startsWith("card") && group.y > 260 && group.y < 420 && group.x > 240).map((group) => `${group.x},${group.y}`);
    expect(new Set(places).size).toBe(places.length);
  });
});

describe("texts", () => {
  it("are cut in the middle and wrapped at spaces", () => {
    expect(fitted("a-very-long-name-0007", 80, 13)).toMatch(/^a-ver.*….*7$/);
    expect(wrapped("one two three four", 70, 12, 3).join("")).toBe("one two three four");
  });
});

describe("decisions that are films", () => {
  it("have a preemptor, and a preemption comes before an admission of its tick", () => {
    const event = (type: string, by = "") => ({ revision: 1, seq: 1, tick: 3, type, by }) as never;
    expect([isFilmed(event("Preempt")), isFilmed(event("Preempt", "Workload/d/a")), isFilmed(event("Arrive"))]).toEqual([false, true, false]);
    expect((filmAt([event("Admit"), event("Preempt", "x")], 3) as { type?: string } | undefined)?.type).toBe("Preempt");
  });
});

describe("an animated PNG", () => {
  // The smallest PNG there is: one pixel.
  const png = Uint8Array.from(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")).buffer;

  it("has the first picture as it is, and every other numbered in turn", () => {
    const made = Buffer.from(animated([{ bytes: png, ms: 10 }, { bytes: png, ms: 20 }]));
    const types: string[] = [];
    for (let at = 8; at < made.length; at += made.readUInt32BE(at) + 12) types.push(made.toString("latin1", at + 4, at + 8));
    expect(types).toEqual(["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"]);
  });
});
