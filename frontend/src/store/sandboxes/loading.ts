// Loading: a sandbox from files, or from nothing, and what the files would say before.

import { ask, type Json } from "@/net/rest";
import type { Create, Created, DryImport, Imported, ImportReport, Repair, Report, Sandbox, Traces } from "@/protocol/types";
import { go, hrefOf } from "@/lib/address.svelte";
import { keepFiles } from "@/lib/keep";
import { attempt } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { t } from "@/lib/words.svelte";

/** A file as it is sent: its text, or its bytes in base64, which the server unpacks. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly data?: string;
}

const isText = (file: SourceFile): boolean => (file.data ?? "") === "";

/** How the run times that nobody gave are chosen: for all, and before that for each by its key. */
export interface RunTimes {
  readonly way: "leave" | "written" | "all" | "like";
  readonly span: string; // of "all", such as 5m
  readonly like: SourceFile | null; // of "like": where their like ended
  readonly each: Readonly<Record<string, string>>; // kind/namespace/name -> its time
}

/** What is to be repaired: what somebody chose, or all that has one repair. */
export type Repairs = readonly Repair[] | "all";

export const LEFT: RunTimes = { way: "leave", span: "", like: null, each: {} };

/** Return the choice as an import takes it. */
export function choiceOf({ way, span, like, each }: RunTimes): Json {
  const rules: Record<string, string>[] = Object.entries(each).map(([key, takes]) => {
    const [kind = "", namespace = "", name = ""] = key.split("/");
    return { kind, namespace, name, takes };
  });
  if (way === "all" && span !== "") rules.push({ takes: span });
  return {
    ...(rules.length === 0 ? {} : { rules }),
    ...(way === "written" ? { reads: "sleep-deadline" } : {}),
    ...(way === "like" && like !== null ? { like: [like] } : {}),
  };
}

/** Return the policy of a new sandbox: its stack, where one was chosen. */
export function policyOf(stack: string | undefined): Json {
  return stack === undefined ? {} : { stack };
}

/** Ask what taking the files would say, with repairs applied; nothing changes. */
export function lookAt(files: readonly SourceFile[], into: string | null, manner: Manner, repairs: Repairs = []): Promise<DryImport> {
  const { traces, convert, stack, runTimes = LEFT } = manner;
  const body = { files, into: into ?? "", traces, convert, policy: policyOf(stack), runTimes: choiceOf(runTimes) };
  return ask("DryImport", "POST", "/imports/dry", { body: repairs === "all" ? { ...body, repairAll: true } : { ...body, repairs } });
}

/** What came of files that were taken in. */
export interface Taken {
  readonly report: Report;
  readonly count: number;
}

/** How files are taken: what somebody chose about traces, and whether they are converted. */
export interface Manner {
  readonly traces: Traces;
  readonly convert: boolean;
  readonly stack?: string; // of a new sandbox; without one it is what the files are for
  readonly runTimes?: RunTimes; // where nobody gave them
  readonly title?: string; // of a new sandbox; without one it is made of the names of the files
}

export async function openEmpty(): Promise<void> {
  const answer = await attempt(() => ask("Created", "POST", "/sandboxes", { body: {} }));
  if (answer !== null) openNew(answer);
}

// Pods that no queue holds back are looked at where they are, or would be.
const openNew = (made: Sandbox, kinds: readonly string[] = []): void => go(hrefOf(made.id, made.stack === "kube" && kinds.includes("Node") ? "nodes" : "board"));

/** Take files in: into a new sandbox, or into one that is open; with `rest` what can be taken of them.
 *
 * Throws Refusal where they are not taken; then nothing changed.
 */
export async function takeFiles(files: readonly SourceFile[], into: string | null, manner: Manner, rest = false): Promise<Taken> {
  if (into === null) {
    const made = await create(files, manner, rest);
    keepFiles(made.id, files.filter(isText));
    openNew(made, made.report.kinds.map(({ kind }) => kind));
    const kept = made.report.kinds.filter((kind) => kind.outcome !== "refused");
    return { count: kept.reduce((sum, kind) => sum + kind.count, 0), report: made.report };
  }
  const { traces, convert, runTimes = LEFT } = manner;
  const { created, changed, report } = await importInto(into, files, { skipErrors: rest, traces, convert, runTimes: choiceOf(runTimes) });
  keepFiles(into, files.filter(isText));
  return { count: created.length + changed.length, report };
}

function create(files: readonly SourceFile[], { stack, runTimes = LEFT, title = titleOf(files), ...manner }: Manner, skipErrors: boolean): Promise<Created> {
  const scenario = files.some((file) => /^kind: *Scenario *$/m.test(file.text));
  const taken = { files, policy: policyOf(stack), skipErrors, runTimes: choiceOf(runTimes) };
  const body = scenario ? taken : { ...taken, ...manner, title };
  return ask("Created", "POST", "/sandboxes", { body: body satisfies Create });
}

function importInto(id: string, files: readonly SourceFile[], more: Json): Promise<Imported> {
  const revision = id === live.id ? live.latest.page.revision : null; // what is shown is what they change
  return ask("Imported", "POST", `/sandboxes/${id}/actions/import`, { body: { files, revision, ...more } });
}

/** Return the folder that all files are in, or the first file's name and how many more there are. */
export function titleOf(files: readonly { name: string }[]): string {
  const names = files.map((file) => file.name);
  const folders = new Set(names.map((name) => name.split("/")[0]));
  if (folders.size === 1 && names.every((name) => name.includes("/"))) return [...folders].join("");
  const first = (names[0] ?? "pasted").replace(/(\.(ya?ml|json|swf|csv|gz|tgz|zip|tar))+$/i, "");
  return names.length < 2 ? first : `${first} ${t("load.more", { n: names.length - 1 })}`;
}

/** Return the reports of a sandbox's imports, newest first. */
export async function fetchReports(id: string): Promise<readonly ImportReport[]> {
  return (await ask("ImportReportList", "GET", `/sandboxes/${id}/imports`)).items;
}

/** Return how many objects of each kind a sandbox's imports took, most first. */
export function takenKinds(reports: readonly ImportReport[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { report } of reports)
    for (const { kind, count, outcome } of report.kinds)
      if (outcome === "simulated") counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
}
