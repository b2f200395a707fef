// What comes from the server is checked against its schema before anything reads it.

interface Failure {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A compiled check: whether a value is a T, and where it is not. */
export interface Check<T> {
  (value: unknown): value is T;
  readonly errors?: readonly Failure[] | null;
}

/** An answer that is not of this protocol; says where and what was expected. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Return the value as a T; throws ProtocolError naming the field. `what` begins its path. */
export function checked<T>(check: Check<T>, value: unknown, what: string): T {
  if (check(value)) return value;
  const failure = check.errors?.[0];
  const path = what + (failure?.instancePath ?? "").replaceAll("/", ".");
  const expected = failure === undefined ? "another value" : `${failure.keyword} ${JSON.stringify(failure.params)}`;
  throw new ProtocolError(`${path}: the server of another version? expected ${expected}`);
}

/** Return the JSON of a text, checked. */
export function parsed<T>(check: Check<T>, text: string, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError(`${what}: expected JSON`);
  }
  return checked(check, value, what);
}
