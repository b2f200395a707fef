// The profiles of kube-schedulers: as the server resolves them, and edits of the document; pure but for the fetch.

import { ask, list, record, rowsOf, text, type Json } from "@/net/rest";
import { tOr } from "@/lib/words.svelte";
import type { PluginState, ProfileState } from "@/protocol/types";
import { at } from "@/store/policy/paths";

/** Return the profiles in force. */
export async function fetchProfiles(sandbox: string): Promise<readonly ProfileState[]> {
  return (await ask("ProfileList", "GET", `/sandboxes/${sandbox}/policy/profiles`)).items;
}

export type Document = Json;
export type Change = (profile: Document) => Document;
const HEAD = { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" };
const SORT = "queueSort";

/** Return what a policy configures its kube-schedulers with; empty for the defaults. */
export function schedulersOf(policy: unknown): Document {
  return record(at(policy, "spec.kubeScheduler") ?? {});
}

/** Return an argument form's fields for a plug-in, of its JSON schema. */
export function fieldsOf(parameters: Document | null | undefined): ArgumentInput["children"] {
  if (!parameters) return [];
  return fieldOf(parameters, record(parameters["$defs"] ?? {})).children;
}

/** Return what the arguments of a plug-in are for, in the reader's language; "" where nothing is said. */
export function argumentsHelp(parameters: Document | null | undefined): string {
  return parameters ? fieldOf(parameters, record(parameters["$defs"] ?? {})).help : "";
}

/** Return the document with one profile changed; an empty one is written out first. */
export function withProfile(document: Json, configuration: number, index: number, change: Change): Json {
  return withProfiles(document, configuration, (profiles) =>
    profiles.map((profile, place) => (place === index ? change(profile) : profile)),
  );
}

/** Return the document with the profiles of one configuration changed. */
export function withProfiles(
  document: Json,
  configuration: number,
  change: (profiles: readonly Json[]) => Json[],
): Json {
  if (text(document["kind"]) !== "List") return profilesChanged(document, change);
  const items = rowsOf(document["items"]);
  return { ...document, items: items.map((item, place) => (place === configuration ? profilesChanged(item, change) : item)) };
}

function profilesChanged(item: Json, change: (profiles: readonly Json[]) => Json[]): Json {
  const given = rowsOf(item["profiles"]);
  return { ...HEAD, ...item, profiles: change(given.length > 0 ? given : [{ schedulerName: "default-scheduler" }]) };
}

interface Entry {
  readonly name: string;
  readonly weight?: number;
}
interface Point {
  readonly enabled: readonly Entry[];
  readonly disabled: readonly Entry[];
}

function pointOf(profile: Json, point: string): Point {
  const given = record(record(profile["plugins"] ?? {})[point] ?? {});
  const entries = (value: unknown): Entry[] =>
    rowsOf(value).map((row) => ({
      name: text(row["name"]),
      ...(typeof row["weight"] === "number" ? { weight: row["weight"] } : {}),
    }));
  return { enabled: entries(given["enabled"]), disabled: entries(given["disabled"]) };
}

function withPoint(profile: Json, point: string, next: Point): Json {
  const plugins: Record<string, unknown> = { ...record(profile["plugins"] ?? {}) };
  const kept = Object.entries(next).filter(([, entries]) => (entries as readonly Entry[]).length > 0);
  if (kept.length === 0) Reflect.deleteProperty(plugins, point);
  else plugins[point] = Object.fromEntries(kept);
  return { ...profile, plugins };
}

const without = (entries: readonly Entry[], name: string): Entry[] => entries.filter((entry) => entry.name !== name);

/** Return the profile with a plug-in on or off at one extension point. */
export function setPoint(profile: Json, plugin: string, point: string, on: boolean): Json {
  if (point === SORT) return on ? sortBy(profile, plugin) : profile;
  const { enabled, disabled } = pointOf(profile, point);
  const wasDisabled = disabled.some((entry) => entry.name === plugin);
  const rest: Point = { enabled: without(enabled, plugin), disabled: without(disabled, plugin) };
  if (!on) return withPoint(profile, point, { ...rest, disabled: [...rest.disabled, { name: plugin }] });
  if (wasDisabled && !disabled.some((entry) => entry.name === "*")) return withPoint(profile, point, rest);
  return withPoint(profile, point, { ...rest, enabled: [...rest.enabled, { name: plugin }] });
}

// Exactly one plug-in orders the queue, so choosing one puts the others off.
function sortBy(profile: Json, plugin: string): Json {
  const next = plugin === "PrioritySort" ? { enabled: [], disabled: [] } : { enabled: [{ name: plugin }], disabled: [{ name: "*" }] };
  return withPoint(profile, SORT, next);
}

/** Return the profile with a plug-in on or off everywhere. */
export function setPlugin(profile: Json, plugin: PluginState, on: boolean): Json {
  const cleared = plugin.points.reduce((before, point) => {
    const { enabled, disabled } = pointOf(before, point);
    const sorts = point === SORT && enabled.some((entry) => entry.name === plugin.name);
    const rest: Point = { enabled: without(enabled, plugin.name), disabled: sorts ? [] : without(disabled, plugin.name) };
    return withPoint(before, point, rest);
  }, profile);
  const { enabled, disabled } = pointOf(cleared, "multiPoint");
  const rest: Point = { enabled: without(enabled, plugin.name), disabled: without(disabled, plugin.name) };
  if (!on) return withPoint(cleared, "multiPoint", { ...rest, disabled: [...rest.disabled, { name: plugin.name }] });
  const sorted = plugin.points.includes(SORT) ? sortBy(cleared, plugin.name) : cleared;
  if (plugin.points.every((point) => point === SORT)) return withPoint(sorted, "multiPoint", rest);
  const wasDisabled = disabled.some((entry) => entry.name === plugin.name);
  return withPoint(sorted, "multiPoint", wasDisabled ? rest : { ...rest, enabled: [...rest.enabled, { name: plugin.name }] });
}

/** Return the profile with the weight of a scoring plug-in. */
export function setWeight(profile: Json, plugin: string, weight: number): Json {
  const where = pointOf(profile, "score").enabled.some((entry) => entry.name === plugin) ? "score" : "multiPoint";
  const point = pointOf(profile, where);
  const there = point.enabled.some((entry) => entry.name === plugin);
  const enabled = there
    ? point.enabled.map((entry) => (entry.name === plugin ? { name: plugin, weight } : entry))
    : [...point.enabled, { name: plugin, weight }];
  return withPoint(profile, where, { ...point, enabled });
}

/** Return the profile with one argument of a plug-in, by its path below args. */
export function setArgument(profile: Json, plugin: string, path: readonly string[], value: unknown): Json {
  const configs = rowsOf(profile["pluginConfig"]);
  const known = configs.find((config) => text(config["name"]) === plugin);
  const next = { name: plugin, args: put(record(known?.["args"] ?? {}), path, value) };
  return {
    ...profile,
    pluginConfig: known === undefined ? [...configs, next] : configs.map((config) => (config === known ? next : config)),
  };
}

function put(into: Json, path: readonly string[], value: unknown): Json {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return { ...into, [first]: value };
  return { ...into, [first]: put(record(into[first] ?? {}), rest, value) };
}

/** Return the kind of field that an argument's schema asks for. */
export interface ArgumentInput {
  readonly kind: "choice" | "flag" | "integer" | "text" | "group" | "json";
  readonly choices: readonly string[];
  readonly help: string;
  readonly title: string; // "" where it is called by its name
  readonly first: unknown;
  readonly children: readonly (readonly [string, ArgumentInput])[];
}

const KINDS: Readonly<Record<string, ArgumentInput["kind"]>> = { boolean: "flag", integer: "integer", string: "text" };
const HIDDEN = new Set(["apiVersion", "kind"]);

/** Return a field of a JSON schema, its references followed. */
export function fieldOf(schema: Json, definitions: Json): ArgumentInput {
  const shape = followed(schema, definitions);
  const choices = list(shape["enum"] ?? []).map(text);
  const base = { choices, help: helpOf(shape), title: text(schema["title"]), first: schema["default"], children: [] };
  if (choices.length > 0) return { ...base, kind: "choice" };
  if (shape["properties"] !== undefined) return { ...base, kind: "group", children: childrenOf(shape, definitions) };
  return { ...base, kind: KINDS[text(shape["type"])] ?? "json" };
}

// A shape that a distribution of somebody else's brought is said in its own words.
function helpOf(shape: Json): string {
  return tOr(`registry.args.${text(shape["title"])}`, text(shape["description"]));
}

function childrenOf(shape: Json, definitions: Json): [string, ArgumentInput][] {
  return Object.entries(record(shape["properties"]))
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, child]) => [name, fieldOf(record(child), definitions)]);
}

function followed(schema: Json, definitions: Json): Json {
  const options = rowsOf(schema["anyOf"]).filter((option) => text(option["type"]) !== "null");
  const [only] = options;
  const shape = options.length === 1 && only !== undefined ? only : schema;
  const name = text(shape["$ref"]).split("/").at(-1) ?? "";
  return name === "" ? shape : record(definitions[name] ?? {});
}
