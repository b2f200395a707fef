// The releases that decide in a world, by their names; pure.

import type { Release } from "@/protocol/types";

const TITLES = { kueue: "Kueue", kubernetes: "Kubernetes", yunikorn: "YuniKorn" } as const;
export type Scheduler = keyof typeof TITLES;

/** The schedulers that decide in a stack, its own first. */
export const OF_STACK = { kueue: ["kueue", "kubernetes"], kube: ["kubernetes"], yunikorn: ["yunikorn"] } as const;

/** Return "Kueue 0.19.2" of each scheduler that has a release. */
export function releasesOf(release: Release, schedulers: readonly Scheduler[] = Object.keys(TITLES) as Scheduler[]): string[] {
  return schedulers.flatMap((one) => (release[one] ? [`${TITLES[one]} ${release[one]}`] : []));
}
