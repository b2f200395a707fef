// An object's fields while they are edited: what was typed, what the server says of it; what it does is a draft of the what-if.

import { SvelteMap } from "svelte/reactivity";

import { Refusal, type Json } from "@/net/rest";
import { t } from "@/lib/words.svelte";
import { changeText } from "@/store/edits/changes";
import { checkPatch } from "@/store/edits/edits";
import { nameOf } from "@/store/live/intents";
import { seenOf } from "@/store/edits/manifest";
import { abandon, change, draft, letGo, objectChange } from "@/store/edits/whatIf.svelte";
import { fieldAt, fieldsOf, patchOf, placeOf, type ManifestField } from "@/store/edits/fields";

/** Return what people call a field. */
export function labelOf(field: ManifestField): string {
  return field.word === "" ? field.name : t(field.word);
}

/** One object's fields; `load` reads them, `look` checks what was typed, `apply` does it. */
export class FieldEdit {
  readonly key: string;
  manifest = $state.raw<Json | null>(null);
  readonly texts = new SvelteMap<string, string>(); // by place
  problems = $state.raw<ReadonlyMap<string, string>>(new Map()); // by place; "" is the whole
  busy = $state(false);
  readonly fields = $derived.by(() => (this.manifest === null ? [] : fieldsOf(this.manifest, nameOf(this.key))));
  readonly changes = $derived(this.fields.flatMap((field) => this.#change(field)));
  readonly patch = $derived(
    this.manifest === null || this.changes.length === 0 ? null : patchOf(this.manifest, this.changes),
  );
  /** What was typed, as a change. */
  readonly change = $derived.by(() => {
    const said = this.changes.map(([field, text]) => changeText([field.group, labelOf(field)].filter(Boolean).join(" · "), field.text, text));
    return this.patch === null ? null : { ...objectChange(this.key, this.patch, said), seen: this.#seen };
  });
  readonly groups = $derived(grouped(this.fields));

  #reading: object | null = null; // the newest read; an older one that comes later is left
  #looks = false; // what was typed is the draft
  #seen = 0; // the revision of the manifest

  constructor(key: string) {
    this.key = key;
  }

  #change(field: ManifestField): [ManifestField, string][] {
    const typed = this.texts.get(placeOf(field.path))?.trim();
    return typed === undefined || typed === field.text ? [] : [[field, typed]];
  }

  /** Read the object that is shown; what was typed in a field stays while that field is as it was. */
  async load(): Promise<void> {
    const mine = (this.#reading = {});
    try {
      const { manifest, revision } = await seenOf(this.key);
      if (mine !== this.#reading) return;
      const before = new Map(this.fields.map((field) => [placeOf(field.path), field.text]));
      [this.manifest, this.#seen] = [manifest, revision];
      const now = new Map(this.fields.map((field) => [placeOf(field.path), field.text]));
      for (const [place, typed] of this.texts) if (now.get(place) === typed || now.get(place) !== before.get(place)) this.texts.delete(place);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Ask what is wrong with what was typed, where the run stands; where nothing is, look at what it does. */
  async look(now: boolean, signal: AbortSignal): Promise<void> {
    const { patch, change: typed } = this;
    if (patch === null || typed === null) return;
    try {
      if (now) await checkPatch(this.key, patch, signal);
      if (signal.aborted) return;
      this.#looks = true;
      await draft(typed);
    } catch (error) {
      if (!signal.aborted) this.#refuse(error);
    }
  }

  forget(): void {
    this.problems = new Map();
    if (this.#looks) abandon();
  }

  /** The form is left: what was typed is no draft any more. */
  leave(): void {
    if (this.#looks) letGo();
    this.#looks = false;
  }

  #refuse(error: unknown): void {
    const causes = error instanceof Refusal ? error.causes : [];
    const found = causes.map((cause): [string, string] => {
      const field = fieldAt(this.fields, cause.field);
      return [field === undefined ? "" : placeOf(field.path), cause.message];
    });
    this.problems = new Map(found.length > 0 ? found : [["", error instanceof Error ? error.message : String(error)]]);
  }

  async apply(): Promise<void> {
    const made = this.change;
    if (made === null) return;
    this.busy = true;
    this.#looks = false;
    if (await change(made.said, made.parts, made.seen)) await this.load();
    this.busy = false;
  }
}

function grouped(fields: readonly ManifestField[]): [string, ManifestField[]][] {
  const groups = new Map<string, ManifestField[]>();
  for (const field of fields) groups.set(field.group, [...(groups.get(field.group) ?? []), field]);
  return [...groups];
}
