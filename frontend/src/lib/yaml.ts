// Plain documents as YAML text, for reading and for editing; the server reads it back.

const PLAIN = /^[A-Za-z_/][\w./ -]*[\w./]$|^[A-Za-z]$/;
const WORDS = /^(true|false|null|yes|no|on|off|~|y|n)$/i;

/** Return a document of maps, lists and plain values as YAML. */
export function toYaml(value: unknown): string {
  return `${emit(value, 0)}\n`;
}

function emit(value: unknown, depth: number): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : listOf(value, depth);
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    return entries.length === 0 ? "{}" : mapOf(entries, depth);
  }
  return scalar(value);
}

function mapOf(entries: readonly [string, unknown][], depth: number): string {
  const pad = "  ".repeat(depth);
  return entries
    .map(([key, item], at) => {
      const text = emit(item, depth + 1);
      const head = `${at === 0 ? "" : pad}${scalar(key)}:`;
      return isBlock(item) ? `${head}\n${"  ".repeat(depth + 1)}${text}` : `${head} ${text}`;
    })
    .join("\n");
}

function listOf(items: readonly unknown[], depth: number): string {
  const pad = "  ".repeat(depth);
  return items.map((item, at) => `${at === 0 ? "" : pad}- ${emit(item, depth + 1)}`).join("\n");
}

function isBlock(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length > 0;
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
}
