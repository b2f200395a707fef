// What holds the same stays the same object, so that nobody who reads it is asked again; pure.

/** Return `next`, or `before` where both hold the same in the same order. O(length). */
export function sameList<T>(before: readonly T[], next: readonly T[]): readonly T[] {
  return next.length === before.length && next.every((one, at) => one === before[at]) ? before : next;
}

/** Return `next`, or `before` where both hold the same under the same keys. O(size). */
export function sameMap<K, V>(before: ReadonlyMap<K, V>, next: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  if (next.size !== before.size) return next;
  for (const [key, value] of next) if (!before.has(key) || before.get(key) !== value) return next;
  return before;
}
