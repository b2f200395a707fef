// Light or dark: by system until the reader chooses.

import { keep, kept, whenKept } from "@/lib/keep";

export type Theme = "light" | "dark";

class Look {
  theme = $state<Theme>("light");
}

export const look = new Look();

/** Read what the first paint decided; follow other windows, and the system while nothing is chosen. */
export function startTheme(): void {
  look.theme = document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    if (kept("theme") === null) apply(event.matches ? "dark" : "light");
  });
  whenKept("theme", (theme) => apply(theme === "dark" ? "dark" : "light"));
}

/** Switch the theme and remember the choice. */
export function switchTheme(): void {
  apply(look.theme === "dark" ? "light" : "dark");
  keep("theme", look.theme);
}

function apply(theme: Theme): void {
  look.theme = theme;
  document.documentElement.dataset["theme"] = theme;
}
