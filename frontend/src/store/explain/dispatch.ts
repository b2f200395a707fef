// What a worker cluster says of a dispatched workload, as a word of the page. Pure.

const STATES = ["admitted", "reserved", "pending", "lost", "missing", "absent", "unasked", "dropped", "taken"] as const;
type State = (typeof STATES)[number];

/** Return the word for the state of a cluster; of one that is not known, that it was not asked. */
export function dispatchWord(state: string): `dispatch.${State}` {
  return `dispatch.${STATES.find((known) => known === state) ?? "unasked"}`;
}
