// What several parts of the page read from the server, each answer checked against its schema.

import { ask, requestText } from "@/net/rest";
import { parsed } from "@/protocol/checked";
import type { EventLine, PageState, Sample, Sandbox, Scenario } from "@/protocol/types";
import { isServerMessage } from "virtual:checks/live";

/** Return the library of scenarios, in its order. */
export async function fetchScenarios(): Promise<readonly Scenario[]> {
  return (await ask("ScenarioList", "GET", "/scenarios")).items;
}

/** Return the sandboxes that this reader may see, newest change first. */
export async function fetchSandboxes(): Promise<readonly Sandbox[]> {
  return (await ask("SandboxList", "GET", "/sandboxes")).items;
}

/** Return one sandbox as lists show it. */
export function fetchSandbox(id: string): Promise<Sandbox> {
  return ask("Sandbox", "GET", `/sandboxes/${id}`);
}

/** Return every row at a tick of the past, as a page state. */
export async function fetchPast(id: string, tick: number): Promise<PageState> {
  const answer = await requestText(`/sandboxes/${id}/state`, "application/json", { query: { tick } });
  const message = parsed(isServerMessage, answer, "state");
  if (message.type !== "page_state") throw new Error(`expected page_state, got ${message.type}`);
  return message;
}

/** Return the samples of a run up to a tick, oldest first, thinned to `limit`. */
export async function fetchSamples(id: string, toTick: number, limit = 2000): Promise<readonly Sample[]> {
  return (await ask("SampleList", "GET", `/sandboxes/${id}/samples`, { query: { toTick, limit } })).items;
}

/** Return events, newest last; `query` narrows them (subject, type, tick). */
export async function fetchEvents(
  id: string,
  query: Readonly<Record<string, string | number>>,
): Promise<readonly EventLine[]> {
  return (await ask("EventList", "GET", `/sandboxes/${id}/events`, { query: { newest: true, ...query } })).items;
}

/** Return the path of an object below its sandbox; `-` where it has no namespace. A YuniKorn queue stands in the policy. */
export function objectPath(key: string): string {
  const [kind = "", namespace = "", ...rest] = key.split("/");
  if (kind === "Queue") return "policy";
  const place = namespace === "" ? "-" : encodeURIComponent(namespace);
  return `objects/${kind}/${place}/${encodeURIComponent(rest.join("/"))}`;
}
