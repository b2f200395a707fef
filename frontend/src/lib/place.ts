// Where things are on the page, which may be enlarged: what the browser measures is enlarged then.

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

// Browsers that cannot say it do not enlarge what they measure.
const enlargedBy = (): number => ("currentCSSZoom" in document.body ? document.body.currentCSSZoom : 1);

/** Return a length of the screen, as of a pointer, in the page's own pixels. */
export function ownPixels(length: number): number {
  return length / enlargedBy();
}

/** Return the box of an element in the page's own pixels, as styles write them. */
export function boxOf(element: Element): Box {
  const box = element.getBoundingClientRect();
  const part = (name: keyof Box): number => ownPixels(box[name]);
  return { left: part("left"), top: part("top"), right: part("right"), bottom: part("bottom"), width: part("width"), height: part("height") };
}

/** Return how much of the page is seen at once, in the page's own pixels. */
export function pageSize(): { readonly width: number; readonly height: number } {
  return { width: ownPixels(innerWidth), height: ownPixels(innerHeight) };
}

type Sides = Pick<Box, "left" | "top" | "width" | "height">;
export type Way = "left" | "right" | "up" | "down";
/** Return the index of the nearest box on one side of another, -1 when there is none. */
export function neighbourOf(from: Sides, boxes: readonly Sides[], way: Way): number {
  const level = way === "left" || way === "right";
  const sign = way === "right" || way === "down" ? 1 : -1;
  let [best, least] = [-1, Infinity];
  boxes.forEach((box, index) => {
    const dx = box.left + box.width / 2 - from.left - from.width / 2;
    const dy = box.top + box.height / 2 - from.top - from.height / 2;
    const [along, aside] = level ? [dx * sign, Math.abs(dy)] : [dy * sign, Math.abs(dx)];
    // What lies more to the side than ahead is nobody's neighbour on that side.
    if (along <= 1 || aside > 2 * along) return;
    if (along + 2 * aside < least) [best, least] = [index, along + 2 * aside];
  });
  return best;
}
