// Where things are on the page: presenter mode enlarges it, and what the browser measures is enlarged.

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
