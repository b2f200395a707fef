// The keyboard: single keys and "g x" pairs, with the list of them that `?` shows.

import { SvelteMap } from "svelte/reactivity";

import type { Word } from "@/lib/words.svelte";

export interface Binding {
  readonly keys: string; // as event.key, "Shift z", "Ctrl k", or "g b"
  readonly word: Word;
  readonly run: () => void;
}

const PAIR_MS = 900;
/** What Space presses; a group or a toolbar that a control stands in is none. */
const PRESSED = "button, input, select, summary, [role=button], [role=option], [role=tab], [role=slider], [role=combobox]";

class Keyboard {
  readonly bindings = new SvelteMap<string, Binding>();
  helpOpen = $state(false);
  paletteOpen = $state(false);
  /** What is typed while the palette is on its way: it is sought there, and is no command. */
  ahead = $state("");
  /** A form was asked for and is on its way: what is typed meanwhile is no command. */
  coming = $state(false);
}

export const keyboard = new Keyboard();
let leader: { key: string; atMs: number } | null = null;

/** Bind keys while a view lives. Returns the way to let them go. */
export function bind(bindings: readonly Binding[]): () => void {
  for (const binding of bindings) keyboard.bindings.set(binding.keys, binding);
  return () => {
    for (const binding of bindings) {
      if (keyboard.bindings.get(binding.keys) === binding) keyboard.bindings.delete(binding.keys);
    }
  };
}

/** Begin to listen; call once. */
export function startKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const keys = nameOf(event);
    // A dialog or a menu that is open has the keys, and Esc closes it before anything else.
    if (document.querySelector(keys === "Escape" ? "dialog[open], [popover]:popover-open" : "dialog[open]") !== null) return;
    if (keyboard.paletteOpen) {
      if (keys === "Escape") [keyboard.paletteOpen, keyboard.ahead] = [false, ""];
      else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) keyboard.ahead += event.key;
      event.preventDefault();
      return;
    }
    if (keyboard.coming) {
      if (keys === "Escape") keyboard.coming = false;
      if (!event.ctrlKey && !event.metaKey) event.preventDefault();
      return;
    }
    if (isTyping(event.target) && keys !== "Ctrl k" && !leaves(event.target, keys)) return;
    const binding = keyboard.bindings.get(pairWith(keys, event.timeStamp)) ?? plain(event, keys);
    if (binding === undefined) return;
    event.preventDefault();
    binding.run();
  });
}

function plain(event: KeyboardEvent, keys: string): Binding | undefined {
  // Space and Enter belong to the control that has the focus, Enter to a link too, arrows to one that is set by them.
  if ((keys === " " || keys === "Enter") && event.target instanceof Element && event.target.closest(keys === " " ? PRESSED : `${PRESSED}, a`) !== null) return undefined;
  if (event.target instanceof HTMLInputElement && /^(Arrow.*|Home|End)$/.test(keys)) return undefined;
  return keyboard.bindings.get(keys);
}

function nameOf(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey ? "Ctrl " : "";
  const shift = event.shiftKey && /^([a-zA-Z]|Arrow.*)$/.test(event.key) ? "Shift " : "";
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return `${control}${event.altKey ? "Alt " : ""}${shift}${key}`;
}

function pairWith(keys: string, atMs: number): string {
  const first = leader;
  leader = keys === "g" ? { key: keys, atMs } : null;
  const inTime = first !== null && atMs - first.atMs < PAIR_MS;
  return inTime ? `${first.key} ${keys}` : "";
}

/** Return whether a key press belongs to a field that is being filled in. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|range|button|submit|file)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

// Esc leaves a field, the next one closes what it stands in; a choice has nothing of its own to undo.
function leaves(target: EventTarget | null, keys: string): boolean {
  if (keys === "Escape" && target instanceof HTMLElement) target.blur();
  return target instanceof HTMLSelectElement && keys.startsWith("Ctrl ");
}

/** Move the focus inside a group of items by arrow keys (roving tabindex). */
export function rove(event: KeyboardEvent, selector: string): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const group = event.currentTarget;
  if (step === undefined || !(group instanceof HTMLElement)) return;
  const items = [...group.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = items[Math.max(0, Math.min(items.length - 1, at + step))];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
}
