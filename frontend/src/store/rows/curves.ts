// Samples as lines for charts: share, usage and pending per queue; pure.

import { amount } from "@/lib/amounts";
import type { Sample } from "@/protocol/types";

export interface Lines {
  readonly ticks: readonly number[];
  readonly names: readonly string[];
  readonly values: readonly (readonly (number | null)[])[]; // per name, per tick
}

const MOST_POINTS = 1200;

/** Return every n-th sample, so that no chart holds more points than pixels. */
export function thinned(samples: readonly Sample[]): readonly Sample[] {
  const size = Math.ceil(samples.length / MOST_POINTS);
  if (size <= 1) return samples;
  return samples.filter((_, index) => index % size === 0 || index === samples.length - 1);
}

/** Return the weighted share of each queue over time; infinite ones are gaps. */
export function shareLines(samples: readonly Sample[], names: readonly string[]): Lines {
  return linesOf(samples, names, (queue) => queue?.share ?? null);
}

/** Return what each queue uses of a resource over time. */
export function usageLines(samples: readonly Sample[], names: readonly string[], resource: string): Lines {
  return linesOf(samples, names, (queue) => amount(queue?.used[resource]));
}

type QueueAt = Sample["queues"][number] | undefined;

function linesOf(
  samples: readonly Sample[],
  names: readonly string[],
  pick: (queue: QueueAt) => number | null,
): Lines {
  const kept = thinned(samples);
  const found = kept.map((sample) => new Map(sample.queues.map((queue) => [queue.queue, queue])));
  return {
    ticks: kept.map((sample) => sample.tick),
    names,
    values: names.map((name) => found.map((queues) => pick(queues.get(name)))),
  };
}

/** Return used of capacity in percent, per resource. */
export function utilisationLines(samples: readonly Sample[], resources: readonly string[]): Lines {
  const kept = thinned(samples);
  return {
    ticks: kept.map((sample) => sample.tick),
    names: resources,
    values: resources.map((resource) =>
      kept.map((sample) => {
        const all = amount(sample.capacity[resource]);
        return all === 0 ? null : (100 * amount(sample.used[resource])) / all;
      }),
    ),
  };
}
