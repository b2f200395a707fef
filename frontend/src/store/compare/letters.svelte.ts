// The letters of the branches that are compared: each keeps its own, with its ink and dash.

const DEFAULT = "ABCD";

class Letters {
  /** By the branch's place in the headline; empty: the places' own letters. */
  names = $state.raw<readonly string[]>([]);
}

export const letters = new Letters();

/** Return the letter of the branch in a place. */
export function letterOf(at: number): string {
  return letters.names[at] ?? DEFAULT.charAt(at);
}

/** Return the ink of the branch in a place: that of its letter, while every letter has one. */
export function inkOf(at: number): string {
  const known = letters.names.every((name) => name.length === 1 && DEFAULT.includes(name));
  return known ? letterOf(at) : DEFAULT.charAt(at);
}
