// What the page says by itself: toasts that pass, and one polite live region.

export interface Toast {
  readonly id: number;
  readonly tone: "note" | "error";
  readonly text: string;
  readonly detail?: string;
  readonly acts?: readonly ToastAct[];
  readonly code?: readonly ToastCode[];
}
export interface ToastAct {
  readonly label: string;
  readonly run: () => void;
}
export interface ToastCode {
  readonly label: string;
  readonly text: string;
}

const MOST = 3;

class Announcer {
  toasts = $state.raw<readonly Toast[]>([]);
  announced = $state("");
}

export const voice = new Announcer();
let nextId = 1;

/** Show a toast, and return its id; errors stay until they are closed, a note until the next one or by itself. */
export function toast(message: Omit<Toast, "id">): number {
  const errors = voice.toasts.filter((shown) => shown.tone === "error" && shown.text !== message.text);
  const id = nextId++;
  voice.toasts = [...errors, { ...message, id }].slice(-MOST);
  return id;
}

/** Let a toast that is shown say something else; its buttons stay. */
export function retell(id: number, text: string): void {
  voice.toasts = voice.toasts.map((shown) => (shown.id === id ? { ...shown, text } : shown));
}

export function dismiss(id: number): void {
  voice.toasts = voice.toasts.filter((shown) => shown.id !== id);
}

/** Say a sentence to a screen reader; only own actions, never per tick. */
export function announce(sentence: string): void {
  voice.announced = sentence;
}

/** Copy a text; says so, or says why not. */
export async function copy(text: string, done: string, failed: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(done);
    toast({ tone: "note", text: done });
  } catch {
    toast({ tone: "error", text: failed, code: [{ label: "", text }] });
  }
}
