// Pictures and tables as files: SVG with its colours written out, PNG, CSV.

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "opacity", "text-anchor"];

/** Save the first chart inside an element as an SVG file that stands alone. */
export function saveSvg(inside: HTMLElement | undefined, name: string): void {
  const source = inside?.querySelector<SVGSVGElement>("svg[role=img]");
  if (source === undefined || source === null) return;
  const text = new XMLSerializer().serializeToString(withColours(source));
  save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
}

// Colours come from the page's tokens; a file has no page around it.
function withColours(source: SVGSVGElement): SVGSVGElement {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const [from, to] = [source.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN) to[at]?.setAttribute(name, style.getPropertyValue(name));
  });
  const box = source.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  return copy;
}

/** Save rows of texts as a CSV file. */
export function saveCsv(rows: readonly (readonly string[])[], name: string): void {
  const text = rows.map((row) => row.map(field).join(",")).join("\r\n");
  save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
}

// A leading formula sign would run in a spreadsheet; a quote in front keeps it a text.
function field(value: string): string {
  const safe = /^[=+\-@\t]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
