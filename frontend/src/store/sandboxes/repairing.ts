// Repairs of texts as the server offers them, applied; nothing here knows what is right.

import type { DryImport, Repair } from "@/protocol/types";
import { ask } from "@/net/rest";
import type { Json } from "@/net/rest";
import type { Manner, SourceFile } from "@/store/sandboxes/loading";

/** How the run times that nobody gave are chosen. */
export interface RunTimes {
  readonly way: "leave" | "written" | "all";
  readonly span: string; // of "all", such as 5m
}

export const LEFT: RunTimes = { way: "leave", span: "" };

/** Return the policy of a new sandbox: its stack where one was chosen, and its run times. */
export function policyOf(stack: string | undefined, { way, span }: RunTimes): Json {
  const simulation = way === "written" ? { runTimesFrom: "sleep-deadline" } : way === "all" && span !== "" ? { defaultRuntime: span } : null;
  return { ...(stack === undefined ? {} : { stack }), ...(simulation === null ? {} : { simulation }) };
}

/** Ask what taking the files would say; nothing changes. */
export function lookAt(files: readonly SourceFile[], into: string | null, manner: Manner): Promise<DryImport> {
  const { traces, convert, stack, runTimes = LEFT } = manner;
  return ask("DryImport", "POST", "/imports/dry", { body: { files, into: into ?? "", traces, convert, policy: policyOf(stack, runTimes) } });
}

/** Return the files with repairs applied, each once; a file that is not there yet comes last. */
export function repaired(files: readonly SourceFile[], repairs: readonly Repair[]): readonly SourceFile[] {
  const texts = new Map(files.map((file) => [file.name, file]));
  const done = new Set<string>();
  for (const repair of repairs) {
    const mark = JSON.stringify([repair.file, repair.line, repair.old, repair.document]);
    if (done.has(mark)) continue;
    done.add(mark);
    const file = texts.get(repair.file) ?? { name: repair.file, text: "" };
    texts.set(repair.file, { ...file, text: repair.line > 0 ? replaced(file.text, repair) : appended(file.text, repair.document) });
  }
  return [...texts.values()];
}

function appended(text: string, document: string): string {
  return text.trim() === "" ? document : `${text.replace(/\n+$/, "")}\n---\n${document}`;
}

function replaced(text: string, { line, old, new: meant }: Repair): string {
  const lines = text.split("\n");
  const given = lines[line - 1] ?? "";
  const at = placeOf(given, old);
  if (at < 0) return text;
  lines[line - 1] = given.slice(0, at) + meant + given.slice(at + old.length);
  return lines.join("\n");
}

/** Return where a text stands in a line as a whole word, -1 where it does not. */
function placeOf(line: string, word: string): number {
  const inside = (letter: string | undefined): boolean => letter !== undefined && /[\w.-]/.test(letter);
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1))
    if (!inside(line[at - 1]) && !inside(line[at + word.length])) return at;
  return -1;
}
