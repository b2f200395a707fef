// Files that need a look: their texts as they are edited, what the server says of them, what repairs it.

import { reportRefusal } from "@/store/live/intents";
import type { DryImport, Repair, Repairable } from "@/protocol/types";
import { LEFT, lookAt, titleOf, type Manner, type Repairs, type RunTimes, type SourceFile } from "@/store/sandboxes/loading";

const MAY_BE_MEANT = "missing.noNodes"; // quota without nodes is a world too
const WAIT_MS = 350; // after the last letter

/** How many of a file's findings there are. */
export interface Counts {
  readonly errors: number;
  readonly warnings: number;
}

export class Workbench {
  /** What is shown, and what is loaded. */
  files = $state.raw<readonly SourceFile[]>([]);
  found = $state.raw<DryImport>() as DryImport;
  chosen = $state("");
  line = $state(1);
  runTimes = $state.raw<RunTimes>(LEFT);
  /** The server is asked about what is shown. */
  busy = $state(false);
  readonly into: string | null;
  /** Work that had no run time at any look: one that is given takes its work out of the answer. */
  untimed = $state.raw<DryImport["untimed"]>([]);
  #manner: Manner;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly findings = $derived<readonly Repairable[]>(this.found.findings);
  /** The one repair of each finding that has one. */
  readonly single = $derived(this.findings.flatMap(({ repairs, said }) => (repairs.length === 1 && said.code !== MAY_BE_MEANT ? repairs : [])));
  readonly text = $derived(this.files.find((file) => file.name === this.chosen)?.text ?? "");
  readonly counts = $derived(countsOf(this.findings));

  constructor(files: readonly SourceFile[], into: string | null, manner: Manner, found: DryImport) {
    this.into = into;
    this.found = found;
    this.untimed = found.untimed;
    this.files = shownOf(files, found);
    this.#manner = { ...manner, convert: false, title: titleOf(files) }; // what is shown is converted already
    const first = found.findings[0]?.place;
    this.chosen = this.files.some((file) => file.name === first?.file) ? (first?.file ?? "") : (this.files[0]?.name ?? "");
    this.line = first?.line ?? 1;
  }

  /** How the files are taken: as they were, and with the run times that were chosen. */
  get manner(): Manner {
    return { ...this.#manner, runTimes: this.runTimes };
  }

  show(file: string, line: number): void {
    if (this.files.some((one) => one.name === file)) [this.chosen, this.line] = [file, line];
  }

  write(text: string): void {
    this.files = this.files.map((file) => (file.name === this.chosen ? { name: file.name, text } : file));
    this.#later();
  }

  async repair(repair: Repair): Promise<void> {
    if (await this.look([repair])) this.show(repair.file, repair.line > 0 ? repair.line : this.#lines(repair.file));
  }

  /** Repair all that have one repair, and what shows then. */
  async repairAll(): Promise<void> {
    await this.look("all");
  }

  /** Put values in the place of placeholders; returns whether nothing is left to look at. */
  async fill(values: ReadonlyMap<string, string>): Promise<boolean> {
    this.files = filled(this.files, this.found.unfilled, values);
    return (await this.look()) && !needsLook(this.found);
  }

  chooseRunTimes(chosen: Partial<RunTimes>): void {
    this.runTimes = { ...this.runTimes, ...chosen };
    this.#later();
  }

  /** Take the files for one of the stacks; returns whether the server has answered. */
  chooseStack(stack: string): Promise<boolean> {
    this.#manner = { ...this.#manner, stack };
    return this.look();
  }

  /** Ask the server about what is shown, repaired; returns whether its answer is of that. */
  async look(repairs: Repairs = []): Promise<boolean> {
    clearTimeout(this.#timer);
    const mine = ++this.#asked;
    this.busy = true;
    try {
      const found = await lookAt(this.files, this.into, this.manner, repairs);
      if (mine !== this.#asked) return false;
      if (repairs.length > 0) this.files = shownOf(this.files, found);
      this.found = found;
      this.untimed = joined(this.untimed, found.untimed);
    } catch (error) {
      if (mine === this.#asked) reportRefusal(error);
      return false;
    } finally {
      if (mine === this.#asked) this.busy = false;
    }
    return true;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#asked++; // an answer on its way is of an older text
    this.busy = true;
    this.#timer = setTimeout(() => void this.look(), WAIT_MS);
  }

  #lines(name: string): number {
    return (this.files.find((file) => file.name === name)?.text ?? "").trimEnd().split("\n").length;
  }
}

function joined(known: DryImport["untimed"], found: DryImport["untimed"]): DryImport["untimed"] {
  const keyOf = ({ kind, namespace, name }: DryImport["untimed"][number]): string => `${kind}/${namespace}/${name}`;
  const keys = new Set(known.map(keyOf));
  return [...known, ...found.filter((one) => !keys.has(keyOf(one)))];
}

/** Return the files with values at the places where their names stand; a name without a value stays. */
export function filled(files: readonly SourceFile[], places: DryImport["unfilled"], values: ReadonlyMap<string, string>): readonly SourceFile[] {
  return files.map((file) => {
    const lines = file.text.split("\n");
    for (const { name, line } of places.filter((one) => one.file === file.name)) {
      const value = values.get(name) ?? "";
      const whole = new RegExp(`${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}${/\w$/.test(name) ? "(?!\\w)" : ""}`, "g"); // $A is not in $AB
      if (value !== "") lines[line - 1] = (lines[line - 1] ?? "").replace(whole, () => value);
    }
    return { ...file, text: lines.join("\n") };
  });
}

/** Return the files to show: what the server unpacked and converted, and what it could not read. */
export function shownOf(files: readonly SourceFile[], found: DryImport): readonly SourceFile[] {
  const shown = new Set(found.files.map((file) => file.name));
  const unread = new Set(found.findings.map(({ place }) => place.file));
  return [...found.files, ...files.filter((file) => (file.data ?? "") !== "" && unread.has(file.name) && !shown.has(file.name))];
}

/** Return how many errors and other findings each file has. */
export function countsOf(findings: readonly Pick<Repairable, "level" | "place">[]): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const { level, place } of findings) {
    const { errors, warnings } = counts.get(place.file) ?? { errors: 0, warnings: 0 };
    counts.set(place.file, level === "error" ? { errors: errors + 1, warnings } : { errors, warnings: warnings + 1 });
  }
  return counts;
}

/** Return whether somebody should look before the files are taken: errors, placeholders, repairs, run times that commands say. */
export function needsLook(found: DryImport): boolean {
  const looked = found.findings.filter(({ said }) => said.code !== MAY_BE_MEANT);
  return found.errors > 0 || found.unfilled.length > 0 || found.refused !== null || looked.some(({ repairs, said }) => repairs.length > 0 || said.code === "runTime.readable");
}
