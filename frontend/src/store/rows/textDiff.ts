// The difference of two texts, line by line, with a little of what stays; pure.

export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

const AROUND = 2; // unchanged lines kept beside a change
const LONGEST = 4000; // lines; beyond it the whole text counts as changed

/** Return the changed lines of `after` against `before`. O(lines²) at worst. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const rest = Math.min(old.length, now.length) - head;
  while (tail < rest && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const middle = align(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const kept = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return [
    ...kept(old.slice(Math.max(0, head - AROUND), head)),
    ...middle,
    ...kept(old.slice(old.length - tail, old.length - tail + AROUND)),
  ];
}

// Longest common run of lines, by the usual table from the back.
function align(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > LONGEST * LONGEST) return replaced(old, now);
  const width = now.length + 1;
  const table = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      table[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      lines.push({ sign: " ", text: old[i++] ?? "" });
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ sign: "-", text: old[i++] ?? "" });
    else lines.push({ sign: "+", text: now[j++] ?? "" });
  }
  return [...lines, ...replaced(old.slice(i), now.slice(j))];
}

function replaced(old: readonly string[], now: readonly string[]): DiffLine[] {
  const gone = old.map((text): DiffLine => ({ sign: "-", text }));
  const added = now.map((text): DiffLine => ({ sign: "+", text }));
  return [...gone, ...added];
}
