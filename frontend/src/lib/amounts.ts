// Amounts as the wire carries them: canonical units in decimal texts.

import { formatNumber } from "@/lib/words.svelte";

const UNLIMITED = 2 ** 63 - 2 ** 11; // what 2^63 - 1 and its neighbours round to
const BYTES = /^(memory|ephemeral-storage|hugepages-.*|.*storage.*)$/;
const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

export type Amounts = Readonly<Record<string, string>>;

/** Return an amount as a number for drawing; exact up to 2^53. */
export function amount(text: string | undefined | null): number {
  return text === undefined || text === null || text === "" ? 0 : Number(text);
}

/** Return whether a quota is "no limit". */
export function isUnlimited(value: number): boolean {
  return value >= UNLIMITED;
}

/** Return the unit word of a resource: "CPU", "GPU", "GiB", or its own name. */
export function unitOf(resource: string): string {
  if (resource === "cpu") return "CPU";
  if (resource === "vcore") return "vcore";
  if (BYTES.test(resource)) return "GiB";
  const last = resource.slice(resource.lastIndexOf("/") + 1);
  return last === "gpu" ? "GPU" : last;
}

/** Return whether a resource is counted in thousandths: cpu, and YuniKorn's vcore. */
export function isMilli(resource: string): boolean {
  return resource === "cpu" || resource === "vcore";
}

/** Return "879 MiB / 1.6 GiB", "12 / 64 GiB" or "48 / 40": two amounts beside each other. */
export function ofTotal(resource: string, used: number, total: number): readonly [string, string] {
  if (!BYTES.test(resource) || isUnlimited(total)) return [bare(resource, used), bare(resource, total)];
  const [left, right] = [quantity(resource, used), quantity(resource, total)];
  const [number = "", unit] = left.split("\u00a0");
  return [right.endsWith(`\u00a0${unit ?? ""}`) || used === 0 ? number : left, right];
}

/** Return whether amounts of a resource are written with their own unit in columns. */
export function isBytes(resource: string): boolean {
  return BYTES.test(resource);
}

/** Return "cpu", "vcore" or "memory, GiB": a resource as the head of a column of numbers. */
export function headOf(resource: string): string {
  const unit = unitOf(resource);
  return unit.toLowerCase() === resource ? resource : `${resource}, ${unit}`;
}

/** Return the number without its unit, for columns whose head names the unit. */
export function bare(resource: string, given: number | string): string {
  const value = Number(given);
  if (isUnlimited(value)) return "∞";
  if (isMilli(resource)) return formatNumber(value / 1000, value < 10_000 ? 3 : 1);
  if (BYTES.test(resource)) return formatNumber(value / 2 ** 30, value < 2 ** 30 ? 3 : 1);
  return formatNumber(value);
}

/** Return "1.5 CPU", "2 GiB", "8 GPU": a number and its unit, never parted. */
export function quantity(resource: string, given: number | string): string {
  const value = Number(given);
  if (BYTES.test(resource) && !isUnlimited(value)) return bytes(value);
  return `${bare(resource, value)}\u00a0${unitOf(resource)}`;
}

/** Return "1.5 MiB": a size in the largest unit that leaves a whole part. */
export function bytes(value: number): string {
  const size = Math.abs(value);
  const step = size < 1024 ? 0 : Math.min(6, Math.floor(Math.log2(size) / 10));
  const unit = BINARY[step] ?? "B";
  return `${formatNumber(value / 1024 ** step, 1)}\u00a0${unit}`;
}

/** Return an amount as manifests write it: "1500m", "4", "64Gi". */
export function quotaText(resource: string, value: number): string {
  if (resource === "cpu") return value % 1000 === 0 ? String(value / 1000) : `${value}m`;
  if (!BYTES.test(resource)) return String(value);
  const power = [4, 3, 2, 1].find((step) => value !== 0 && value % 1024 ** step === 0);
  return power === undefined ? String(value) : `${value / 1024 ** power}${["", "Ki", "Mi", "Gi", "Ti"][power] ?? ""}`;
}

/** Return the smallest step by which people change an amount of a resource. */
export function stepOf(resource: string, value: number): number {
  if (isMilli(resource)) return value < 4000 ? 100 : 1000;
  if (BYTES.test(resource)) return value < 4 * 2 ** 30 ? 2 ** 28 : 2 ** 30;
  return 1;
}

/** Return the resource that says most about a request: a device, else cpu, else any. */
export function mainResource(amounts: Amounts): string {
  const names = Object.keys(amounts).filter((name) => amount(amounts[name]) > 0);
  const device = names.find((name) => name.includes("/"));
  return device ?? names.find(isMilli) ?? names[0] ?? "cpu";
}

/** Return "4 × 8 GPU" or "8 GPU": what a pod set asks, in its main resource. */
export function asks(count: number, requests: Amounts, resource?: string): string {
  const name = resource ?? mainResource(requests);
  const one = quantity(name, amount(requests[name]));
  return count === 1 ? one : `${formatNumber(count)}\u00a0×\u00a0${one}`;
}

/** Return resources in the order in which people read them: devices, cpu, memory. */
export function orderResources(names: Iterable<string>): string[] {
  return [...new Set(names)].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

function rank(resource: string): number {
  if (resource.includes("/")) return 0;
  if (isMilli(resource)) return 1;
  return resource === "memory" ? 2 : resource === "pods" ? 4 : 3;
}
