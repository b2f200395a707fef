// A film as files: one step as SVG, the whole as an animated PNG. Both are drawn from the scene, not from the page.

import { queueColour } from "@/draw/palette";
import { save, blobOf } from "@/lib/saving";
import { t } from "@/lib/words.svelte";
import type { Film } from "@/protocol/types";
import { queues } from "@/store/live/queues.svelte";
import { animated } from "@/views/theatre/apng";
import { CAPTION, captionOf, HEIGHT, sceneOf, WIDTH, type Box, type Group } from "@/views/theatre/scene";

const FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const STEP_MS = 1800;
const BET_MS = 3000;
const MOVES = 6; // pictures between two steps
const MOVE_MS = 60;
const MOST_STEPS = 80;

const groupsOf = (film: Film, at: number): Group[] => {
  const colour = (queue: string): string => queueColour(queues.orderOf(`ClusterQueue//${queue}`));
  return [...sceneOf(film, at, colour), captionOf(film, at, t("theatre.source", { scheduler: film.scheduler, law: film.law, tick: film.tick }))];
};

/** Save a step as an SVG that stands alone, with its words; its colours are those of the page now. */
export function saveStill(film: Film, at: number, name: string): void {
  save(new Blob([svgOf(groupsOf(film, at))], { type: "image/svg+xml" }), `${name}-${at + 1}.svg`);
}

/** Save the film as an animated PNG, which every browser plays in an <img>. */
export async function saveMoving(film: Film, name: string): Promise<void> {
  save(await movingOf(film), `${name}.png`);
}

/** Return the film as an animated PNG, half as large as the stage. */
export async function movingOf(film: Film): Promise<Blob> {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH / 2, (HEIGHT + CAPTION) / 2];
  const pictures: { bytes: ArrayBuffer; ms: number }[] = [];
  const steps = film.frames.slice(0, MOST_STEPS);
  let before: Group[] | null = null;
  for (const [at, frame] of steps.entries()) {
    const groups = groupsOf(film, at);
    if (before !== null && Object.keys(frame.moves).length + Object.keys(frame.used).length > 0) {
      for (let move = 1; move < MOVES; move++) {
        paint(canvas, between(before, groups, move / MOVES));
        pictures.push({ bytes: await pngOf(canvas), ms: MOVE_MS });
      }
    }
    paint(canvas, groups);
    pictures.push({ bytes: await pngOf(canvas), ms: frame.bet ? BET_MS : STEP_MS });
    before = groups;
  }
  return new Blob([animated(pictures)], { type: "image/png" });
}

const pngOf = async (canvas: HTMLCanvasElement): Promise<ArrayBuffer> => (await blobOf(canvas)).arrayBuffer();

// Groups that are in both are on their way; boxes are as long as they are by then.
function between(from: readonly Group[], to: readonly Group[], part: number): Group[] {
  const old = new Map(from.map((group) => [group.id, group]));
  const eased = part * part * (3 - 2 * part);
  const mix = (a: number, b: number): number => a + (b - a) * eased;
  return to.map((group) => {
    const was = old.get(group.id);
    if (was === undefined) return group;
    const boxes = new Map(was.parts.flatMap((one) => (one.kind === "box" ? [[one.id, one] as const] : [])));
    const parts = group.parts.map((one) => (one.kind === "box" ? { ...one, w: mix(boxes.get(one.id)?.w ?? one.w, one.w) } : one));
    return { ...group, x: mix(was.x, group.x), y: mix(was.y, group.y), parts };
  });
}

// A file has no tokens of the page: their names and mixes of them become colours.
function resolver(): (colour: string) => string {
  const known = new Map<string, string>();
  const probe = document.createElement("span");
  document.body.append(probe);
  const found = (colour: string): string => {
    const kept = known.get(colour);
    if (kept !== undefined) return kept;
    probe.style.color = colour;
    const made = getComputedStyle(probe).color;
    known.set(colour, made);
    return made;
  };
  queueMicrotask(() => probe.remove());
  return found;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Return groups as the text of an SVG file. */
export function svgOf(groups: readonly Group[]): string {
  const colour = resolver();
  const parts = groups.map((group) => {
    const inner = group.parts.map((part) =>
      part.kind === "box"
        ? `<rect x="${part.x}" y="${part.y}" width="${part.w.toFixed(1)}" height="${part.h}" rx="${part.r ?? 0}" fill="${colour(part.fill)}"${edgeOf(part, colour)}/>`
        : `<text x="${part.x}" y="${part.y}" font-size="${part.size}" font-weight="${part.weight ?? 400}" text-anchor="${part.anchor ?? "start"}" fill="${colour(part.fill)}">${escaped(part.text)}</text>`,
    );
    return `<g transform="translate(${group.x.toFixed(1)} ${group.y.toFixed(1)})"${group.dim ? ' opacity="0.45"' : ""}>${inner.join("")}</g>`;
  });
  const high = HEIGHT + CAPTION;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${high}" width="${WIDTH}" height="${high}" font-family="${FONT}"><rect width="100%" height="100%" fill="${colour("var(--surface)")}"/>${parts.join("")}</svg>\n`;
}

const edgeOf = (part: Box, colour: (one: string) => string): string =>
  part.stroke === undefined ? "" : ` stroke="${colour(part.stroke)}"${part.dashed ? ' stroke-dasharray="4 3"' : ""}`;

function paint(canvas: HTMLCanvasElement, groups: readonly Group[]): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  const colour = resolver();
  pen.setTransform(0.5, 0, 0, 0.5, 0, 0);
  pen.fillStyle = colour("var(--surface)");
  pen.fillRect(0, 0, WIDTH, HEIGHT + CAPTION);
  for (const group of groups) {
    pen.setTransform(0.5, 0, 0, 0.5, group.x / 2, group.y / 2);
    pen.globalAlpha = group.dim ? 0.45 : 1;
    for (const part of group.parts) {
      pen.fillStyle = colour(part.fill);
      if (part.kind === "text") {
        pen.font = `${part.weight ?? 400} ${part.size}px ${FONT}`;
        pen.textAlign = part.anchor === "middle" ? "center" : (part.anchor ?? "start");
        pen.fillText(part.text, part.x, part.y);
        continue;
      }
      pen.beginPath();
      pen.roundRect(part.x, part.y, part.w, part.h, part.r ?? 0);
      pen.fill();
      if (part.stroke === undefined) continue;
      pen.strokeStyle = colour(part.stroke);
      pen.setLineDash(part.dashed ? [4, 3] : []);
      pen.stroke();
    }
  }
  pen.globalAlpha = 1;
}
