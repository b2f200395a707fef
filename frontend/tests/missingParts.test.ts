import { expect, it, vi } from "vitest";

import { watchMissingParts } from "@/lib/missingParts";
import { voice } from "@/lib/say.svelte";

it("a part of the page that does not arrive is said once, and loading again is offered", () => {
  const page = Object.assign(new EventTarget(), { location: { reload: vi.fn() } });
  vi.stubGlobal("window", page);
  watchMissingParts();
  const missing = (): Event => Object.assign(new Event("vite:preloadError"), { payload: new Error("Curves.js") });
  page.dispatchEvent(missing());
  page.dispatchEvent(missing());

  expect(voice.toasts.map(({ tone, text, detail }) => [tone, text, detail])).toEqual([["error", "A part of the page did not arrive.", "Curves.js"]]);
  voice.toasts[0]?.acts?.[0]?.run();
  expect(page.location.reload).toHaveBeenCalledOnce();
});
