import type { Plugin } from "vite";

export function checksOf(group: string): string;
export function checks(): Plugin;
