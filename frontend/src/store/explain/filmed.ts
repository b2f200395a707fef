// Which decisions are films, and where a film is: small, for the first view has it.

import { address } from "@/lib/address.svelte";
import type { EventLine } from "@/protocol/types";
import { kindOf } from "@/store/rows/eventKinds";

// Of a preemption the preemptor's cycle is shown.
const rank = (event: Pick<EventLine, "type" | "by">): number => (event.type === "Preempt" && event.by === "" ? 0 : (kindOf(event.type).film ?? 0));

/** Return whether an event is a film. */
export const isFilmed = (event: Pick<EventLine, "type" | "by">): boolean => rank(event) > 0;

/** Return the event of a tick whose film says most of it. */
export function filmAt(events: readonly EventLine[], tick: number): EventLine | undefined {
  return events.filter((event) => event.tick === tick && isFilmed(event)).sort((a, b) => rank(a) - rank(b))[0];
}

/** Return where the film of an event, or of an object as it would be tried at the tick shown, is on top of the view shown. */
export function filmHref(of: string | Pick<EventLine, "revision" | "seq">): string {
  const query = new URLSearchParams(address.query);
  query.set("film", typeof of === "string" ? of : `${of.revision}.${of.seq}`);
  query.delete("step");
  query.delete("other");
  return `${address.path}?${query.toString()}`;
}
