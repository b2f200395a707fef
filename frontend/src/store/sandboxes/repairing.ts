// Files looked at before they are taken: the server repairs their texts and says what it finds.

import type { DryImport, Repair } from "@/protocol/types";
import { ask } from "@/net/rest";
import type { Json } from "@/net/rest";
import type { Manner, SourceFile } from "@/store/sandboxes/loading";

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
