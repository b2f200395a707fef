// A verdict as one file of HTML that needs nothing from elsewhere; pure.

import { orderResources, unitOf } from "@/lib/amounts";
import { span } from "@/lib/times";
import { formatNumber, t } from "@/lib/words.svelte";
import type { RunCourse, WhatIfState } from "@/protocol/types";
import { GROUPS, lifeParts, rowsIn } from "@/store/edits/verdict";

const STYLE = "body{font:14px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#1a2332}table{border-collapse:collapse;width:100%}td,th{padding:3px 8px;border-bottom:1px solid #d9dee5;text-align:left}td.n,th.n{text-align:right}pre{padding:8px;background:#f3f4f7;overflow:auto}svg{display:block;width:240px;height:20px}";

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Return the verdict of the first seed as a page: the changes, the figures, and both lives of everybody whose course differs. */
export function htmlOf(title: string, said: readonly string[], commands: string, found: WhatIfState, language: string): string {
  const head = `${title}: ${t("pair.since", { tick: found.at })}`;
  const seed = found.verdict?.seeds[0];
  const parts = [`<h1>${escaped(head)}</h1>`, `<ul>${said.map((one) => `<li>${escaped(one)}</li>`).join("")}</ul>`];
  if (seed === undefined || !seed.verdict.differs) parts.push(`<p>${escaped(t("pair.same", { span: span(found.horizonMs) }))}</p>`);
  else {
    const { verdict, without, changed } = seed;
    const row = (name: string, after: number | null, before: number | null, digits = 0): string =>
      `<tr><td>${escaped(name)}</td><td class=n>${after === null ? "–" : formatNumber(after, digits)}</td><td class=n>${before === null ? "–" : formatNumber(before, digits)}</td></tr>`;
    const resources = orderResources([...Object.keys(changed.idleHours), ...Object.keys(without.idleHours)]).filter((name) => name.includes("/") || name === "cpu");
    parts.push(
      `<table><tr><th></th><th class=n>${escaped(t("pair.with"))}</th><th class=n>${escaped(t("pair.without"))}</th></tr>`,
      row(t("pair.fig.waiting"), changed.waiting, without.waiting),
      row(t("measure.preemptions"), verdict.changed.preemptions, verdict.without.preemptions),
      row(t("measure.finished"), verdict.changed.finished, verdict.without.finished),
      row(t("pair.fig.jain"), changed.jain, without.jain, 3),
      ...(changed.largestShareQueue + without.largestShareQueue === "" ? [] : [row(t("pair.fig.largest"), changed.largestShare, without.largestShare)]),
      ...resources.map((name) => row(t("pair.fig.idle", { resource: unitOf(name) }), changed.idleHours[name] ?? null, without.idleHours[name] ?? null, 1)),
      "</table>",
    );
    const FILL = { waits: 'fill="#d9dee5"', runs: 'fill="#4a5568"', lost: 'fill="#b3202f" fill-opacity="0.5"' } as const;
    const bar = (course: RunCourse | null, y: number, ghost: boolean): string =>
      lifeParts(course, verdict.fromMs, verdict.toMs).map(({ kind, left, width }) => `<rect x="${left}" y="${y}" width="${width}" height="7" ${ghost && kind !== "waits" ? 'fill="none" stroke="#5a6676" stroke-dasharray="3 2"' : FILL[kind]}/>`).join("");
    for (const group of GROUPS) {
      const rows = rowsIn(verdict, group);
      if (rows.length === 0) continue;
      parts.push(`<h2>${formatNumber(rows.length)} ${escaped(t(`pair.${group}`))}</h2><table>`);
      for (const one of rows) {
        const lives = `<svg viewBox="0 0 100 18" preserveAspectRatio="none">${bar(one.changed, 1, false)}${bar(one.without, 10, true)}</svg>`;
        parts.push(`<tr><td>${escaped(one.subject.split("/").slice(1).join("/"))}</td><td>${lives}</td></tr>`);
      }
      parts.push("</table>");
    }
  }
  parts.push(`<pre>${escaped(commands)}</pre>`);
  return `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${escaped(head)}</title><style>${STYLE}</style><body>${parts.join("\n")}</body></html>\n`;
}
