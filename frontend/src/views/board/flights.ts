// Cards that fly from where they were to where they are; only what the world moved.

import { boxOf, type Box } from "@/lib/place";
import { tick } from "svelte";

import { live, onChange } from "@/store/live/live.svelte";
import { tickOf, type Page } from "@/store/rows/page";

const FLIGHT_MS = 160;
const MOST_FLIGHTS = 40;
const MOST_CARDS = 1500; // of a board; a larger one swaps its cards
const FASTEST = 4; // ticks a second; above it values swap
const LEAST_PX = 6; // a shorter way is not worth a flight

/** Let cards fly while the board lives. Returns the way to stop it. */
export function flyCards(): () => void {
  const stop = onChange((before, after, changed) => {
    // What the clock goes back before was never there: nothing comes flying out of it.
    if (!mayFly(changed.length) || tickOf(after) < tickOf(before)) return;
    const moving = changed.filter((key) => hasMoved(before, after, key));
    if (moving.length === 0 || moving.length > MOST_FLIGHTS) return;
    const starts = boxesOf(moving);
    if (starts.size > 0) void tick().then(() => fly(starts));
  });
  return stop;
}

function mayFly(changed: number): boolean {
  const sandbox = live.latest.sandbox;
  const fast = sandbox?.playing === true && (sandbox.speed === 0 || sandbox.speed > FASTEST);
  const cards = live.latest.keys(live.stack === "kueue" ? "Workload" : live.stack === "kube" ? "Pod" : "Application").length;
  const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches; // slow to ask
  return changed > 0 && !fast && cards <= MOST_CARDS && live.past === null && live.loaded && !still();
}

function hasMoved(before: Page, after: Page, key: string): boolean {
  const [old, now] = [before.rows.get(key), after.rows.get(key)];
  if (old === undefined || now === undefined || old === now) return false;
  if (old.kind === "Workload" && now.kind === "Workload") {
    return old.phase !== now.phase || old.clusterQueue !== now.clusterQueue;
  }
  if (old.kind === "Pod" && now.kind === "Pod") return old.phase !== now.phase;
  return old.kind === "Application" && now.kind === "Application" && (old.state !== now.state || old.queue !== now.queue);
}

function boxesOf(keys: readonly string[]): Map<string, Box> {
  const wanted = new Set(keys);
  const found = new Map<string, Box>();
  for (const card of document.querySelectorAll<HTMLElement>("[data-card]")) {
    const key = card.dataset["card"] ?? "";
    if (wanted.has(key)) found.set(key, boxOf(card));
  }
  return found;
}

// A copy flies above everything, so that no column cuts it; the card waits unseen below it.
function fly(starts: ReadonlyMap<string, Box>): void {
  for (const card of document.querySelectorAll<HTMLElement>("[data-card]")) {
    const from = starts.get(card.dataset["card"] ?? "");
    if (from === undefined) continue;
    const to = boxOf(card);
    const [dx, dy] = [from.left - to.left, from.top - to.top];
    if (Math.hypot(dx, dy) < LEAST_PX || to.width === 0) continue;
    const copy = copyOf(card, to);
    document.body.append(copy);
    const way = [{ translate: `${dx}px ${dy}px` }, { translate: "0 0" }];
    copy.animate(way, { duration: FLIGHT_MS, easing: "ease-out" }).addEventListener("finish", () => copy.remove());
    card.animate([{ opacity: 0 }, { opacity: 0 }], FLIGHT_MS);
  }
}

function copyOf(card: HTMLElement, box: Box): HTMLElement {
  const copy = card.cloneNode(true) as HTMLElement;
  copy.removeAttribute("data-card");
  for (const one of copy.querySelectorAll("[data-fact]")) one.removeAttribute("data-fact"); // the card says it
  copy.removeAttribute("role");
  copy.removeAttribute("tabindex");
  copy.setAttribute("aria-hidden", "true");
  copy.inert = true;
  Object.assign(copy.style, {
    position: "fixed",
    left: `${box.left}px`,
    top: `${box.top}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
    zIndex: "var(--z-popover)",
    pointerEvents: "none",
  });
  return copy;
}
