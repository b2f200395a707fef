// The entry point of the page: styles, language, theme, address, then the first view.
import "@/style/tokens.css";
import "@/style/base.css";
import "@/style/frame.css";

import { mount } from "svelte";

import { startAddress } from "@/lib/address.svelte";
import { watchMissingParts } from "@/lib/missingParts";
import { startTheme } from "@/lib/theme.svelte";
import { startLanguage } from "@/lib/words.svelte";
import { startSaying } from "@/store/live/refused";
import App from "@/views/App.svelte";

const target = document.getElementById("page");
if (target !== null) {
  startTheme();
  startAddress();
  startSaying();
  watchMissingParts();
  await startLanguage().catch(() => undefined); // its words did not arrive: it is said, in English
  mount(App, { target });
}
