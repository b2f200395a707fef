// What a what-if comes to, to take elsewhere: kubectl commands of its changes, its verdict as Markdown; pure.

import { orderResources, unitOf } from "@/lib/amounts";
import { span } from "@/lib/times";
import { formatNumber, t } from "@/lib/words.svelte";
import type { Json } from "@/net/rest";
import { toYaml } from "@/lib/yaml";
import type { WhatIfState } from "@/protocol/types";
import type { Part } from "@/store/edits/changes";
import { describe } from "@/store/edits/describe";
import { GROUPS, rowsIn, shiftOf } from "@/store/edits/verdict";

const KUBECTL = ["cordon", "uncordon", "drain"];

/** Return the commands that make the changes in a cluster; what no command makes is a comment that says so. */
export function commandsOf(parts: readonly Part[]): string {
  return parts.map(commandOf).join("\n");
}

function commandOf(part: Part): string {
  if ("patch" in part) return `kubectl patch ${placeOf(part.patch)} --type merge -p ${quoted(part.patch.body)}`;
  if ("delete" in part) return `kubectl delete ${placeOf(part.delete)}`;
  if ("apply" in part && part.apply["kind"] !== "Policy") return `kubectl apply -f - <<'EOF'\n${toYaml(part.apply)}EOF`;
  if ("node" in part && KUBECTL.includes(part.node.change)) {
    return `kubectl ${part.node.change} ${word(part.node.name)}${part.node.change === "drain" ? " --ignore-daemonsets --delete-emptydir-data" : ""}`;
  }
  return `# ${t("pair.noCommand", { change: describe(part).replaceAll("\n", " ") })}`;
}

function placeOf({ kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string }): string {
  return `${word(kind.toLowerCase())} ${word(name)}${namespace === "" ? "" : ` -n ${word(namespace)}`}`;
}

const quoted = (body: Json): string => single(JSON.stringify(body));
const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
// Names come with files of others: a shell must not read more in one than a word.
const word = (text: string): string => (/^[\w.:-]+$/.test(text) ? text : single(text));

/** Return the verdict of the first seed for a pull request: the changes, the figures, and everybody whose start moves. */
export function markdownOf(said: readonly string[], found: WhatIfState): string {
  const head = [`### ${t("pair.since", { tick: found.at })}`, "", ...said.map((one) => `- ${one}`), ""];
  const seed = found.verdict?.seeds[0];
  if (seed === undefined || !seed.verdict.differs) return [...head, t("pair.same", { span: span(found.horizonMs) }), ""].join("\n");
  const { verdict, without, changed } = seed;
  const figure = (name: string, after: number | null, before: number | null, digits = 0): string =>
    `| ${name} | ${after === null ? "–" : formatNumber(after, digits)} | ${before === null ? "–" : formatNumber(before, digits)} |`;
  const table = [
    `| | ${t("pair.with")} | ${t("pair.without")} |`,
    "| --- | ---: | ---: |",
    figure(t("pair.fig.waiting"), changed.waiting, without.waiting),
    figure(t("measure.preemptions"), verdict.changed.preemptions, verdict.without.preemptions),
    figure(t("measure.finished"), verdict.changed.finished, verdict.without.finished),
    figure(t("pair.fig.jain"), changed.jain, without.jain, 3),
    ...(changed.largestShareQueue + without.largestShareQueue === "" ? [] : [figure(t("pair.fig.largest"), changed.largestShare, without.largestShare)]),
    ...orderResources([...Object.keys(changed.idleHours), ...Object.keys(without.idleHours)]).filter((name) => name.includes("/") || name === "cpu").map((name) => figure(t("pair.fig.idle", { resource: unitOf(name) }), changed.idleHours[name] ?? null, without.idleHours[name] ?? null, 1)),
  ];
  const rows = GROUPS.flatMap((group) => {
    const found = rowsIn(verdict, group);
    if (found.length === 0) return [];
    const names = found.map((row) => {
      const shift = shiftOf(row);
      return `\`${row.subject.split("/").slice(1).join("/")}\`${shift === null ? "" : ` (${shift.atLeast ? "≥ " : ""}${span(shift.ms)})`}`;
    });
    return ["", `**${formatNumber(found.length)} ${t(`pair.${group}`)}**: ${names.join(", ")}`];
  });
  return [...head, ...table, ...rows, ""].join("\n");
}
