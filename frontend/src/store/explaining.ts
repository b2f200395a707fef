// Explanations: the sentences and the counterfactuals that the server has run.

import { record, text, type Json } from "@/net/rest";
import { fetchExplanation } from "@/store/server";

export interface Verdict {
  readonly id: string;
  readonly outcome: "yes" | "but" | "no"; // admitted, admitted and then stopped, not admitted
  readonly subject: string;
  readonly now: string;
  readonly effect: string;
}

export interface Explanation {
  readonly sentences: readonly string[];
  readonly verdicts: readonly Verdict[];
  readonly raw: Json;
}

/** Ask why a workload waits; the server runs each counterfactual before it answers. */
export async function explain(sandbox: string, key: string): Promise<Explanation> {
  const answer = await fetchExplanation(sandbox, key);
  const rows = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return {
    sentences: rows(answer["sentences"]).map(text),
    verdicts: rows(answer["counterfactuals"]).map((item) => verdictOf(record(item))),
    raw: answer,
  };
}

function verdictOf(item: Json): Verdict {
  const outcome = text(item["outcome"]);
  return {
    id: text(item["id"]),
    outcome: outcome === "yes" || outcome === "but" ? outcome : "no",
    subject: text(item["subject"]),
    now: text(item["now"]),
    effect: text(item["effect"]),
  };
}
