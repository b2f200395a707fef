// Labels and taints as one line of text each, as kubectl writes them; pure.

import type { Json } from "@/net/rest";

export type Pairs = "labels" | "taints";

const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const said = (value: unknown): string => (typeof value === "string" ? value : "");
const parts = (text: string): string[] => text.split(",").map((part) => part.trim()).filter(Boolean);

/** Return "zone=a, gpu=" or "gpu=true:NoSchedule, spot:NoExecute"; "" where there are none. */
export function pairsText(form: Pairs, value: unknown): string {
  if (form === "labels") return Object.entries(record(value)).map(([key, value]) => `${key}=${said(value)}`).join(", ");
  const taints = Array.isArray(value) ? value.map(record) : [];
  return taints.map((one) => `${said(one["key"])}${said(one["value"]) === "" ? "" : `=${said(one["value"])}`}:${said(one["effect"])}`).join(", ");
}

/** Return the labels that a text names. */
export function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(parts(text).map((part) => cutAt(part, "=")));
}

/** Return the taints that a text names; an effect that is missing is "", which the server refuses. */
export function taintsOf(text: string): Json[] {
  return parts(text).map((part) => {
    const [pair, effect] = cutAt(part, ":");
    const [key, value] = cutAt(pair, "=");
    return { key, ...(value === "" ? {} : { value }), effect };
  });
}

/** Return what a merge patch sets so that a text holds: labels that it does not name are taken away. */
export function pairsPatch(form: Pairs, text: string, before: unknown): unknown {
  if (form === "taints") return text === "" ? null : taintsOf(text);
  const gone = Object.keys(record(before)).map((key) => [key, null] as const);
  return { ...Object.fromEntries(gone), ...labelsOf(text) };
}

function cutAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
