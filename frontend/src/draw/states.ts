// The states a card can be in, in the order in which a column lists them.

export const STATES = [
  "pending",
  "inadmissible",
  "inactive",
  "reserved",
  "admitted",
  "evicted",
  "finished",
] as const;

export type State = (typeof STATES)[number];
