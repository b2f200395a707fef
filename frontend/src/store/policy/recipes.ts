// Recipes: a wish in words, and the file that fulfils it, opened as a world to begin with.

import { t, type Word } from "@/lib/words.svelte";
import { attempt } from "@/store/live/intents";
import { takeFiles } from "@/store/sandboxes/loading";

const FILES = import.meta.glob<string>("../../../../docs/examples/recipes/*.yaml", { query: "?raw", import: "default" });

/** Return each recipe: its wish, what it is found by, and what opens its file as a new sandbox. */
export function allRecipes(): { readonly name: string; readonly wish: string; readonly open: () => Promise<void> }[] {
  return Object.entries(FILES).map(([path, read]) => {
    const name = path.slice(path.lastIndexOf("/") + 1, -".yaml".length);
    const wish = t(`recipe.${name}` as Word);
    const open = async (): Promise<void> => {
      const file = { name: `${name}.yaml`, text: await read() };
      await attempt(() => takeFiles([file], null, { traces: {}, convert: false, title: wish }));
    };
    return { name, wish, open };
  });
}
