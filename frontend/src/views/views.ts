// Which component shows which view; all but the board come when they are asked for.

import type { Component } from "svelte";

import type { View } from "@/lib/address.svelte";
import { withWords } from "@/lib/words.svelte";
import Board from "@/views/board/Board.svelte";

type Loaded = Promise<{ default: Component }>;

const LATER: Readonly<Record<Exclude<View, "board">, () => Loaded>> = {
  nodes: () => import("@/views/nodes/Nodes.svelte"),
  fairness: () => import("@/views/fairness/Fairness.svelte"),
  decisions: () => import("@/views/decisions/Decisions.svelte"),
  "what-if": () => import("@/views/whatif/place/WhatIf.svelte"),
};

/** Return the component of a view. */
export async function viewOf(view: View): Promise<Component> {
  return view === "board" ? Board : (await withWords(LATER[view]())).default;
}
