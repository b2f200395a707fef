// Reading a reactive value for its news alone.

/** Say that an effect runs again when these values change; returns how many. */
export function dependsOn(...values: readonly unknown[]): number {
  return values.length;
}
