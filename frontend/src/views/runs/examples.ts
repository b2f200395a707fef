// A ready experiment for each stack: what one would ask of it first.

import { t } from "@/lib/words.svelte";
import { BLANK, type Draft, type DraftVariant, type Subject } from "@/store/runs/drafting";

/** Return an experiment that answers in seconds: this world as it is, and with one switch turned. */
export function exampleOf(stack: string, subjects: ReadonlyMap<string, Subject>, hasScenario: boolean): Draft {
  const turned = turnedOf(stack, subjects);
  const variants: DraftVariant[] = [
    { name: t("example.asItIs"), trials: [] },
    ...turned,
    { name: t("example.faster"), trials: [{ what: "arrivals", value: 1.5 }] },
  ];
  return { ...BLANK, title: t("example.title"), from: hasScenario ? "start" : "now", variants, promises: [{ measure: "withinLimit", min: "0.9", max: "", over: "mean" }] };
}

function turnedOf(stack: string, subjects: ReadonlyMap<string, Subject>): DraftVariant[] {
  const what = { kueue: "policy:kueue.fairSharing", yunikorn: "yunikorn:nodesort" }[stack] ?? "kube:scoring";
  const subject = subjects.get(what);
  if (subject === undefined) return [];
  const other = subject.choices.find((choice) => choice.name !== subject.now);
  return other === undefined ? [] : [{ name: other.label, trials: [{ what, value: other.value }] }];
}

/** Return a draft to begin with: the world as it is and one row to fill in. */
export function emptyDraft(hasScenario: boolean): Draft {
  return { ...BLANK, from: hasScenario ? "start" : "now", variants: [{ name: t("example.asItIs"), trials: [] }, { name: t("example.new", { n: 2 }), trials: [] }] };
}
