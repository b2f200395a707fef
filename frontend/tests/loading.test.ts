import { expect, test } from "vitest";

import { withWords } from "@/lib/words.svelte";
import { titleOf } from "@/store/sandboxes/loading";

await withWords(Promise.resolve());
const named = (...names: string[]): string => titleOf(names.map((name) => ({ name })));

test("a sandbox of one file has the file's name", () => {
  expect(named("queues.yaml")).toBe("queues");
});

test("a sandbox of a folder has the folder's name", () => {
  expect(named("team/a.yaml", "team/b/c.yaml")).toBe("team");
});

test("a sandbox of several files says how many more there are", () => {
  expect(named("a.yaml", "b.yaml", "c.yaml")).toBe("a and 2 more");
});
