// Files on their way in: dropped, pasted or chosen, and what stands in their way.

import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { reportRefusal, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import type { Report } from "@/protocol/types";
import { loadRest, takeFiles, type Reading, type SourceFile } from "@/store/sandboxes/loading";
import { ENDING, restoreFiles } from "@/store/sandboxes/storage";

const LARGEST = 64 * 2 ** 20; // characters of all files together

class Loader {
  reading = $state.raw<Reading | null>(null);
  /** What came of the files that were taken last, while somebody looks at it. */
  report = $state.raw<Report | null>(null);
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
      const into = live.id;
      const found = await takeFiles(files, into);
      this.reading = "files" in found && "message" in found ? found : null;
      if ("kinds" in found) this.#say(found, into, t("load.done", { n: files.length }));
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
      const into = live.id;
      const { count, report } = await loadRest(reading.files, into);
      this.reading = null;
      this.#say(report, into, t("load.read", { n: count }));
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

  #say(report: Report, into: string | null, sentence: string): void {
    if (into === null && report.findings.length === 0) return;
    announce(sentence);
    const show = report.findings.length === 0 ? [] : [{ label: t("load.report"), run: () => { this.report = report; } }];
    const back = into === null ? [] : [{ label: t("act.undo"), run: () => void undo() }];
    toast({ tone: "note", text: sentence, acts: [...show, ...back] });
  }
}

export const loader = new Loader();

async function textsOf(files: readonly File[]): Promise<SourceFile[]> {
  return Promise.all(files.map(async (file) => ({ name: file.name.replace(/\.gz$/, ""), text: await textOf(file) })));
}

async function textOf(file: File): Promise<string> {
  if (!file.name.endsWith(".gz")) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
