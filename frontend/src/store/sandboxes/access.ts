// Who gets in: links, members, visibility, one's own tokens, and who one is.

import { ask, request } from "@/net/rest";
import type { Link, MadeToken, Me, Member, MemberRole, NewLink, NewToken, ScopeEnum, Token } from "@/protocol/types";

const DAY_MS = 86_400_000;

/** What the owner of a sandbox granted to others. */
export interface AccessGrants {
  readonly open: boolean; // everybody who signed in may look and fork
  readonly links: readonly Link[];
  readonly members: readonly Member[];
}

/** Return who asks, and whether this is a server that people sign in to. */
export function fetchMe(): Promise<Me> {
  return ask("Me", "GET", "/me");
}

/** Return who may get into a sandbox, to its owner; null to anybody else. */
export async function fetchAccess(id: string): Promise<AccessGrants | null> {
  const sandbox = await ask("Sandbox", "GET", `/sandboxes/${id}`);
  if (sandbox.role !== "owner") return null;
  const [links, members] = await Promise.all([
    ask("LinkList", "GET", `/sandboxes/${id}/shares`),
    ask("MemberList", "GET", `/sandboxes/${id}/members`),
  ]);
  return {
    open: sandbox.visibility === "public",
    links: links.items,
    members: members.items,
  };
}

export async function showTo(id: string, open: boolean): Promise<void> {
  await request("PATCH", `/sandboxes/${id}`, { body: { visibility: open ? "public" : "private" } });
}

export async function letIn(id: string, user: string, role: MemberRole): Promise<void> {
  await request("PUT", `/sandboxes/${id}/members/${encodeURIComponent(user)}`, { body: { role } });
}

export async function letOut(id: string, user: string): Promise<void> {
  await request("DELETE", `/sandboxes/${id}/members/${encodeURIComponent(user)}`);
}

// What stands behind the # of an address is kept by the browser: no server, proxy or log gets it.

/** Make a link that ends after `days` (0 = never). Returns its address, shown this once. */
export async function makeLink(id: string, mayFork: boolean, days: number): Promise<string> {
  const body = { mayFork, event: "", expiresAt: inDays(days) } satisfies NewLink;
  const made = await ask("MadeLink", "POST", `/sandboxes/${id}/shares`, { body });
  return `${location.origin}/share#${made.secret}`;
}

/** Make a link that shows one decision in another page, to whoever has it. Returns its address. */
export async function makeEmbed(id: string, event: string): Promise<string> {
  const made = await ask("MadeLink", "POST", `/sandboxes/${id}/shares`, { body: { mayFork: false, event, expiresAt: null } satisfies NewLink });
  return `${location.origin}/embed#${made.secret}`;
}

export async function takeBack(id: string, link: number): Promise<void> {
  await request("DELETE", `/sandboxes/${id}/shares/${link}`);
}

/** Open a link that one was given. Returns the sandbox behind it. */
export async function openShare(secret: string): Promise<string> {
  return (await ask("Sandbox", "POST", "/shares/open", { body: { secret } })).id;
}

export async function fetchTokens(): Promise<readonly Token[]> {
  return (await ask("TokenList", "GET", "/tokens")).items;
}

/** Make a token that ends after `days` (0 = never). Its secret is shown this once. */
export function makeToken(name: string, scope: ScopeEnum, days: number): Promise<MadeToken> {
  const body = { name, scope, expiresAt: inDays(days) } satisfies NewToken;
  return ask("MadeToken", "POST", "/tokens", { body });
}

export async function revokeToken(id: number): Promise<void> {
  await request("DELETE", `/tokens/${id}`);
}

/** Return the value that a form of this page must send along. */
export function formKey(): string {
  return /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
}

function inDays(days: number): string | null {
  return days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}
