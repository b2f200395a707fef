// Pictures and tables as files: SVG with its colours written out, PNG, CSV.

const DRAWN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "font-size", "font-family", "font-weight", "opacity", "text-anchor", "dominant-baseline", "display",
];
const SHARPER = 2; // device pixels of a PNG for one of the page's
const NAMESPACE = "http://www.w3.org/2000/svg";

export type Picture = "svg" | "png";

/** Save a chart as a file that stands alone; its colours are those of the page now. */
export async function saveChart(source: SVGSVGElement, name: string, as: Picture): Promise<void> {
  const copy = standingAlone(source);
  const text = new XMLSerializer().serializeToString(copy);
  const picture = new Blob([text], { type: "image/svg+xml" });
  if (as === "svg") save(picture, `${name}.svg`);
  else save(await painted(picture, Number(copy.getAttribute("width")), Number(copy.getAttribute("height"))), `${name}.png`);
}

/** Save a drawing that was made for a file. */
export function saveSvg(drawing: SVGSVGElement, name: string): void {
  save(new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Save a chart that is drawn on a canvas as a PNG. */
export async function saveCanvas(source: HTMLCanvasElement, name: string): Promise<void> {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [source.width, source.height];
  const pen = copy.getContext("2d");
  if (pen === null) return;
  pen.fillStyle = behind(source);
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(source, 0, 0);
  save(await blobOf(copy), `${name}.png`);
}

// Colours come from the page's tokens; a file has no page around it.
function standingAlone(source: SVGSVGElement): SVGSVGElement {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const [from, to] = [[source, ...source.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    const twin = to[at];
    for (const name of DRAWN) twin?.setAttribute(name, style.getPropertyValue(name));
    twin?.removeAttribute("class");
    twin?.removeAttribute("style");
  });
  const box = source.getBoundingClientRect();
  copy.setAttribute("xmlns", NAMESPACE);
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  copy.prepend(ground(source));
  return copy;
}

function ground(source: SVGSVGElement): SVGRectElement {
  const rect = document.createElementNS(NAMESPACE, "rect");
  const view = source.viewBox.baseVal;
  const [x, y] = [view.x, view.y].map(String);
  rect.setAttribute("x", x ?? "0");
  rect.setAttribute("y", y ?? "0");
  rect.setAttribute("width", "100%");
  rect.setAttribute("height", "100%");
  rect.setAttribute("fill", behind(source));
  return rect;
}

// The first colour that lies behind an element.
function behind(element: Element): string {
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour !== "" && colour !== "transparent" && !/, 0\)$/.test(colour)) return colour;
  }
  return "white";
}

async function painted(picture: Blob, width: number, height: number): Promise<Blob> {
  const address = URL.createObjectURL(picture);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * SHARPER, height * SHARPER];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await blobOf(canvas);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Return a canvas as a PNG. */
export function blobOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob === null ? failed(new Error("The picture cannot be made.")) : done(blob)));
  });
}

/** Save rows of texts as a CSV file. */
export function saveCsv(rows: readonly (readonly string[])[], name: string): void {
  save(new Blob([csvOf(rows)], { type: "text/csv" }), `${name}.csv`);
}

/** Save a text as a file. */
export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type }), name);
}

/** Return rows of texts as CSV. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(field).join(",")).join("\r\n");
}

// A leading formula sign would run in a spreadsheet; a quote in front keeps it a text.
function field(value: string): string {
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Save bytes under a name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
