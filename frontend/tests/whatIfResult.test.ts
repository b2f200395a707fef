// What a what-if comes to, as text to take elsewhere.
import { expect, it } from "vitest";

import { withWords } from "@/lib/words.svelte";
import type { WhatIfState } from "@/protocol/types";
import { commandsOf, markdownOf } from "@/store/edits/result";

await withWords(Promise.resolve());

it("is a kubectl command for each change, or a comment that says that there is none", () => {
  const lines = commandsOf([
    { patch: { kind: "ClusterQueue", namespace: "", name: "q", body: { metadata: { annotations: { who: "it's" } } } } },
    { delete: { kind: "Job", namespace: "team", name: "j" } },
    { apply: { kind: "LocalQueue", metadata: { name: "l" } } },
    { node: { name: "n1", change: "fail" } },
  ]).split("\n");
  expect(lines[0]).toBe(`kubectl patch clusterqueue q --type merge -p '{"metadata":{"annotations":{"who":"it'\\''s"}}}'`);
  expect(lines[1]).toBe("kubectl delete job j -n team");
  expect(lines.slice(2, -1)).toEqual(["kubectl apply -f - <<'EOF'", "kind: LocalQueue", "metadata:", "  name: l", "EOF"]);
  expect(lines.at(-1)).toMatch(/^# .*n1: fail$/);
});

it("leaves no name to a shell that is more than a word", () => {
  const name = "x; rm -rf $(pwd) 'y";
  const lines = commandsOf([{ delete: { kind: "Job", namespace: "a b", name } }, { node: { name: "n`id`", change: "cordon" } }]).split("\n");
  expect(lines).toEqual(["kubectl delete job 'x; rm -rf $(pwd) '\\''y' -n 'a b'", "kubectl cordon 'n`id`'"]);
});

it("says in Markdown that nothing differs when nothing does", () => {
  const found = { id: 1, state: "open", at: 4, revision: 1, changes: [], horizonMs: 60_000, seeds: [], said: null, verdict: null, replacedBy: null } satisfies WhatIfState;
  expect(markdownOf(["q held"], found)).toMatch(/^### .*4\n\n- q held\n\n.*\n$/);
});
