// The live connection to one sandbox: connects, resumes where it was, connects again.

import { Refusal, request } from "@/net/rest";
import { parsed, ProtocolError } from "@/protocol/checked";
import type { Hello, ServerMessage } from "@/protocol/types";
import { isServerMessage } from "virtual:checks/live";

/** `differs`: a message was not of this page's protocol; only a reload ends that. */
export type SocketState = "connecting" | "live" | "reconnecting" | "closed" | "differs";

export interface Listener {
  /** Take in a message; return false when the page needs a whole state. */
  readonly message: (message: ServerMessage) => boolean;
  /** The revision that diffs may start from, or null for a whole state. */
  readonly since: () => number | null;
  readonly state: (state: SocketState, why: string) => void;
}

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 8_000;
const NO_SUCH_SANDBOX = 4404;
const NOT_ALLOWED = 4403;

/** One connection; `close` ends it for good. */
export class SandboxSocket {
  readonly #sandbox: string;
  readonly #url: string;
  readonly #listener: Listener;
  #socket: WebSocket | null = null;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #closed = false;

  constructor(sandbox: string, listener: Listener) {
    this.#sandbox = sandbox;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.#url = `${scheme}://${location.host}/ws/sandboxes/${sandbox}`;
    this.#listener = listener;
    this.#open();
    addEventListener("online", this.#now);
    addEventListener("offline", this.#gone);
  }

  close(): void {
    this.#end("closed", "");
  }

  #end(state: SocketState, why: string): void {
    this.#closed = true;
    removeEventListener("online", this.#now);
    removeEventListener("offline", this.#gone);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#socket?.close();
    this.#listener.state(state, why);
  }

  readonly #now = (): void => {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#open();
  };

  /** The machine has no network: a socket would not say so for minutes. */
  readonly #gone = (): void => {
    const socket = this.#socket;
    this.#socket = null; // what it still says is not heard
    socket?.close();
    if (this.#timer === null) this.#lost({ code: 0, reason: "" });
  };

  #open(): void {
    if (this.#closed) return;
    const socket = new WebSocket(this.#url);
    let opened = false;
    this.#socket = socket;
    this.#listener.state(this.#tries === 0 ? "connecting" : "reconnecting", "");
    socket.addEventListener("open", () => {
      if (socket !== this.#socket) return;
      opened = true;
      this.#opened();
    });
    socket.addEventListener("message", (event) => socket === this.#socket && this.#receive(String(event.data)));
    socket.addEventListener("close", (event) => {
      if (socket !== this.#socket) return;
      if (opened) this.#lost(event);
      else void this.#refused(event);
    });
  }

  #opened(): void {
    const since = this.#listener.since();
    this.#hello(since);
    // A page that is up to date gets no answer until something changes.
    if (since !== null) this.#live();
  }

  #live(): void {
    this.#tries = 0;
    this.#listener.state("live", "");
  }

  #hello(since: number | null): void {
    const hello: Hello = { type: "hello", since, views: [] };
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(hello));
  }

  #receive(text: string): void {
    if (this.#closed) return; // what was on its way when it ended
    try {
      const message = parsed(isServerMessage, text, "message");
      if (message.type !== "resync") this.#live();
      if (message.type === "resync" || !this.#listener.message(message)) this.#hello(null);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#end("differs", error.message);
    }
  }

  /** A refused handshake does not say why to a page, so the sandbox is asked for. */
  async #refused(event: CloseEvent): Promise<void> {
    try {
      await request("GET", `/sandboxes/${this.#sandbox}`);
    } catch (error) {
      if (error instanceof Refusal && error.code === 404 && !this.#closed) {
        this.#listener.state("closed", String(NO_SUCH_SANDBOX));
        return;
      }
    }
    this.#lost(event);
  }

  #lost(event: Pick<CloseEvent, "code" | "reason">): void {
    if (this.#closed) return;
    if (event.code === NO_SUCH_SANDBOX || event.code === NOT_ALLOWED) {
      this.#listener.state("closed", String(event.code));
      return;
    }
    this.#listener.state("reconnecting", event.reason);
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries++);
    // Spread out, so that a restarted server is not met by everyone at once.
    this.#timer = setTimeout(this.#now, wait * (0.7 + 0.6 * Math.random()));
  }
}
