// What the panel of a lesson says in each of its states: nothing of an answer before its bet is closed.

import type { Checkpoint } from "@/protocol/types";

type Seen = ReadonlySet<number>;
const asks = (stop: Checkpoint): boolean => Object.keys(stop.answer).length > 0;

/** Return the first stop whose question is open; the number of stops where every answer was seen. */
export function openStop(stops: readonly Checkpoint[], revealed: Seen): number {
  const found = stops.findIndex((stop, index) => asks(stop) && !revealed.has(index));
  return found < 0 ? stops.length : found;
}

/** Return whether a stop's line may stand in the list: the next stop tells how the question before it came out. */
export const isTold = (stops: readonly Checkpoint[], revealed: Seen, index: number): boolean => index <= openStop(stops, revealed);

/** Return whether the summary may be read: it says what the lesson comes to. */
export const isSummedUp = (stops: readonly Checkpoint[], revealed: Seen): boolean => openStop(stops, revealed) === stops.length;
