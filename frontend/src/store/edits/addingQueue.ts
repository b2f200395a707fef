// A YuniKorn queue added by hand: what is asked, and the policy with it; pure.

import type { Json } from "@/net/rest";
import type { Around, FormAnswers, FormQuestion } from "@/store/edits/adding";
import { PARTITIONS, placeOfQueue, put, read, type Path } from "@/store/edits/fields";

const AMOUNT = /^of:(guaranteed|max) (.+)$/;

/** Return what is asked of a queue of a file of queues. */
export function queueQuestions(name: FormQuestion, { parents, resources }: Around): FormQuestion[] {
  const names = resources.map((one) => (one === "cpu" ? "vcore" : one));
  const amounts = (of: "guaranteed" | "max"): FormQuestion[] => names.map((one) => ({ id: `of:${of} ${one}`, word: "", first: "" }));
  return [
    name,
    { id: "parent", word: "add.parent", first: parents[0] ?? "root", choices: parents },
    ...amounts("guaranteed"),
    ...amounts("max"),
    { id: "sort", word: "field.sortPolicy", first: "fifo", choices: ["fifo", "fair", "stateaware"] },
  ];
}

/** Return the policy with the queue that the answers describe. */
export function policyWithQueue(answers: FormAnswers, { policy }: Around): Json {
  const before = (Array.isArray(read(policy, PARTITIONS)) ? policy : put(policy, PARTITIONS, [{ name: "default" }])) as Json;
  const path = parentOf(before, answers["parent"] ?? "root");
  const siblings = read(before, path);
  return put(before, path, [...(Array.isArray(siblings) ? (siblings as unknown[]) : []), queueOf(answers)]) as Json;
}

// Where the children of a queue stand; of root also in a file that leaves root out, or that has no queue yet.
function parentOf(policy: Json, parent: string): Path {
  const found = placeOfQueue(policy, parent.split("."));
  if (found !== null) return [...found, "queues"];
  return [...PARTITIONS, 0, "queues"];
}

function queueOf(answers: FormAnswers): Json {
  const resources: Record<string, Record<string, string>> = {};
  for (const [id, text] of Object.entries(answers)) {
    const [, of = "", name = ""] = AMOUNT.exec(id) ?? [];
    if (of !== "" && text !== "") resources[of] = { ...resources[of], [name]: text };
  }
  return {
    name: answers["name"] ?? "",
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    properties: { "application.sort.policy": answers["sort"] ?? "fifo" },
  };
}
