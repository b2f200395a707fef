// Colours by role: which queue has which swatch, which load has which step.

const QUEUE_COLOURS = 8;
const HEAT_STEPS = 10;

// What later rounds of the same colours are mixed with: 24 queues differ.
const ROUNDS = ["", "var(--text)", "var(--surface)"];

/** Return the CSS colour of the `order`-th queue. */
export function queueColour(order: number): string {
  if (order < 0) return "var(--text-3)";
  const colour = `var(--q${(order % QUEUE_COLOURS) + 1})`;
  const other = ROUNDS[Math.floor(order / QUEUE_COLOURS) % ROUNDS.length] ?? "";
  return other === "" ? colour : `color-mix(in srgb, ${colour} 60%, ${other})`;
}

/** Return the dash of a line, so that series differ without their colour. */
export function queueDash(order: number): number[] {
  const place = Math.max(order, 0);
  const round = (Math.floor(place / 2) + Math.floor(place / QUEUE_COLOURS)) % 4;
  return [[], [6, 3], [2, 3], [10, 3, 2, 3]][round] ?? [];
}

/** Return the step 0..9 of the heat ramp for a load of 0..1. */
export function heatStep(load: number): number {
  if (!Number.isFinite(load)) return 0;
  return Math.max(0, Math.min(HEAT_STEPS - 1, Math.floor(load * HEAT_STEPS)));
}

/** Return the CSS value of a token as the page has it now, for canvas drawing. */
export function tokenValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
