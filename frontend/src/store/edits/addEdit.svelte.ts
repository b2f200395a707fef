// Something new while its form is filled in: the answers, the manifests that they make, what the server says.

import { SvelteMap } from "svelte/reactivity";

import { ask, Refusal, request, type Json } from "@/net/rest";
import { orderResources, quotaText } from "@/lib/amounts";
import { announce, toast } from "@/lib/say.svelte";
import { t } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { manifestsOf, questionAt, questionsOf, type Addable, type Around, type FormQuestion } from "@/store/edits/adding";
import { manifestOf } from "@/store/edits/whatIf.svelte";
import { nameOf, nextName, undo } from "@/store/live/intents";
import { live } from "@/store/live/live.svelte";

/** One form; `check` asks the server, `apply` adds. */
export class AddEdit {
  readonly kind: Addable;
  policy = $state.raw<Json>({}); // of YuniKorn, which a queue is put into
  readonly around: Around = $derived.by(() => around(this.policy));
  readonly questions: readonly FormQuestion[] = $derived.by(() => questionsOf(this.kind, this.around));
  readonly texts = new SvelteMap<string, string>();
  written = $state<string | null>(null); // the YAML, once it is changed by hand
  problems = $state.raw<ReadonlyMap<string, string>>(new Map()); // by question; "" is the whole
  busy = $state(false);
  readonly answers = $derived.by(() => Object.fromEntries(this.questions.map((one) => [one.id, this.text(one)])));
  readonly objects = $derived.by(() => manifestsOf(this.kind, this.answers, this.around));
  readonly yaml = $derived(this.written ?? this.objects.map(toYaml).join("---\n"));
  readonly body = $derived(
    this.written === null ? { objects: this.objects } : { files: [{ name: "added.yaml", text: this.written }] },
  );

  /** What would be sent, as text: it changes when an answer does, not with every tick. */
  readonly sent = $derived(JSON.stringify(this.body));

  /** Whether all that the form needs is there: without the other queues, one would take their place. */
  readonly ready = $derived.by(() => !this.#needsPolicy() || "spec" in this.policy);

  constructor(kind: Addable) {
    this.kind = kind;
  }

  /** Read what the form needs beyond the rows. */
  async load(): Promise<void> {
    if (!this.#needsPolicy()) return;
    try {
      this.policy = await manifestOf("Queue//root");
    } catch (error) {
      this.#refuse(error);
    }
  }

  #needsPolicy(): boolean {
    return this.kind === "queue" && live.stack === "yunikorn";
  }

  text(question: FormQuestion): string {
    return this.texts.get(question.id) ?? question.first;
  }

  /** Ask what would be wrong; nothing is changed. */
  async check(body: object, signal: AbortSignal): Promise<void> {
    try {
      await request("POST", importPath(), { body: { ...body, dryRun: true }, signal });
      this.problems = new Map();
    } catch (error) {
      if (!signal.aborted) this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    const causes = error instanceof Refusal ? error.causes : [];
    const found = causes.map(({ field, message }): [string, string] => {
      const at = this.written === null ? questionAt(field, this.around.resources) : "";
      return [this.questions.some((one) => one.id === at) ? at : "", at === "" ? [field, message].filter(Boolean).join(": ") : message];
    });
    this.problems = new Map(found.length > 0 ? found : [["", error instanceof Error ? error.message : String(error)]]);
  }

  /** Add; returns the key of the first object added, or null when it was refused. */
  async apply(): Promise<string | null> {
    this.busy = true;
    try {
      const { created, changed, policy } = await ask("Imported", "POST", importPath(), { body: this.body });
      if (policy) {
        const name = `${this.answers["parent"] ?? "root"}.${this.answers["name"] ?? ""}`;
        report([name]);
        return `Queue//${name}`;
      }
      report([...created, ...changed].map(nameOf));
      return [...created, ...changed].find((key) => !key.startsWith("ResourceFlavor/")) ?? null;
    } catch (error) {
      this.#refuse(error);
      return null;
    } finally {
      this.busy = false;
    }
  }
}

const importPath = (): string => `/sandboxes/${String(live.id)}/actions/import`;

function report(names: readonly string[]): void {
  const sentence = t("add.done", { name: [...new Set(names)].join(", ") });
  announce(sentence);
  toast({ tone: "note", text: sentence, acts: [{ label: t("act.undo"), run: () => void undo() }] });
}

function around(policy: Json): Around {
  const { latest, stack } = live;
  const node = latest.all("Node").at(-1);
  const names = new Set(["Workload", "ClusterQueue", "Queue", "Node", "Pod"].flatMap((kind) => latest.keys(kind as "Node").map(nameOf)));
  const owners = latest.all("Workload").map((row) => nameOf(row.owner));
  return {
    stack,
    localQueues: stack === "yunikorn"
      ? latest.all("Queue").filter((row) => row.leaf).map((row) => row.name)
      : latest.all("LocalQueue").map((row) => `${row.namespace}/${row.name}`),
    cohorts: latest.all("Cohort").map((row) => row.name),
    parents: latest.all("Queue").filter((row) => !row.leaf).map((row) => row.name),
    policy,
    flavors: latest.all("ResourceFlavor").map((row) => row.name),
    priorityClasses: [...new Set(latest.all("Workload").map((row) => row.priorityClass).filter(Boolean))].sort(),
    resources: resourcesOf(node?.allocatable ?? {}),
    nodeLabels: Object.fromEntries(Object.entries(node?.labels ?? {}).filter(([key]) => key !== "kubernetes.io/hostname")),
    nodeAmounts: amountsOf(node?.allocatable ?? {}),
    free: (stem) => nextName(`${stem}-0`, new Set([...names, ...owners])),
  };
}

function resourcesOf(allocatable: Readonly<Record<string, string>>): string[] {
  const queued = live.latest.all("ClusterQueue").flatMap((row) => row.cells.map((cell) => cell.resource));
  const known = orderResources([...Object.keys(allocatable), ...queued]).filter((name) => name !== "pods");
  return known.length > 0 ? known : ["cpu", "memory"];
}

const amountsOf = (allocatable: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(allocatable).map(([name, value]) => [name, quotaText(name, Number(value))]));
