"""What an import finds in the documents themselves, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words
from scheduler.words.effects import Effect, NotSimulated


class Missing(Words, prefix="missing"):
    """Names that nothing has, and what waits for them."""

    NAMED = "{kind} {name} doesn't exist; {effect}"
    NAMED_IN = "{kind} {name} doesn't exist in namespace {namespace}; {effect}"
    NO_EFFECT = "it has no effect until it exists"
    INACTIVE = "the ClusterQueue stays inactive until it does"
    QUEUE_WAITS = "its workloads wait until it does"
    WAITS = "the workload waits until it does"
    COLLECTED = "pod garbage collection deletes the pod after 40 s unless it comes"
    STARTED = (
        "the pod was ready when it was read, so it runs on, and takes room of no node"
    )
    SUCCEEDED = "expected a count of pods, got {value}; none is counted"
    NO_WORKLOAD = "a job that names it gets no Workload until it does"
    NO_PRIORITY = "here its pods have priority 0, an API server refuses them"
    NAMESPACE = (
        "Namespace {name} is not here, and so has no labels; ClusterQueue {queue} "
        "selects namespaces by theirs and admits nothing from it"
    )
    NAMESPACE_LABELS = (
        "Namespace {name} has not the labels by which ClusterQueue {queue} selects "
        "namespaces, which admits nothing from it"
    )
    NO_NODES = (
        "no Node is here: work is admitted by quota alone, and its pods are on no node"
    )
    NOWHERE = (
        "no Node is here, so no pod starts; import the nodes as well: kubectl get nodes "
        "-o yaml"
    )
    WEBHOOK = "the webhook is taken to be up until it does"
    SERVED = (
        "no pod that Service {name} selects is here, and nothing that makes one: webhook "
        "{webhook} is down, and no controller makes a pod that its rules take"
    )
    NO_TRAIN_JOB = "the TrainJob gets no Workload until it does"
    FLAVOR = "this ClusterQueue has no flavor '{name}': not checked in it"
    CLAIM = "{kind} '{name}' does not exist; pods without a node wait for it: {remedy}"
    CLAIMS = "a {kind} is named that does not exist: {remedy}"
    NODES = (
        "{n} pod runs on a node that is not here ({names}): it takes no room, and nothing "
        "is placed beside it; import the nodes as well: kubectl get nodes -o yaml|"
        "{n} pods run on nodes that are not here ({names}): they take no room, and "
        "nothing is placed beside them; import the nodes as well: kubectl get nodes -o "
        "yaml"
    )
    NODE_PODS = (
        "Node {name} has no 'pods' in status.allocatable, so no pod fits on it; a kubelet "
        "writes 110 unless it is configured otherwise"
    )
    NODES_PODS = "a Node has no 'pods' in status.allocatable, so no pod fits on it"
    ONE_LABEL = (
        "flavors {other} and {flavor} of two resource groups set the node label {label} "
        "to two values: a pod that uses both gets one of them, and no node of the other"
    )
    NODE_LABEL = (
        "Node {name} has no label {label}, which a kubelet gives each node and which "
        "is asked for here: such pods do not find it"
    )
    NODES_LABEL = (
        "a Node has no label {label}, which a kubelet gives each node and which is "
        "asked for here"
    )
    VOLUMES = (
        "import claims and volumes as well: kubectl get pvc,pv,sc,csinodes -A -o yaml"
    )
    DEVICES = (
        "import claims, classes and slices as well: kubectl get resourceclaims,"
        "resourceclaimtemplates,deviceclasses,resourceslices -A -o yaml"
    )


class Gang(Words, prefix="gang"):
    """Pods that are to start together, and cannot as they are given."""

    MIXED = (
        "pod {name} of group {group} has priority {given}, {other} of it has {known}: the "
        "queue takes them apart, and others may start between them; give all one priority"
    )
    HASHED = (
        "pod {name} of group {group} has priority {given}, {other} of it has {known}: its "
        "Workload has one, that of the role whose hash comes first; give all one class, or "
        "each the label kueue.x-k8s.io/priority-class",
    )
    SORT = (
        "gang.mixedSort",
        "the pods of group {group} have several priorities; give all one priority",
    )


class RunTimes(Words, prefix="runTime"):
    """How long work takes where nobody said it, or two places say it."""

    ASSUMED = (
        "{n} {kind} has no run time, so {span} is assumed; give one with the annotation "
        "{name}|{n} objects of kind {kind} have no run time, so {span} is assumed for "
        "each; give one with the annotation {name}"
    )
    READABLE = (
        "{assumed} ({n} of them says it in its command: `simulation.runTimesFrom: sleep` "
        "of the policy reads it)|{assumed} ({n} of them say it in their command: "
        "`simulation.runTimesFrom: sleep` of the policy reads it)"
    )
    OF_COMMANDS = (
        "{n} {kind} takes its run time from its command|"
        "{n} objects of kind {kind} take their run time from their command"
    )
    OF_DEADLINES = (
        "{n} {kind} takes its deadline for its run time, which is an upper bound|{n} "
        "objects of kind {kind} take their deadline for their run time, which is an "
        "upper bound"
    )
    LEARNED = (
        "{n} {kind} takes its run time from its like in {name}; the annotation "
        "quotalab.dev/runtime-source says from which|{n} objects of kind {kind} take "
        "their run time from their like in {name}; the annotation "
        "quotalab.dev/runtime-source says from which"
    )
    CHOSEN = (
        "{n} object takes its run time from the choice {rule}|"
        "{n} objects take their run time from the choice {rule}"
    )
    CHOSEN_NONE = "no work without a run time matches the choice {rule}"
    REFUSED = (
        "{n} {kind} has no run time; give one with the annotation {name}|{n} objects of "
        "kind {kind} have no run time; give each one with the annotation {name}"
    )
    TWO_OWNERS = (
        "{name} is {object} on the object and {other} on its owner {owner}; the "
        "object's counts"
    )
    TWO = (
        "{name} is {object} on the object and {template} on its pod template; the "
        "object's counts"
    )


class Unknown(Words, prefix="unknown"):
    """Fields and keys that nobody reads."""

    FIELD = "unknown field {name} of {kind}"
    FIELD_NEAR = "unknown field {name} of {kind}; did you mean {near}?"
    FIELD_ABOVE = (
        "unknown field {name} of {kind}; it belongs to {holder}: indented too far?"
    )
    KEY = "unknown key {name} of {part}"
    KEY_NEAR = "unknown key {name} of {part}; did you mean {near}?"
    OF_KIND = "{kind}: {what}"


class Kept(NotSimulated, prefix="kept"):
    """What is kept and decides nothing, and why."""

    KIND = "{kind} {name}: not simulated, kept as it is: {note}"
    KINDS = "{kind}: not simulated, kept as it is: {note}"
    SETTING = ("kept, not simulated", Effect.DEFAULTS)
    SETTINGS = ("{name}: kept, not simulated", Effect.DEFAULTS)
    PROCESS = ("kept; a setting of Kueue's own process", Effect.NO_DECISION)
    CONTROLLER = (
        "its controller is not simulated; give the Pods or Jobs it makes",
        Effect.NO_PODS,
    )
    SERVES = (
        "read for two things: the pods that it selects are spread by default, and a "
        "webhook that names it is down while none of them is ready",
        Effect.NOT_OTHERWISE,
    )
    NO_PART = ("does not take part in scheduling decisions", Effect.NO_DECISION)
    POLICY = (
        "read as policy when it holds a Kueue Configuration or a queues.yaml",
        Effect.NO_POLICY,
    )
    REPLICAS = ("the replicas stay those of the manifest", Effect.SAME_SIZE)
    REQUESTS = (
        "the requests and replicas stay those of the manifest",
        Effect.SAME_SIZE,
    )
    STORAGE = ("free storage is not counted", Effect.STORAGE_FULL)
    ATTACHMENTS = (
        "the volumes of a node are those of its pods, no attachment counts",
        Effect.MORE_VOLUMES,
    )
    VERSION = "version '{version}' of {kind} is not read; known: {known}"
    OTHER = "a kind of {group} that decides nothing here"
    OTHER_CONVERTED = (
        "a kind of {group} that decides nothing here; `quotalab convert` writes it in "
        "Kueue's terms"
    )
    OTHER_SIMULATED = (
        "a kind of {group} that decides nothing here; {kind} of {known} is simulated"
    )


class Aside(Words, prefix="aside"):
    """Documents that are no object of a cluster."""

    NO_OBJECT = "not an object of a cluster: not taken"
    BECAUSE = "{why}, so it is no object of a cluster: not taken"
    KUSTOMIZATION = (
        "a kustomization, which is not applied: the files beside it are taken as they "
        "are; render it first, e.g. with `kubectl kustomize`"
    )
    TEMPLATE = (
        "a template that is no YAML yet, which is not taken; render it first, e.g. with "
        "`helm template`"
    )
    BY_ENVSUBST = (
        "not filled in: {names}; `envsubst < FILE` fills such names from the environment, "
        "Terraform's `templatefile` from its variables; give what comes of it"
    )
    BY_HAND = (
        "not filled in: {names}; put what you mean in the place of each, brackets "
        "included"
    )
    TABLE = (
        "a table that kubectl prints for people, which holds no objects: ask for them "
        "with `-o yaml`"
    )
    QUEUES = (
        "queues of YuniKorn without their partition: write `partitions:` with one entry, "
        "`name: default`, and these queues below it"
    )
    SPEC = (
        "a part of an object, by `{path}` the spec of a {kind}: write above it "
        "`apiVersion: {version}`, `kind: {kind}`, `metadata:` with a name, and `spec:`"
    )
    PATCH = (
        "a JSON 6902 patch, which is not applied; render it first, e.g. with "
        "`kubectl kustomize`"
    )
    PART = (
        "a part of the kustomization in {folder}, not applied by itself; drop what "
        "`kubectl kustomize {folder}` prints, or pipe it into `quotalab run -`"
    )
    CHART = (
        "a part of the Helm chart in {folder}, no manifest yet; drop what "
        "`helm template {folder}` prints, or pipe it into `quotalab run -`"
    )
    TERRAFORM = (
        "Terraform's own language, which is not read; its plan and its state are: drop "
        "what `terraform show -json` prints, or pipe it into `quotalab run -`"
    )
    KUBECONFIG = "a kubeconfig, which names clusters and their credentials"
    STATUS = "an answer of an API server"
    SCHEDULER_POLICY = (
        "a Policy of kube-scheduler, which is read up to Kubernetes 1.22 (since then a "
        "KubeSchedulerConfiguration says the same)"
    )
    NEITHER = "neither apiVersion nor kind"
    NO_KIND = "apiVersion {version} and no kind"
    NO_NAME = "a {kind} of {group} without a name"
