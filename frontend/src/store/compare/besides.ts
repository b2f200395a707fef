// A stop of a lesson under other policies: a fork of each, run to one tick together.

import { record, request, text } from "@/net/rest";
import type { Checkpoint, Sandbox } from "@/protocol/types";
import { runAll } from "@/store/compare/branches";
import { attempt } from "@/store/live/intents";
import { fetchSandboxes } from "@/store/live/server";

interface Run {
  readonly id: string; // the sandbox of the lesson
  readonly now: number; // its tick
  readonly stopTick: number;
  readonly untilTick: number;
  readonly titles: readonly string[]; // of the policies, in their order
}

/** Run the policies of a stop beside the run; forks that are there already are used again. Returns the forks' ids, or null when something was refused. */
export async function runBesides(stop: Checkpoint, run: Run): Promise<readonly string[] | null> {
  const forks = await attempt(async () => {
    const known = await fetchSandboxes();
    const made: string[] = [];
    for (const [at, side] of stop.beside.entries()) {
      const title = run.titles[at] ?? "";
      made.push(known.find((one) => isFork(one, run.id, title))?.id ?? (await forkWith(run, title, side.policy)));
    }
    return made;
  });
  if (forks === null) return null;
  await runAll([...(run.now < run.untilTick ? [run.id] : []), ...forks], run.untilTick);
  return forks;
}

const isFork = (one: Sandbox, parent: string, title: string): boolean => one.parent === parent && one.title === title;

async function forkWith(run: Run, title: string, spec: unknown): Promise<string> {
  const answer = record(await request("POST", `/sandboxes/${run.id}/actions/fork`, { body: { tick: run.stopTick, title } }));
  const id = text(answer["id"]);
  await request("PATCH", `/sandboxes/${id}/policy`, { body: { spec } });
  return id;
}
