// Stepped lines and areas as SVG paths, for charts that are also saved as pictures; pure.

export type Scale = (value: number) => number;

/** Return a linear scale from one range to another. */
export function linear(from: readonly [number, number], to: readonly [number, number]): Scale {
  const span = from[1] - from[0] || 1;
  return (value) => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
}

/** Return the path of values that hold until the next one; null parts the line. */
export function stepPath(
  xs: readonly number[],
  ys: readonly (number | null)[],
  x: Scale,
  y: Scale,
): string {
  let path = "";
  let open = false;
  xs.forEach((at, index) => {
    const value = ys[index] ?? null;
    if (value === null) {
      open = false;
      return;
    }
    path += open ? `H${round(x(at))}V${round(y(value))}` : `M${round(x(at))} ${round(y(value))}`;
    open = true;
  });
  return path;
}

/** Return the closed path between a lower and an upper stepped line. */
export function bandPath(
  xs: readonly number[],
  low: readonly number[],
  high: readonly number[],
  x: Scale,
  y: Scale,
): string {
  if (xs.length === 0) return "";
  const top = stepPath(xs, high, x, y);
  let back = "";
  for (let index = xs.length - 1; index >= 0; index--) {
    const next = xs[index + 1] ?? xs[index] ?? 0;
    back += `L${round(x(next))} ${round(y(low[index] ?? 0))}H${round(x(xs[index] ?? 0))}`;
  }
  return `${top}${back}z`;
}

/** Return about `count` round values from 0 to `most`. */
export function roundSteps(most: number, count: number): number[] {
  const rough = Math.max(most, 1e-9) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(most / size + 1e-9) + 1 }, (_, index) => index * size);
}

function round(value: number): string {
  return value.toFixed(1);
}

const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((seconds) => seconds * 1000);

/** Return three to seven round numbers within a span, for the marks of an axis; `clock`: milliseconds, as clocks divide them. */
export function roundMarks(span: readonly [number, number], clock = false): readonly number[] {
  const rough = Math.max((span[1] - span[0]) / 6, 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const plain = [1, 2, 5, 10].map((part) => part * power).find((size) => size >= rough * 0.999) ?? power * 10;
  const step = clock && rough >= 1000 ? (CLOCK.find((size) => size >= rough) ?? plain) : plain;
  const first = Math.ceil(span[0] / step - 1e-9);
  const last = Math.floor(span[1] / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}
