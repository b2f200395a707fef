// Where the reader is: sandbox, view, tick, selection, filters and sort in the URL.

export const VIEWS = ["board", "nodes", "fairness", "decisions", "what-if"] as const;
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
  readonly drawer = $derived.by(() => {
    const asked = this.query.get("drawer");
    if (this.sandbox === null || asked === "off") return false;
    if (asked === "on" || this.query.has("lesson")) return true;
    if (this.view === "what-if") return false; // it has the fields of what is selected itself
    return this.selected !== null || (this.view === "board" && this.query.get("density") !== "table");
  });
}

// Where the views of earlier versions went: the place, and what it is asked for.
const MOVED: Readonly<Record<string, readonly [View, string?, string?]>> = {
  workloads: ["board", "density", "table"],
  events: ["decisions"],
  preemptions: ["decisions", "mode", "graph"],
  compare: ["what-if", "with", ""],
  policy: ["what-if"],
  runs: ["what-if", "sure", "search"],
  advisor: ["what-if", "sure", "search"],
  lessons: ["board", "lesson", "1"],
};

/** Return the address that one of an earlier version stands for; the same where it is one of this. */
export function placeNow(path: string, search: string): string {
  const [, s, sandbox, view = ""] = path.split("/");
  const query = new URLSearchParams(search);
  const moved = view === "events" && query.has("table") ? MOVED["workloads"] : MOVED[view];
  if (s !== "s" || moved === undefined) return path + search;
  const [place, name, value = ""] = moved;
  const stop = query.get("stop");
  if (view === "lessons" && stop !== null) query.set("lesson", stop);
  else if (name !== undefined && !query.has(name)) query.set(name, value);
  query.delete("stop");
  const preemption = query.get("p");
  if (view === "preemptions" && preemption !== null) query.set("film", preemption);
  query.delete("p");
  return `/s/${sandbox ?? ""}/${place}${query.size === 0 ? "" : `?${query.toString()}`}`;
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
  const now = placeNow(location.pathname, location.search);
  if (now !== location.pathname + location.search) history.replaceState(null, "", now);
  address.path = location.pathname;
  address.query = new URLSearchParams(location.search);
}

/** Return the address of a view of a sandbox, with the parts of the query that stay, and what else it is asked for. */
export function hrefOf(sandbox: string, view: View = "board", more: Readonly<Record<string, string>> = {}): string {
  const staying = new URLSearchParams(more);
  for (const name of ["tick", "sel", "what-if", "with", "lesson"]) {
    const value = address.query.get(name);
    if (value !== null && value !== "any" && sandbox === address.sandbox) staying.set(name, value);
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
