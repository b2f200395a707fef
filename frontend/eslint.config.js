// What the linter holds: strict types, and which folder may import which.
import svelte from "eslint-plugin-svelte";
import tseslint from "typescript-eslint";

import svelteConfig from "./svelte.config.js";

// Each folder and what it may not import: imports go down only. A later entry
// replaces an earlier one, so those of store/ repeat what store/ may not import.
const STORE = ["draw/**", "views/**"];
const ABOVE_LIVE = ["edits", "policy", "explain", "compare", "runs", "sandboxes"].map((name) => `store/${name}/**`);
const FORBIDDEN = {
  lib: ["protocol/**", "net/**", "store/**", "draw/**", "views/**"],
  protocol: ["net/**", "store/**", "draw/**", "views/**"],
  net: ["store/**", "draw/**", "views/**"],
  store: STORE,
  "store/rows": [...STORE, ...ABOVE_LIVE, "store/live/**", "net/**"],
  "store/live": [...STORE, ...ABOVE_LIVE],
  draw: ["net/**", "store/**", "views/**"],
  views: ["net/**"],
};

const importRules = Object.entries(FORBIDDEN).map(([folder, forbidden]) => ({
  files: [`src/${folder}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            group: forbidden.map((name) => `@/${name}`),
            message: `${folder}/ may not import this; see the table in README.md.`,
          },
          { group: ["../*"], message: "Imports are absolute: @/folder/file." },
        ],
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ["dist/", "public/"] },
  // Generated: nothing of them is linted, and one that is named by its path is no warning.
  {
    files: ["src/protocol/types.ts", "src/protocol/checks.d.ts", "src/protocol/answers.ts"],
    processor: { meta: { name: "generated" }, preprocess: () => [], postprocess: () => [] },
  },
  ...tseslint.configs.strictTypeChecked,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["*.js"] },
        extraFileExtensions: [".svelte"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      // Numbers are what this page is about; they may stand in templates.
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true },
      ],
      // No enum can be written: erasableSyntaxOnly of tsconfig.json refuses it. The rule
      // would cost an eighth of the linter's time.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      // A Svelte snippet or event attribute is often a void arrow.
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true },
      ],
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: {
      parserOptions: { parser: tseslint.parser, svelteConfig },
    },
    rules: {
      // Addresses are made by lib/address, which knows the page's base.
      "svelte/no-navigation-without-resolve": "off",
      // State is runes; nothing here imports svelte/store.
      "svelte/require-store-reactive-access": "off",
      // Sets and Maps here are made and read inside one computation.
      "svelte/prefer-svelte-reactivity": "off",
      // svelte-check reports stale comments, and knows the compiler's warnings.
      "svelte/no-unused-svelte-ignore": "off",
    },
  },
  // The types of components are svelte-check's. Here each of them would have the whole
  // project checked anew, which took two thirds of the linter's time.
  { files: ["**/*.js", "**/*.svelte"], ...tseslint.configs.disableTypeChecked },
  ...importRules,
);
