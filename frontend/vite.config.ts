// How the page is built: one bundle a view, names that depend on content alone.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

import { checks } from "./generating/checks.js";
import { traditionalCatalogue } from "./generating/traditional.js";

export default defineConfig({
  base: "/static/",
  plugins: [checks(), traditionalCatalogue(), svelte()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    // What every first view loads is one file: many small ones compress worse by a tenth.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } } },
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node", testTimeout: 120_000 },
});
