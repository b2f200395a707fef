// Where a long name may be shortened; pure.

const SHORT = 5; // a name of this length is left whole
const NUMBERED = /[-_./](?=[^-_./]*\d)[^-_./]{1,8}$/;
const LAST = 4;

/** Return a name in two parts: the first may be cut, the second distinguishes it from its neighbours. */
export function splitName(name: string): readonly [string, string] {
  if (name.length <= SHORT) return [name, ""];
  const at = name.search(NUMBERED);
  const from = at > 0 ? at : name.length - LAST;
  return [name.slice(0, from), name.slice(from)];
}

/** Return a name in at most so many letters: its middle goes, its end distinguishes it. */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const [start, end] = splitName(name);
  return `${start.slice(0, Math.max(1, most - end.length - 1))}…${end}`;
}
