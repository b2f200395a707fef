// The live connection, over a WebSocket that the test speaks through.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { SandboxSocket } from "@/net/socket";

class Wire extends EventTarget {
  static readonly OPEN = 1;
  static opened: Wire[] = [];
  readyState = Wire.OPEN;
  constructor() {
    super();
    Wire.opened.push(this);
  }
  send(): void {}
  close(): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code: 1000, reason: "" }));
  }
  arrives(data: string): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

/** A connection that is open, its wire, and every state it was in. */
function connected(): { wire: Wire; states: string[]; taken: string[] } {
  const states: string[] = [];
  const taken: string[] = [];
  new SandboxSocket("1", {
    message: (message) => taken.push(message.type) > 0,
    since: () => null,
    state: (state, why) => states.push(`${state} ${why}`.trim()),
  });
  const wire = Wire.opened[0];
  if (wire === undefined) throw new Error("expected a WebSocket to be opened");
  wire.dispatchEvent(new Event("open"));
  return { wire, states, taken };
}

const NEWS = JSON.stringify({ type: "status", level: "live", message: "", said: null });

describe("a message that is not of this page's protocol", () => {
  beforeEach(() => {
    Wire.opened = [];
    vi.useFakeTimers();
    vi.stubGlobal("WebSocket", Wire);
    vi.stubGlobal("location", { protocol: "http:", host: "here" });
    vi.stubGlobal("addEventListener", () => undefined);
    vi.stubGlobal("removeEventListener", () => undefined);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it.each(['{"type":"page_state","revision":"seven"}', "<html>"])("ends the connection, and says so: %s", (text) => {
    const { wire, states } = connected();
    wire.arrives(text);
    expect(states.at(-1)).toMatch(/^differs message/);
  });
  it("is not asked for again, and nothing after it is shown", () => {
    const { wire, taken } = connected();
    wire.arrives("{}");
    wire.arrives(NEWS);
    vi.runAllTimers();
    expect([Wire.opened.length, taken]).toEqual([1, []]);
  });
  it("is none that the page knows", () => {
    const { wire, states, taken } = connected();
    wire.arrives(NEWS);
    expect([states.at(-1), taken]).toEqual(["live", ["status"]]);
  });
});
