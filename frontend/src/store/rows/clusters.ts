// Worker clusters: their objects carry the cluster before their name; pure.

const MARK = ":";

/** Return the worker cluster that a name is of; "" for the manager's own. */
export function clusterOf(name: string): string {
  const at = name.indexOf(MARK);
  return at < 0 ? "" : name.slice(0, at);
}
