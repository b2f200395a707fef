// Files on their way in: dropped, pasted or chosen, and what stands in their way.

import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { reportRefusal, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { loadRest, takeFiles, type Reading, type SourceFile } from "@/store/sandboxes/loading";
import { ENDING, restoreFiles } from "@/store/sandboxes/storage";

const LARGEST = 20_000_000; // characters of all files together

class Loader {
  reading = $state.raw<Reading | null>(null);
  busy = $state(false);
  dropping = $state(false);
  /** How many panels on the page show the findings themselves. */
  panels = $state(0);

  /** Take files in, into the open sandbox or a new one. */
  async take(files: readonly SourceFile[]): Promise<void> {
    if (files.length === 0 || this.busy) return;
    if (files.reduce((sum, file) => sum + file.text.length, 0) > LARGEST) {
      reportRefusal(new Error(t("load.tooLarge")));
      return;
    }
    await this.#run(async () => {
      this.reading = await takeFiles(files, live.id);
      if (this.reading === null && live.id !== null) this.#announce(t("load.done", { n: files.length }));
    });
  }

  /** Take what a person gave: manifests, or sandboxes that were exported as files. */
  async takeGiven(list: FileList | null | undefined): Promise<void> {
    const given = [...(list ?? [])];
    const whole = given.filter((file) => file.name.endsWith(ENDING));
    if (whole.length > 0 && !this.busy) await this.#run(() => restoreFiles(whole));
    await this.take(await textsOf(given.filter((file) => !whole.includes(file))));
  }

  /** Load what can be loaded of the files that were refused. */
  async takeRest(): Promise<void> {
    const { reading } = this;
    if (reading === null) return;
    await this.#run(async () => {
      const count = await loadRest(reading.files, live.id);
      this.reading = null;
      this.#announce(t("load.read", { n: count }));
    });
  }

  forget(): void {
    this.reading = null;
  }

  async #run(doing: () => Promise<void>): Promise<void> {
    this.busy = true;
    try {
      await doing();
    } catch (error) {
      reportRefusal(error);
    }
    this.busy = false;
  }

  #announce(sentence: string): void {
    announce(sentence);
    const acts = live.id === null ? [] : [{ label: t("act.undo"), run: () => void undo() }];
    toast({ tone: "note", text: sentence, acts });
  }
}

export const loader = new Loader();

async function textsOf(files: readonly File[]): Promise<SourceFile[]> {
  return Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
}
