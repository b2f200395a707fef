// An object's fields while they are edited: what was typed, what the server says of it, what it would do.

import { SvelteMap } from "svelte/reactivity";

import { Refusal, type Json } from "@/net/rest";
import { t } from "@/lib/words.svelte";
import { changeText, checkPatch, foreseePatch } from "@/store/edits/edits";
import { nameOf } from "@/store/live/intents";
import { changeObject, manifestOf } from "@/store/edits/whatIf.svelte";
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
  foreseen = $state.raw<readonly string[]>([]);
  busy = $state(false);
  readonly fields = $derived.by(() => (this.manifest === null ? [] : fieldsOf(this.manifest, nameOf(this.key))));
  readonly changes = $derived(this.fields.flatMap((field) => this.#change(field)));
  readonly patch = $derived(
    this.manifest === null || this.changes.length === 0 ? null : patchOf(this.manifest, this.changes),
  );
  readonly groups = $derived(grouped(this.fields));

  constructor(key: string) {
    this.key = key;
  }

  #change(field: ManifestField): [ManifestField, string][] {
    const typed = this.texts.get(placeOf(field.path))?.trim();
    return typed === undefined || typed === field.text ? [] : [[field, typed]];
  }

  async load(): Promise<void> {
    try {
      this.manifest = await manifestOf(this.key);
      this.texts.clear();
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Ask what is wrong with a patch, and if nothing is, what it would do. */
  async look(patch: Json, signal: AbortSignal): Promise<void> {
    try {
      await checkPatch(this.key, patch, signal);
      this.foreseen = await foreseePatch(this.key, patch, signal);
    } catch (error) {
      if (!signal.aborted) this.#refuse(error);
    }
  }

  forget(): void {
    this.problems = new Map();
    this.foreseen = [];
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
    const { patch, changes } = this;
    if (patch === null) return;
    this.busy = true;
    const said = changes.map(([field, text]) => changeText([field.group, labelOf(field)].filter(Boolean).join(" · "), field.text, text));
    if (await changeObject(this.key, patch, said)) await this.load();
    this.busy = false;
  }
}

function grouped(fields: readonly ManifestField[]): [string, ManifestField[]][] {
  const groups = new Map<string, ManifestField[]>();
  for (const field of fields) groups.set(field.group, [...(groups.get(field.group) ?? []), field]);
  return [...groups];
}
