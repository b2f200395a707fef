// Where the reader is: sandbox, view, tick, selection, filters and sort in the URL.

export const VIEWS = [
  "board",
  "workloads",
  "nodes",
  "fairness",
  "preemptions",
  "compare",
  "policy",
  "runs",
  "advisor",
  "lessons",
  "events",
] as const;
export type View = (typeof VIEWS)[number];

class Address {
  path = $state("");
  query = $state.raw(new URLSearchParams());
  readonly parts = $derived(this.path.split("/").filter((part) => part !== ""));
  readonly sandbox = $derived(this.parts[0] === "s" ? (this.parts[1] ?? null) : null);
  readonly view = $derived(asView(this.parts[2]));
  readonly tick = $derived(asTick(this.query.get("tick")));
  readonly selected = $derived(this.query.get("sel"));
  /** Whether the inspector stands beside the view. */
  readonly drawer = $derived(this.sandbox !== null && this.query.get("drawer") !== "off" && (this.view === "board" || this.selected !== null));
}

function asView(part: string | undefined): View {
  return VIEWS.find((view) => view === part) ?? "board";
}

function asTick(text: string | null): number | null {
  const tick = text === null ? NaN : Number(text);
  return Number.isInteger(tick) && tick >= 0 ? tick : null;
}

export const address = new Address();

/** Begin to follow the address bar; call once. */
export function startAddress(): void {
  read();
  addEventListener("popstate", read);
}

function read(): void {
  address.path = location.pathname;
  address.query = new URLSearchParams(location.search);
}

/** Return the address of a view of a sandbox, with the parts of the query that stay. */
export function hrefOf(sandbox: string, view: View = "board"): string {
  const staying = new URLSearchParams();
  for (const name of ["tick", "sel", "what-if"]) {
    const value = address.query.get(name);
    if (value !== null && sandbox === address.sandbox) staying.set(name, value);
  }
  const query = staying.toString();
  return `/s/${sandbox}/${view}${query === "" ? "" : `?${query}`}`;
}

/** Go to an address of this page; Back returns. */
export function go(href: string): void {
  history.pushState(null, "", href);
  read();
}

/** Go to an address without a step for Back; nothing when it is the one shown. */
export function goInstead(href: string): void {
  if (href === location.pathname + location.search) return;
  history.replaceState(null, "", href);
  read();
}

/** Change parts of the query; null takes a part away. `push` makes a step for Back. */
export function ask(parts: Readonly<Record<string, string | null>>, push = false): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(parts)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const query = next.toString();
  const href = `${location.pathname}${query === "" ? "" : `?${query}`}`;
  if (push) history.pushState(null, "", href);
  else history.replaceState(null, "", href);
  read();
}

/** Select an object, or nothing; Back returns to the one before. */
export function select(key: string | null): void {
  if (key !== address.selected) ask({ sel: key, tab: null }, true);
}

/** Let a click on a link stay inside the page, unless it asks for a new window. */
export function follow(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.download !== "") return;
  if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
