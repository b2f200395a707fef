// Lines over ticks as an SVG that stands alone, for charts that the page draws on a canvas.

import { linear, roundSteps, stepPath } from "@/draw/steps";

interface PlottedLine {
  readonly name: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly values: readonly (number | null)[];
}
interface Plot {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly ticks: readonly number[];
  readonly most: number;
  readonly lines: readonly PlottedLine[];
  readonly ink: string;
  readonly grid: string;
  readonly paper: string;
  readonly write: (value: number) => string;
}

const LEFT = 48;
const TOP = 24;
const LEGEND = 16; // pixels per line of the legend
const NAMESPACE = "http://www.w3.org/2000/svg";
type Attributes = Readonly<Record<string, string | number>>;

function drawn(name: string, attributes: Attributes, text = ""): SVGElement {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

/** Return the drawing; the legend stands below the plot. */
export function plotted(plot: Plot): SVGSVGElement {
  const bottom = TOP + plot.height;
  const height = bottom + 26 + plot.lines.length * LEGEND;
  const x = linear([plot.ticks[0] ?? 0, Math.max(plot.ticks.at(-1) ?? 1, (plot.ticks[0] ?? 0) + 1)], [LEFT, plot.width - 10]);
  const y = linear([0, plot.most], [bottom, TOP]);
  const svg = drawn("svg", { xmlns: NAMESPACE, width: plot.width, height, viewBox: `0 0 ${plot.width} ${height}`, "font-family": "sans-serif", "font-size": 11 }) as SVGSVGElement;
  const text = (at: Attributes, words: string): SVGElement => drawn("text", { fill: plot.ink, ...at }, words);
  svg.append(drawn("rect", { width: "100%", height: "100%", fill: plot.paper }), text({ x: LEFT, y: 14, "font-weight": 600 }, plot.title));
  for (const step of roundSteps(plot.most, 4)) {
    svg.append(drawn("path", { d: `M${LEFT} ${y(step).toFixed(1)}H${plot.width - 10}`, stroke: plot.grid, fill: "none" }));
    svg.append(text({ x: LEFT - 6, y: y(step) + 4, "text-anchor": "end" }, plot.write(step)));
  }
  for (const tick of [plot.ticks[0], plot.ticks.at(-1)]) {
    if (tick !== undefined) svg.append(text({ x: x(tick), y: bottom + 14, "text-anchor": "middle" }, plot.write(tick)));
  }
  plot.lines.forEach((line, at) => {
    const stroke = { stroke: line.colour, "stroke-width": 1.5, "stroke-dasharray": line.dash.join(" ") || "none", fill: "none" };
    const under = bottom + 26 + at * LEGEND;
    svg.append(drawn("path", { d: stepPath(plot.ticks, line.values, x, y), ...stroke }));
    svg.append(drawn("path", { d: `M${LEFT} ${under}h18`, ...stroke }), text({ x: LEFT + 24, y: under + 4 }, `${line.name} ${plot.write(line.values.findLast((value) => value !== null) ?? 0)}`));
  });
  return svg;
}
