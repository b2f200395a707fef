// Asking why and what if: the server runs each answer, the page only shows it.

import { ask, request } from "@/net/rest";
import { CHECKS } from "@/protocol/answers";
import { checked } from "@/protocol/checked";
import type { Counterfactuals, Explanation, Overview, Would } from "@/protocol/types";

function pathOf(sandbox: string, key: string): string {
  const [, namespace = "", name = ""] = key.split("/");
  return `/sandboxes/${sandbox}/explain/${namespace}/${name}`;
}

/** Ask why a workload is where it is, now or at a tick of the past. */
export function explain(sandbox: string, key: string, tick: number | null, signal?: AbortSignal): Promise<Explanation> {
  return ask("Explanation", "GET", pathOf(sandbox, key), { query: { tick }, ...(signal && { signal }) });
}

/** Ask what waits here and for what, the most common cause first, now or at a tick of the past. */
export function whatWaits(sandbox: string, tick: number | null, signal: AbortSignal): Promise<Overview> {
  return ask("Overview", "GET", `/sandboxes/${sandbox}/waiting`, { query: { tick }, signal });
}

/** Ask why an application or a pod is as it is, now or at a tick of the past, in the words of `quotalab explain`. */
export async function whyOf(sandbox: string, key: string, tick: number | null, signal: AbortSignal): Promise<Pick<Explanation, "said" | "sentences">> {
  const about = key.replace("//", "/"); // what has no namespace is asked for by kind and name
  const found = await ask("Overview", "GET", `/sandboxes/${sandbox}/waiting`, { query: { tick, about }, signal });
  return found.answers[0] ?? { said: [], sentences: [] };
}

/** What runs of copies say, and of which tick. */
export type Tried = Pick<Would, "tick" | "said" | "sentences">;

/** Ask which changes start a pod that waits now, and when it starts by itself: a worker runs them. */
export async function whatStarts(sandbox: string, key: string, tick: number | null, signal: AbortSignal): Promise<Tried> {
  const found = await ask("Overview", "GET", `/sandboxes/${sandbox}/waiting`, { query: { tick, about: key, tried: true }, signal });
  const said = found.answers.flatMap((one) => one.said).filter((one) => one.code.startsWith("would."));
  return { tick: found.tick, said, sentences: [] };
}

/** Ask whether work would start if it were submitted now; `manifest` as an import takes it. */
export function wouldStart(sandbox: string, manifest: object, signal: AbortSignal): Promise<Would> {
  return ask("Would", "POST", `/sandboxes/${sandbox}/would`, { body: manifest, signal });
}

/** Ask what would let a workload in; `soFar` gets the verdicts that are known. Every one was run on a copy of the world. */
export async function counterfactuals(
  sandbox: string,
  key: string,
  tick: number | null,
  soFar: (found: Counterfactuals) => void,
  signal: AbortSignal,
): Promise<Counterfactuals> {
  const path = `${pathOf(sandbox, key)}/counterfactuals`;
  const check = await CHECKS.Counterfactuals();
  const told = (body: unknown): void => {
    const known = (body as { soFar?: unknown }).soFar;
    if (known !== undefined) soFar(checked(check, known, `GET ${path}`));
  };
  return checked(check, await request("GET", path, { query: { tick, wait: 0 }, soFar: told, signal }), `GET ${path}`);
}
