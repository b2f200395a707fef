// Made by generating/traditional.js when the page is built.
declare module "virtual:zh-hant" {
  import type { Words } from "@/lib/catalogue/en";

  export const ZH_HANT: Words;
}
