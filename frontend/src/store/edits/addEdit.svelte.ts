// Something new while its form is filled in: the answers, the manifests that they make, what the server says.

import { SvelteMap } from "svelte/reactivity";

import { Refusal, request, type Json } from "@/net/rest";
import { orderResources, quotaText } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import { toYaml } from "@/lib/yaml";
import { manifestsOf, questionAt, questionsOf, type Addable, type Around, type FormQuestion } from "@/store/edits/adding";
import { applied, type Part } from "@/store/edits/changes";
import { manifestOf } from "@/store/edits/manifest";
import { change, whatIf } from "@/store/edits/whatIf.svelte";
import { nameOf, nextName } from "@/store/live/intents";
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

  /** Add it in the what-if. Returns whether the server took it. */
  async apply(): Promise<boolean> {
    this.busy = true;
    const { written } = this;
    const parts = written === null ? this.objects.map((object): Part => ({ apply: object })) : [{ yaml: written }];
    const done = await change([t("add.done", { name: written === null ? (this.answers["name"] ?? "") : "YAML" })], parts);
    this.busy = false;
    return done;
  }
}

const importPath = (): string => `/sandboxes/${String(live.id)}/actions/import`;

function around(policy: Json): Around {
  const { shown: latest, stack } = live;
  const coming = (kind: string): ReturnType<typeof applied> => applied(whatIf.parts, kind); // with the changes before it
  const node = latest.all("Node").at(-1);
  const names = new Set(["Workload", "ClusterQueue", "Queue", "Node", "Pod"].flatMap((kind) => latest.keys(kind as "Node").map(nameOf)));
  const owners = latest.all("Workload").map((row) => nameOf(row.owner));
  return {
    stack,
    localQueues: stack === "yunikorn"
      ? latest.all("Queue").filter((row) => row.leaf).map((row) => row.name)
      : [...new Set([...latest.all("LocalQueue"), ...coming("LocalQueue")].map((one) => `${one.namespace}/${one.name}`))],
    cohorts: latest.all("Cohort").map((row) => row.name),
    parents: latest.all("Queue").filter((row) => !row.leaf).map((row) => row.name),
    policy,
    flavors: latest.all("ResourceFlavor").map((row) => row.name),
    priorityClasses: [...new Set(latest.all("Workload").map((row) => row.priorityClass).filter(Boolean))].sort(),
    resources: resourcesOf(node?.allocatable ?? {}),
    nodeLabels: Object.fromEntries(Object.entries(node?.labels ?? {}).filter(([key]) => key !== "kubernetes.io/hostname")),
    nodeAmounts: amountsOf(node?.allocatable ?? {}),
    free: (stem) => nextName(`${stem}-0`, new Set([...names, ...owners, ...["Job", "ClusterQueue", "Node"].flatMap((kind) => coming(kind).map((one) => one.name))])),
  };
}

function resourcesOf(allocatable: Readonly<Record<string, string>>): string[] {
  const queued = live.shown.all("ClusterQueue").flatMap((row) => row.cells.map((cell) => cell.resource));
  const known = orderResources([...Object.keys(allocatable), ...queued]).filter((name) => name !== "pods");
  return known.length > 0 ? known : ["cpu", "memory"];
}

const amountsOf = (allocatable: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(allocatable).map(([name, value]) => [name, quotaText(name, Number(value))]));
