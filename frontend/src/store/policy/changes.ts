// What two policies differ in, as somebody who sets them reads it.

import { t } from "@/lib/words.svelte";
import type { Json } from "@/net/rest";
import { FAIR_WORDS, fairSharingOf } from "@/store/policy/fairSharing";

export interface PolicyChange {
  readonly path: string; // below spec; of fair sharing, one choice of several fields, its section
  readonly ours: string;
  readonly theirs: string;
}

const FAIR = "kueue.fairSharing";

/** Return what differs between two policy documents; fair sharing as the one choice that it is on the page. */
export function policyChanges(ours: unknown, theirs: unknown): PolicyChange[] {
  const [mine, other] = [fairSharingOf(ours), fairSharingOf(theirs)];
  const leaves = changedLeaves(ours, theirs).map(([path, ...values]) => [path.replace(/^spec\./, ""), ...values] as const);
  const rest = mine === other ? leaves : leaves.filter(([path]) => path !== FAIR && !path.startsWith(`${FAIR}.`));
  const plain = rest.map(([path, before, after]) => ({ path, ours: settingText(before), theirs: settingText(after) }));
  return mine === other ? plain : [{ path: FAIR, ours: t(FAIR_WORDS[mine]), theirs: t(FAIR_WORDS[other]) }, ...plain];
}

/** Return the leaves of two documents that differ: path, ours, theirs. */
export function changedLeaves(ours: unknown, theirs: unknown, path = ""): (readonly [string, unknown, unknown])[] {
  if (inOrder(ours) === inOrder(theirs)) return [];
  const inner = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!inner(ours) || !inner(theirs)) return [[path, ours, theirs]];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return names.flatMap((name) => changedLeaves(ours[name], theirs[name], path === "" ? name : `${path}.${name}`));
}

// The server gives fields back in an order of its own, which is no difference.
const inOrder = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "object" && part !== null && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part));

/** Return a setting as a reader sees it; a dash where there is none. */
export function settingText(value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
