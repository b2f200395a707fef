"""What an import finds in the documents themselves, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words
from scheduler.words.effects import Effect, NotSimulated


class Missing(Words):
    """Names that nothing has, and what waits for them."""

    NAMED = ("missing.named", "{kind} {name} doesn't exist; {effect}")
    NAMED_IN = (
        "missing.namedIn",
        "{kind} {name} doesn't exist in namespace {namespace}; {effect}",
    )
    NO_EFFECT = ("missing.noEffect", "it has no effect until it exists")
    INACTIVE = ("missing.inactive", "the ClusterQueue stays inactive until it does")
    QUEUE_WAITS = ("missing.queueWaits", "its workloads wait until it does")
    WAITS = ("missing.waits", "the workload waits until it does")
    STARTED = (
        "missing.started",
        "the pod was ready when it was read, so it runs on, and takes room of no node",
    )
    NO_WORKLOAD = (
        "missing.noWorkload",
        "a job that names it gets no Workload until it does",
    )
    NO_PRIORITY = (
        "missing.noPriority",
        "here its pods have priority 0, an API server refuses them",
    )
    NAMESPACE = (
        "missing.namespace",
        "Namespace {name} is not here, and so has no labels; ClusterQueue {queue} "
        "selects namespaces by theirs and admits nothing from it",
    )
    NAMESPACE_LABELS = (
        "missing.namespaceLabels",
        "Namespace {name} has not the labels by which ClusterQueue {queue} selects "
        "namespaces, which admits nothing from it",
    )
    NO_NODES = (
        "missing.noNodes",
        "no Node is here: work is admitted by quota alone, and its pods are on no node",
    )
    NOWHERE = (
        "missing.nowhere",
        "no Node is here, so no pod starts; import the nodes as well: kubectl get nodes "
        "-o yaml",
    )
    NO_TRAIN_JOB = ("missing.noTrainJob", "the TrainJob gets no Workload until it does")
    FLAVOR = (
        "missing.flavor",
        "this ClusterQueue has no flavor '{name}': not checked in it",
    )
    CLAIM = (
        "missing.claim",
        "{kind} '{name}' does not exist; pods without a node wait for it: {remedy}",
    )
    CLAIMS = ("missing.claims", "a {kind} is named that does not exist: {remedy}")
    NODES = (
        "missing.nodes",
        "{n} pod runs on a node that is not here ({names}): it takes no room, and nothing "
        "is placed beside it; import the nodes as well: kubectl get nodes -o yaml|"
        "{n} pods run on nodes that are not here ({names}): they take no room, and "
        "nothing is placed beside them; import the nodes as well: kubectl get nodes -o "
        "yaml",
    )
    NODE_PODS = (
        "missing.nodePods",
        "Node {name} has no 'pods' in status.allocatable, so no pod fits on it; a kubelet "
        "writes 110 unless it is configured otherwise",
    )
    NODES_PODS = (
        "missing.nodesPods",
        "a Node has no 'pods' in status.allocatable, so no pod fits on it",
    )
    ONE_LABEL = (
        "missing.oneLabel",
        "flavors {other} and {flavor} of two resource groups set the node label {label} "
        "to two values: a pod that uses both gets one of them, and no node of the other",
    )
    NODE_LABEL = (
        "missing.nodeLabel",
        "Node {name} has no label {label}, which a kubelet gives each node and which "
        "is asked for here: such pods do not find it",
    )
    NODES_LABEL = (
        "missing.nodesLabel",
        "a Node has no label {label}, which a kubelet gives each node and which is "
        "asked for here",
    )
    VOLUMES = (
        "missing.volumes",
        "import claims and volumes as well: kubectl get pvc,pv,sc,csinodes -A -o yaml",
    )
    DEVICES = (
        "missing.devices",
        "import claims, classes and slices as well: kubectl get resourceclaims,"
        "resourceclaimtemplates,deviceclasses,resourceslices -A -o yaml",
    )


class Gang(Words):
    """Pods that are to start together, and cannot as they are given."""

    MIXED = (
        "gang.mixed",
        "pod {name} of group {group} has priority {given}, {other} of it has {known}: the "
        "queue takes them apart, and others may start between them; give all one priority",
    )
    HASHED = (
        "gang.hashed",
        "pod {name} of group {group} has priority {given}, {other} of it has {known}: its "
        "Workload has one, that of the role whose hash comes first; give all one class, or "
        "each the label kueue.x-k8s.io/priority-class",
    )
    SORT = (
        "gang.mixedSort",
        "the pods of group {group} have several priorities; give all one priority",
    )


class RunTimes(Words):
    """How long work takes where nobody said it, or two places say it."""

    ASSUMED = (
        "runTime.assumed",
        "{n} {kind} has no run time, so {span} is assumed; give one with the annotation "
        "{name}|{n} objects of kind {kind} have no run time, so {span} is assumed for "
        "each; give one with the annotation {name}",
    )
    READABLE = (
        "runTime.readable",
        "{assumed} ({n} of them says it in its command: `simulation.runTimesFrom: sleep` "
        "of the policy reads it)|{assumed} ({n} of them say it in their command: "
        "`simulation.runTimesFrom: sleep` of the policy reads it)",
    )
    OF_COMMANDS = (
        "runTime.ofCommands",
        "{n} {kind} takes its run time from its command|"
        "{n} objects of kind {kind} take their run time from their command",
    )
    OF_DEADLINES = (
        "runTime.ofDeadlines",
        "{n} {kind} takes its deadline for its run time, which is an upper bound|{n} "
        "objects of kind {kind} take their deadline for their run time, which is an "
        "upper bound",
    )
    LEARNED = (
        "runTime.learned",
        "{n} {kind} takes its run time from its like in {name}; the annotation "
        "quotalab.dev/runtime-source says from which|{n} objects of kind {kind} take "
        "their run time from their like in {name}; the annotation "
        "quotalab.dev/runtime-source says from which",
    )
    CHOSEN = (
        "runTime.chosen",
        "{n} object takes its run time from the choice {rule}|"
        "{n} objects take their run time from the choice {rule}",
    )
    CHOSEN_NONE = (
        "runTime.chosenNone",
        "no work without a run time matches the choice {rule}",
    )
    REFUSED = (
        "runTime.refused",
        "{n} {kind} has no run time; give one with the annotation {name}|{n} objects of "
        "kind {kind} have no run time; give each one with the annotation {name}",
    )
    TWO_OWNERS = (
        "runTime.twoOwners",
        "{name} is {object} on the object and {other} on its owner {owner}; the "
        "object's counts",
    )
    TWO = (
        "runTime.two",
        "{name} is {object} on the object and {template} on its pod template; the "
        "object's counts",
    )


class Unknown(Words):
    """Fields and keys that nobody reads."""

    FIELD = ("unknown.field", "unknown field {name} of {kind}")
    FIELD_NEAR = (
        "unknown.fieldNear",
        "unknown field {name} of {kind}; did you mean {near}?",
    )
    FIELD_ABOVE = (
        "unknown.fieldAbove",
        "unknown field {name} of {kind}; it belongs to {holder}: indented too far?",
    )
    KEY = ("unknown.key", "unknown key {name} of {part}")
    KEY_NEAR = ("unknown.keyNear", "unknown key {name} of {part}; did you mean {near}?")
    OF_KIND = ("unknown.ofKind", "{kind}: {what}")


class Kept(NotSimulated):
    """What is kept and decides nothing, and why."""

    KIND = ("kept.kind", "{kind} {name}: not simulated, kept as it is: {note}")
    KINDS = ("kept.kinds", "{kind}: not simulated, kept as it is: {note}")
    SETTING = ("kept.setting", "kept, not simulated", Effect.DEFAULTS)
    SETTINGS = ("kept.settings", "{name}: kept, not simulated", Effect.DEFAULTS)
    PROCESS = (
        "kept.process",
        "kept; a setting of Kueue's own process",
        Effect.NO_DECISION,
    )
    CONTROLLER = (
        "kept.controller",
        "its controller is not simulated; give the Pods or Jobs it makes",
        Effect.NO_PODS,
    )
    SERVES = (
        "kept.serves",
        "read for one thing: the pods that it selects are spread by default",
        Effect.NOT_OTHERWISE,
    )
    NO_PART = (
        "kept.noPart",
        "does not take part in scheduling decisions",
        Effect.NO_DECISION,
    )
    POLICY = (
        "kept.policy",
        "read as policy when it holds a Kueue Configuration or a queues.yaml",
        Effect.NO_POLICY,
    )
    REPLICAS = (
        "kept.replicas",
        "the replicas stay those of the manifest",
        Effect.SAME_SIZE,
    )
    REQUESTS = (
        "kept.requests",
        "the requests and replicas stay those of the manifest",
        Effect.SAME_SIZE,
    )
    STORAGE = ("kept.storage", "free storage is not counted", Effect.STORAGE_FULL)
    ATTACHMENTS = (
        "kept.attachments",
        "the volumes of a node are those of its pods, no attachment counts",
        Effect.MORE_VOLUMES,
    )
    VERSION = (
        "kept.version",
        "version '{version}' of {kind} is not read; known: {known}",
    )
    OTHER = ("kept.other", "a kind of {group} that decides nothing here")
    OTHER_CONVERTED = (
        "kept.otherConverted",
        "a kind of {group} that decides nothing here; `quotalab convert` writes it in "
        "Kueue's terms",
    )
    OTHER_SIMULATED = (
        "kept.otherSimulated",
        "a kind of {group} that decides nothing here; {kind} of {known} is simulated",
    )


class Aside(Words):
    """Documents that are no object of a cluster."""

    NO_OBJECT = ("aside.noObject", "not an object of a cluster: not taken")
    BECAUSE = ("aside.because", "{why}, so it is no object of a cluster: not taken")
    KUSTOMIZATION = (
        "aside.kustomization",
        "a kustomization, which is not applied: the files beside it are taken as they "
        "are; render it first, e.g. with `kubectl kustomize`",
    )
    TEMPLATE = (
        "aside.template",
        "a template that is no YAML yet, which is not taken; render it first, e.g. with "
        "`helm template`",
    )
    BY_ENVSUBST = (
        "aside.byEnvsubst",
        "not filled in: {names}; `envsubst < FILE` fills such names from the environment, "
        "Terraform's `templatefile` from its variables; give what comes of it",
    )
    BY_HAND = (
        "aside.byHand",
        "not filled in: {names}; put what you mean in the place of each, brackets "
        "included",
    )
    TABLE = (
        "aside.table",
        "a table that kubectl prints for people, which holds no objects: ask for them "
        "with `-o yaml`",
    )
    QUEUES = (
        "aside.queues",
        "queues of YuniKorn without their partition: write `partitions:` with one entry, "
        "`name: default`, and these queues below it",
    )
    SPEC = (
        "aside.spec",
        "a part of an object, by `{path}` the spec of a {kind}: write above it "
        "`apiVersion: {version}`, `kind: {kind}`, `metadata:` with a name, and `spec:`",
    )
    PATCH = (
        "aside.patch",
        "a JSON 6902 patch, which is not applied; render it first, e.g. with "
        "`kubectl kustomize`",
    )
    PART = (
        "aside.part",
        "a part of the kustomization in {folder}, not applied by itself; drop what "
        "`kubectl kustomize {folder}` prints, or pipe it into `quotalab run -`",
    )
    CHART = (
        "aside.chart",
        "a part of the Helm chart in {folder}, no manifest yet; drop what "
        "`helm template {folder}` prints, or pipe it into `quotalab run -`",
    )
    TERRAFORM = (
        "aside.terraform",
        "Terraform's own language, which is not read; its plan and its state are: drop "
        "what `terraform show -json` prints, or pipe it into `quotalab run -`",
    )
    KUBECONFIG = (
        "aside.kubeconfig",
        "a kubeconfig, which names clusters and their credentials",
    )
    STATUS = ("aside.status", "an answer of an API server")
    NEITHER = ("aside.neither", "neither apiVersion nor kind")
    NO_KIND = ("aside.noKind", "apiVersion {version} and no kind")
    NO_NAME = ("aside.noName", "a {kind} of {group} without a name")
