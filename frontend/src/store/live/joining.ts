// Joining a lesson: the code, and who this browser is in it.

import { keepHere, keptHere } from "@/lib/keep";
import { ask } from "@/net/rest";
import { attempt } from "@/store/live/intents";

/** Join by a code. Returns the sandbox to open, or null when it was refused. */
export async function joinLesson(code: string, notes: boolean, name?: string): Promise<string | null> {
  const follower = keptHere("follower") ?? "";
  const answer = await attempt(() => ask("Joined", "POST", "/lessons/join", { body: { code, follower, notes, ...(name === undefined ? {} : { name: name.trim() }) } }));
  if (answer === null) return null;
  const { sandbox, follower: key, number } = answer;
  keepHere("follower", key);
  keepHere(`follows.${sandbox}`, key);
  keepHere(`number.${sandbox}`, String(number));
  return sandbox;
}
