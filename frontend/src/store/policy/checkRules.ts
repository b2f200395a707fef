// Rules of the policy that answer AdmissionChecks: at once, after a while, by chance, or by people.

import { record, request, rowsOf, text, type Json } from "@/net/rest";

export const MODES = ["instant", "after", "chance", "hand"] as const;
export type Mode = (typeof MODES)[number];

const NO_DELAY = "0s";
const FIRST_DELAY = "30s";
const FIRST_CHANCE = 0.5;

/** Return the names of a sandbox's AdmissionChecks, sorted. */
export async function fetchCheckNames(sandbox: string): Promise<readonly string[]> {
  const answer = record(await request("GET", `/sandboxes/${sandbox}/apis/kueue.x-k8s.io/v1beta2/admissionchecks`));
  return rowsOf(answer["items"]).map((item) => text(record(item["metadata"])["name"])).sort();
}

/** Return how a rule answers; a check without one is Ready at once. */
export function modeOf(rule: Json | undefined): Mode {
  if (rule?.["byHand"] === true) return "hand";
  if (chanceOf(rule) < 1) return "chance";
  return delayOf(rule) === NO_DELAY ? "instant" : "after";
}

/** Return how long after the reservation a rule answers. */
export function delayOf(rule: Json | undefined): string {
  return text(rule?.["after"]) || NO_DELAY;
}

/** Return how often a rule gives its answer, else the other one. */
export function chanceOf(rule: Json | undefined): number {
  const chance = rule?.["probability"];
  return typeof chance === "number" ? chance : 1;
}

/** Return the answer of a rule, and the other one. */
export function answersOf(rule: Json | undefined): { answer: string; otherwise: string } {
  return { answer: text(rule?.["answer"]) || "Ready", otherwise: text(rule?.["otherwise"]) || "Rejected" };
}

/** Return the fields of a rule that make it answer in another way. */
export function fieldsOf(mode: Mode, rule: Json | undefined): Json {
  const kept = delayOf(rule);
  switch (mode) {
    case "instant":
      return { byHand: false, probability: 1, after: NO_DELAY };
    case "after":
      return { byHand: false, probability: 1, after: kept === NO_DELAY ? FIRST_DELAY : kept };
    case "chance":
      return { byHand: false, probability: chanceOf(rule) < 1 ? chanceOf(rule) : FIRST_CHANCE };
    case "hand":
      return { byHand: true };
  }
}

/** Return all rules with fields of one changed; a check without a rule gets one. */
export function withFields(rules: readonly Json[], check: string, fields: Json): Json[] {
  const known = rules.some((rule) => rule["check"] === check);
  const all = known ? rules : [...rules, { check }];
  return all.map((rule) => (rule["check"] === check ? { ...rule, ...fields } : rule));
}
