// Files on their way in: dropped, pasted or chosen, and what stands in their way.

import { catching } from "@/lib/catching.svelte";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { reportRefusal, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import type { ImportReport, Report, Traces } from "@/protocol/types";
import { fetchReports, loadRest, takeFiles, type Reading, type SourceFile } from "@/store/sandboxes/loading";
import { convertFiles, mayBeOthers, type Converting } from "@/store/sandboxes/conversions";
import { mayHoldTraces, previewTraces, sourceOf, type Asking } from "@/store/sandboxes/traces";
import { ENDING, restoreFiles } from "@/store/sandboxes/storage";
import { isRecording, openRecording } from "@/store/sandboxes/twins";

const LARGEST = 64 * 2 ** 20; // characters of all files together

class Loader {
  reading = $state.raw<Reading | null>(null);
  /** What came of the files that were taken last, while somebody looks at it. */
  report = $state.raw<Report | null>(null);
  /** Earlier reports beside it, newest first. */
  reports = $state.raw<readonly ImportReport[]>([]);
  /** Traces that somebody is asked about before they are taken. */
  asking = $state.raw<Asking | null>(null);
  /** Objects of another system that somebody is asked about before they are taken. */
  converting = $state.raw<Converting | null>(null);
  busy = $state(false);
  /** How many panels on the page show the findings themselves. */
  panels = $state(0);

  /** Take files in, into the open sandbox or a new one. */
  async take(files: readonly SourceFile[]): Promise<void> {
    if (files.length === 0 || this.busy) return;
    if (files.reduce((sum, file) => sum + file.text.length + (file.data?.length ?? 0), 0) > LARGEST) {
      reportRefusal(new Error(t("load.tooLarge")));
      return;
    }
    if (mayBeOthers(files)) {
      await this.#run(async () => {
        const found = await convertFiles(files, live.id);
        this.converting = found.systems.length > 0 ? { files, found } : null;
      });
      if (this.converting !== null) return;
    }
    await this.#lookForTraces(files, false);
  }

  /** Take the files that were asked about: converted, or as they are. */
  async takeConverted(convert: boolean): Promise<void> {
    const files = this.converting?.files ?? [];
    this.converting = null;
    await this.#lookForTraces(files, convert);
  }

  async #lookForTraces(files: readonly SourceFile[], convert: boolean): Promise<void> {
    if (mayHoldTraces(files)) {
      await this.#run(async () => {
        const into = live.id;
        const preview = await previewTraces(files, into, {});
        this.asking = preview.traces.length > 0 ? { files, into, preview, convert } : null;
      });
      if (this.asking !== null) return;
    }
    await this.takeAs(files, {}, convert);
  }

  /** Take files in, their traces as somebody chose. */
  async takeAs(files: readonly SourceFile[], traces: Traces, convert: boolean, stack?: string): Promise<void> {
    this.asking = null;
    await this.#run(async () => {
      const into = live.id;
      const manner = { traces, convert, ...(stack === undefined ? {} : { stack }) };
      const found = await takeFiles(files, into, manner);
      this.reading = "files" in found && "message" in found ? found : null;
      if ("kinds" in found) this.#say(found, into, t("load.done", { n: files.length }));
    });
  }

  /** Take what a person gave: manifests, recordings of a cluster, or exported sandboxes. */
  async takeGiven(list: Iterable<File> | null | undefined): Promise<void> {
    if (this.busy) return;
    const all = [...(list ?? [])];
    const recorded = all.filter(isRecording);
    if (recorded.length > 0) await this.#run(() => openRecording(recorded));
    const given = all.filter((file) => !isRecording(file));
    const whole = given.filter((file) => file.name.endsWith(ENDING));
    if (whole.length > 0) await this.#run(() => restoreFiles(whole));
    const rest = given.filter((file) => !whole.includes(file));
    let sources: readonly SourceFile[] = [];
    await this.#run(async () => {
      sources = await Promise.all(rest.map(sourceOf));
    });
    await this.take(sources);
  }

  /** Take what was dropped; the files of folders too. */
  async takeDropped(found: Promise<readonly File[]>): Promise<void> {
    if (this.busy) return;
    let files: readonly File[] = [];
    await this.#run(async () => {
      files = await found;
    });
    await this.takeGiven(files);
  }

  /** Take the files that are for several stacks, under one of them. */
  async takeUnder(stack: string): Promise<void> {
    const { reading } = this;
    if (reading !== null) await this.takeAs(reading.files, reading.manner.traces, reading.manner.convert, stack);
  }

  /** Load what can be loaded of the files that were refused. */
  async takeRest(): Promise<void> {
    const { reading } = this;
    if (reading === null) return;
    await this.#run(async () => {
      const into = live.id;
      const { count, report } = await loadRest(reading, into);
      this.reading = null;
      this.#say(report, into, t("load.read", { n: count }));
    });
  }

  /** Show the reports of a sandbox's imports. */
  async showReports(id: string): Promise<void> {
    await this.#run(async () => {
      this.reports = await fetchReports(id);
      this.report = this.reports[0]?.report ?? null;
      if (this.report === null) toast({ tone: "note", text: t("load.noReport") });
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
    const lines = report.findings.reduce((sum, group) => sum + group.count, 0);
    const text = lines === 0 ? sentence : `${sentence} · ${t("load.lines", { n: lines })}`;
    announce(text);
    const show = report.findings.length === 0 ? [] : [{ label: t("load.report"), run: () => { this.report = report; } }];
    const back = into === null ? [] : [{ label: t("act.undo"), run: () => void undo() }];
    toast({ tone: "note", text, acts: [...show, ...back] });
  }
}

export const loader = new Loader();
catching.wanted = true; // whoever asks for files sees what comes of them
