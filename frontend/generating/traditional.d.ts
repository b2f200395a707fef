import type { Plugin } from "vite";

export function traditional(): Record<string, string>;
export function traditionalCatalogue(): Plugin;
