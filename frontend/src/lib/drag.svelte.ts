// Carrying things from place to place: by pointer and by keyboard, one set of rules.

import type { Attachment } from "svelte/attachments";

import { neighbourOf, type Way } from "@/lib/place";

export interface Carried {
  readonly kind: string; // what it is; targets accept by kind
  readonly key: string;
  readonly label: string;
  readonly from: string; // id of the target it is in now
  readonly note: string;
}

export interface Target {
  readonly id: string;
  readonly label: string;
  readonly kinds: readonly string[];
  /** Why it may not be dropped here, or "" when it may. */
  readonly refuses?: (carried: Carried) => string;
}

export interface Drop {
  readonly carried: Carried;
  readonly target: Target;
}

type Phase = "idle" | "carrying" | "moving";

class Drag {
  phase = $state<Phase>("idle");
  carried = $state.raw<Carried | null>(null);
  over = $state.raw<Target | null>(null);
  refusal = $state("");
  by = $state<"pointer" | "keyboard">("pointer");
  // Where it is. Not reactive: `whenMoved` says it, at most once a frame.
  x = 0;
  y = 0;
}

export const drag = new Drag();
const THRESHOLD_PX = 4;
const WAYS: Readonly<Record<string, Way>> = { ArrowRight: "right", ArrowDown: "down", ArrowLeft: "left", ArrowUp: "up" };
const targets = new Map<HTMLElement, () => Target>();
let onDrop: (drop: Drop) => Promise<unknown> = () => Promise.resolve();
let boxes: { element: HTMLElement; box: DOMRect }[] = [];
let frame = 0;
const followers = new Set<() => void>();

/** Call `run` when what is carried has moved; returns what ends that. */
export function whenMoved(run: () => void): () => void {
  followers.add(run);
  return () => followers.delete(run);
}

/** Say what happens when something is dropped. */
export function whenDropped(run: (drop: Drop) => Promise<unknown>): void {
  onDrop = run;
}

/** Make an element a place to drop on. */
export function target(describe: () => Target): Attachment<HTMLElement> {
  return (element) => {
    targets.set(element, describe);
    return () => targets.delete(element);
  };
}

/** Make an element something to carry; null from `describe` means: not now. */
export function source(describe: () => Carried | null): Attachment<HTMLElement> {
  return (element) => {
    const press = (event: PointerEvent): void => waitForMove(event, element, describe);
    const key = (event: KeyboardEvent): void => pressKey(event, element, describe);
    element.addEventListener("pointerdown", press);
    element.addEventListener("keydown", key);
    return () => {
      element.removeEventListener("pointerdown", press);
      element.removeEventListener("keydown", key);
    };
  };
}

function waitForMove(down: PointerEvent, element: HTMLElement, describe: () => Carried | null): void {
  if (down.button !== 0 || drag.phase !== "idle") return;
  const inner = down.target instanceof Element ? down.target.closest("button, a, input") : null;
  if (inner !== null && inner !== element) return;
  const stop = new AbortController();
  const begin = (event: PointerEvent): void => {
    if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < THRESHOLD_PX) return;
    stop.abort();
    const carried = describe();
    if (carried === null) return;
    pickUp(carried, "pointer");
    followPointer(element, event);
  };
  addEventListener("pointermove", begin, { signal: stop.signal });
  addEventListener("pointerup", () => stop.abort(), { signal: stop.signal });
  addEventListener("pointercancel", () => stop.abort(), { signal: stop.signal });
}

function followPointer(element: HTMLElement, first: PointerEvent): void {
  const stop = new AbortController();
  const { signal } = stop;
  const end = (run: () => void): void => {
    stop.abort();
    run();
  };
  const move = (event: PointerEvent): void => {
    event.preventDefault();
    [drag.x, drag.y] = [event.clientX, event.clientY];
    if (frame === 0) frame = requestAnimationFrame(moved);
  };
  move(first);
  // A click that ends a drag would open the card; it is swallowed once.
  element.addEventListener("click", (event) => event.stopPropagation(), { once: true, signal });
  addEventListener("pointermove", move, { signal, passive: false });
  addEventListener("pointerup", () => end(() => void drop()), { signal });
  addEventListener("pointercancel", () => end(cancel), { signal });
  addEventListener("keydown", (event) => event.key === "Escape" && end(cancel), { signal });
  addEventListener("scroll", measure, { signal, capture: true });
}

