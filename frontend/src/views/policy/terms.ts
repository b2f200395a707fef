// The glossary: each term, the sentence that says what it is, and whose word it is.

import type { Word } from "@/lib/words.svelte";

export const TERMS: readonly (readonly [string, Word, string])[] = [
  ["ClusterQueue", "term.clusterQueue", "Kueue"],
  ["LocalQueue", "term.localQueue", "Kueue"],
  ["Cohort", "term.cohort", "Kueue"],
  ["ResourceFlavor", "term.flavor", "Kueue"],
  ["Workload", "term.workload", "Kueue"],
  ["nominal quota", "term.nominal", "Kueue"],
  ["borrowing limit", "term.borrowingLimit", "Kueue"],
  ["lending limit", "term.lendingLimit", "Kueue"],
  ["weighted share", "term.share", "Kueue"],
  ["preemptor", "term.preemptor", "Kueue, kube-scheduler"],
  ["preemptee", "term.preemptee", "Kueue"],
  ["guaranteed", "term.guaranteed", "YuniKorn"],
  ["max", "term.max", "YuniKorn"],
  ["headroom", "term.headroom", "YuniKorn"],
  ["fence", "term.fence", "YuniKorn"],
  ["extension point", "term.extension", "kube-scheduler"],
  ["tick", "term.tick", "Quotalab"],
  ["fork", "term.fork", "Quotalab"],
];
