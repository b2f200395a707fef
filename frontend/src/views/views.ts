// Which component shows which view; all but the board come when they are asked for.

import type { Component } from "svelte";

import type { View } from "@/lib/address.svelte";
import { withWords } from "@/lib/words.svelte";
import Board from "@/views/board/Board.svelte";

type Loaded = Promise<{ default: Component }>;

const LATER: Readonly<Record<Exclude<View, "board">, () => Loaded>> = {
  workloads: () => import("@/views/workloads/Workloads.svelte"),
  nodes: () => import("@/views/nodes/Nodes.svelte"),
  fairness: () => import("@/views/fairness/Fairness.svelte"),
  preemptions: () => import("@/views/preemptions/Preemptions.svelte"),
  compare: () => import("@/views/compare/Compare.svelte"),
  policy: () => import("@/views/policy/Policy.svelte"),
  runs: () => import("@/views/runs/Runs.svelte"),
  advisor: () => import("@/views/advisor/Advisor.svelte"),
  lessons: () => import("@/views/lessons/Lessons.svelte"),
  events: () => import("@/views/events/Events.svelte"),
};

/** Return the component of a view. */
export async function viewOf(view: View): Promise<Component> {
  return view === "board" ? Board : (await withWords(LATER[view]())).default;
}
