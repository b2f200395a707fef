// Files on their way in: dropped, pasted or chosen, and what stands in their way.

import { catching } from "@/lib/catching.svelte";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { reportRefusal, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";
import { saidText } from "@/store/live/said";
import type { DryImport, ImportReport, Repair, Report, Traces } from "@/protocol/types";
import { Refusal } from "@/net/rest";
import { fetchReports, lookAt, takeFiles, type Manner, type SourceFile } from "@/store/sandboxes/loading";
import { needsLook, Workbench } from "@/store/sandboxes/workbench.svelte";
import { convertFiles, mayBeOthers, type Converting } from "@/store/sandboxes/conversions";
import { mayHoldTraces, previewTraces, sourceOf, type Asking } from "@/store/sandboxes/traces";
import { ENDING, restoreFiles } from "@/store/sandboxes/storage";
import { isRecording, openRecording } from "@/store/sandboxes/twins";

const LARGEST = 64 * 2 ** 20; // characters of all files together
const LOOKED_AT = 2 ** 18; // characters that are looked at before they are taken; more only where they are refused

/** Files of new work, the sandbox that they are for, and how they are taken. */
export interface Submitting {
  readonly files: readonly SourceFile[];
  readonly into: string;
  readonly manner: Manner;
}

class Loader {
  /** Files that need a look before they are taken. */
  bench = $state.raw<Workbench | null>(null);
  /** What came of the files that were taken last, while somebody looks at it. */
  report = $state.raw<Report | null>(null);
  /** Earlier reports beside it, newest first. */
  reports = $state.raw<readonly ImportReport[]>([]);
  /** Traces that somebody is asked about before they are taken. */
  asking = $state.raw<Asking | null>(null);
  /** Objects of another system that somebody is asked about before they are taken. */
  converting = $state.raw<Converting | null>(null);
  /** New work for the open sandbox that somebody is asked about before it is added. */
  submitting = $state.raw<Submitting | null>(null);
  busy = $state(false);
  /** What was taken last, to be looked at once more. */
  #last: { readonly files: readonly SourceFile[]; readonly manner: Manner } | null = null;
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

  /** Take files in, their traces as somebody chose; what needs a look opens the workbench. */
  async takeAs(files: readonly SourceFile[], traces: Traces, convert: boolean): Promise<void> {
    this.asking = null;
    await this.#run(async () => {
      const into = live.id;
      const manner = { traces, convert };
      if (isSmall(files)) {
        const { work } = await this.#look(files, into, manner);
        if (this.bench === null && work && into !== null) this.submitting = { files, into, manner };
        if (this.bench !== null || this.submitting !== null) return;
      }
      try {
        await this.#takeNow({ files, into, manner });
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 422) throw error;
        await this.#look(files, into, manner);
        if (this.bench === null) throw error;
      }
    });
  }

  /** Add the work that was asked about. */
  async addSubmitted(): Promise<void> {
    const { submitting } = this;
    if (submitting === null) return;
    await this.#run(async () => {
      await this.#takeNow(submitting);
      this.submitting = null; // where it is refused the question stays
    });
  }

  async #takeNow({ files, into, manner }: { files: readonly SourceFile[]; into: string | null; manner: Manner }): Promise<void> {
    this.#say((await takeFiles(files, into, manner)).report, into, t("load.done", { n: files.length }));
    this.#last = { files, manner };
  }

  /** Open the workbench where somebody should look; returns what the files would say. */
  async #look(files: readonly SourceFile[], into: string | null, manner: Manner): Promise<DryImport> {
    const found = await lookAt(files, into, manner);
    this.bench = needsLook(found) ? new Workbench(files, into, manner, found) : null;
    return found;
  }

  /** Load what the workbench shows; what cannot be taken of it is left out. */
  async takeShown(): Promise<void> {
    const { bench } = this;
    if (bench === null || this.busy) return;
    await this.#run(async () => {
      const { files, into, manner } = bench;
      const { count, report } = await takeFiles(files, into, manner, true);
      this.bench = null;
      this.#last = { files, manner };
      this.#say(report, into, t("load.read", { n: count }));
    });
  }

  /** Whether what was taken last can be looked at once more. */
  get mayLookAgain(): boolean {
    return this.#last !== null && live.id !== null;
  }

  /** Look once more at what was taken last, in the sandbox that is open. */
  async lookAgain(): Promise<void> {
    const last = this.#last;
    if (last === null) return;
    this.report = null;
    await this.#run(async () => {
      const into = live.id;
      this.bench = new Workbench(last.files, into, last.manner, await lookAt(last.files, into, last.manner));
    });
  }

  /** Add a document that a report offers to the open sandbox. */
  async add(repair: Repair): Promise<void> {
    await this.#run(async () => {
      const { report } = await takeFiles([{ name: repair.file, text: repair.document }], live.id, { traces: {}, convert: false });
      this.#say(report, live.id, saidText(repair.said, repair.said.text));
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

  /** Show the reports of a sandbox's imports. */
  async showReports(id: string): Promise<void> {
    await this.#run(async () => {
      this.reports = await fetchReports(id);
      this.report = this.reports[0]?.report ?? null;
      if (this.report === null) toast({ tone: "note", text: t("load.noReport") });
    });
  }

  forget(): void {
    this.bench = null;
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

function isSmall(files: readonly SourceFile[]): boolean {
  return files.every((file) => (file.data ?? "") === "") && files.reduce((sum, file) => sum + file.text.length, 0) <= LOOKED_AT;
}

export const loader = new Loader();
catching.wanted = true; // whoever asks for files sees what comes of them
