// What this browser remembers between visits: theme, language, what was seen.

const PREFIX = "quotalab.";

/** Return what was kept under a name, or null; storage may be switched off. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keep a text under a name; does nothing where storage is switched off. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // A page without storage works the same, it only forgets.
  }
}

/** Return what was kept for this tab alone, or null. */
export function keptHere(name: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keep a text for this tab alone; null forgets it. */
export function keepHere(name: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, value);
  } catch {
    // As above.
  }
}

/** Call `run` with what another window of this browser keeps under a name, whenever it does. */
export function whenKept(name: string, run: (value: string | null) => void): void {
  addEventListener("storage", (event) => {
    if (event.key === PREFIX + name) run(event.newValue);
  });
}

/** A file that somebody gave, as text. */
export interface KeptFile {
  readonly name: string;
  readonly text: string;
}
const MOST_KEPT = 2 ** 20; // characters; what was given longest ago goes first

/** Keep the files that somebody gave to a sandbox, each as it was given last. */
export function keepFiles(id: string, given: readonly KeptFile[]): void {
  const own = keptFiles(id).filter((one) => given.every(({ name }) => name !== one.name));
  const all = [{ id, files: [...own, ...given.map(({ name, text }) => ({ name, text }))] }, ...allKept().filter((one) => one.id !== id)];
  while (JSON.stringify(all).length > MOST_KEPT) all.pop();
  keep("files", JSON.stringify(all));
}

/** Return the files that this browser keeps of a sandbox; none where it keeps none. */
export function keptFiles(id: string): readonly KeptFile[] {
  return allKept().find((one) => one.id === id)?.files ?? [];
}

function allKept(): { readonly id: string; readonly files: readonly KeptFile[] }[] {
  return JSON.parse(kept("files") ?? "[]") as ReturnType<typeof allKept>;
}
