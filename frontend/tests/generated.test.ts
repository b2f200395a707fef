// What is generated from the schema is what it makes now.
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { files } from "../generating/write.js";

const written = await files();

describe("a generated file", () => {
  it.each([...written])("%s is current; else run: npm run types", (file, text) => {
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});