function pickUp(carried: Carried, by: "pointer" | "keyboard"): void {
  drag.carried = carried;
  drag.by = by;
  drag.phase = "carrying";
  drag.over = null;
  drag.refusal = "";
  measure();
}

function measure(): void {
  boxes = [...targets].flatMap(([element, describe]) =>
    drag.carried !== null && describe().kinds.includes(drag.carried.kind)
      ? [{ element, box: element.getBoundingClientRect() }]
      : [],
  );
}

function moved(): void {
  frame = 0;
  sayMoved();
  hitTest();
}

function sayMoved(): void {
  for (const run of followers) run();
}

// From cached boxes; the smallest box wins where they overlap.
function hitTest(): void {
  const hits = boxes.filter(({ box }) => inside(box, drag.x, drag.y));
  hits.sort((a, b) => a.box.width * a.box.height - b.box.width * b.box.height);
  const element = hits[0]?.element;
  hover(element === undefined ? null : (targets.get(element)?.() ?? null));
}

function inside(box: DOMRect, x: number, y: number): boolean {
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

function hover(next: Target | null): void {
  if (drag.carried === null || next?.id === drag.over?.id) return;
  drag.over = next;
  drag.refusal = next?.refuses?.(drag.carried) ?? "";
}

function pressKey(event: KeyboardEvent, element: HTMLElement, describe: () => Carried | null): void {
  if (event.target !== element) return;
  if (drag.phase === "idle" && event.key === " ") {
    event.preventDefault();
    const carried = describe();
    if (carried !== null) carryByKeys(carried, element);
  } else if (drag.phase === "carrying" && drag.by === "keyboard") {
    carryKey(event);
  }
}

function carryByKeys(carried: Carried, element: HTMLElement): void {
  pickUp(carried, "keyboard");
  const box = element.getBoundingClientRect();
  [drag.x, drag.y] = [box.left + box.width / 2, box.top + box.height / 2];
  sayMoved();
  element.addEventListener("blur", () => drag.phase === "carrying" && cancel(), { once: true });
}

function carryKey(event: KeyboardEvent): void {
  const way = WAYS[event.key];
  if (way !== undefined) stepTarget(way);
  else if (event.key === "Enter" || event.key === " ") void drop();
  else if (event.key === "Escape") cancel();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// To the neighbour on that side of where the card is, without the target it came from.
function stepTarget(way: Way): void {
  const idOf = (element: HTMLElement): string | undefined => targets.get(element)?.().id;
  const at = boxes.find(({ element }) => idOf(element) === (drag.over?.id ?? drag.carried?.from));
  const away = boxes.filter(({ element }) => element !== at?.element && idOf(element) !== drag.carried?.from);
  const from = at?.box ?? new DOMRect(drag.x, drag.y, 0, 0);
  const next = away[neighbourOf(from, away.map(({ box }) => box), way)];
  if (next === undefined) return;
  next.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  measure();
  const box = next.element.getBoundingClientRect();
  [drag.x, drag.y] = [box.left + box.width / 2, box.top + Math.min(120, box.height / 2)];
  sayMoved();
  hover(targets.get(next.element)?.() ?? null);
}

async function drop(): Promise<void> {
  const { carried, over, refusal } = drag;
  if (carried === null || over === null || refusal !== "" || over.id === carried.from) {
    cancel();
    return;
  }
  drag.phase = "moving";
  await onDrop({ carried, target: over });
  settle();
}

/** Put everything back where it was. */
export function cancel(): void {
  settle();
}

function settle(): void {
  drag.phase = "idle";
  drag.carried = null;
  drag.over = null;
  drag.refusal = "";
  boxes = [];
}
