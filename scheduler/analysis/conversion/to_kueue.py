"""YuniKorn to Kueue: parent queues become cohorts, leaves ClusterQueues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.analysis.conversion import Converted
from scheduler.analysis.conversion.from_kueue import is_made
from scheduler.engine.yunikorn.objects.model import NullListener
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import Laws
from scheduler.engine.yunikorn.placement import rules
from scheduler.engine.yunikorn.placement.rules import DEFAULT, Submission, place
from scheduler.engine.yunikorn.shim import pods
from scheduler.input.manifests import queues_yaml as manifests
from scheduler.input.manifests.loading.checking import apart, label_of
from scheduler.model import amounts
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object
from scheduler.model.policy import PolicySpec
from scheduler.model.registry import lookup
from scheduler.model.yunikorn import properties
from scheduler.model.yunikorn.task_groups import TASK_GROUPS
from scheduler.words.losses import LostOfYuniKorn

GROUP = "kueue.x-k8s.io/v1beta2"
FLAVOR = "default"
TOP = "root"
_RUNNERS = ("Job", "JobSet", "Pod", "Workload")
_ALWAYS = ("cpu", "memory")

Amounts = dict[str, int]


def convert(objects: list[Object], spec: PolicySpec) -> Converted:
    """Return the Kueue world of a YuniKorn world. See `scheduler.analysis.conversion.converting`."""
    found = Converted()
    partition = manifests.from_plain(spec.yunikorn.queues)
    laws: Laws[Partition] = lookup("laws", spec.yunikorn.laws)()
    writer = _Writer(partition, laws, objects, found)
    writer.write()
    for obj in objects:
        if is_made(obj):
            continue
        if obj.key.kind in _RUNNERS:
            writer.runner(obj)
        else:
            found.keep(obj)
    found.policy = {"stack": "kueue", "kueue": {}, **_node_scoring(partition)}
    return found


def _node_scoring(partition: PartitionSpec) -> dict[str, Any]:
    """Carry bin packing over to kube-scheduler's scoring."""
    if partition.node_sort != "binpacking":
        return {}
    strategy = {"scoringStrategy": {"type": "MostAllocated"}}
    plugin = {"name": "NodeResourcesFit", "args": strategy}
    return {"kubeScheduler": {"profiles": [{"pluginConfig": [plugin]}]}}


class _Writer:
    """Writes cohorts, ClusterQueues and the LocalQueues that jobs turn out to need."""

    def __init__(
        self,
        spec: PartitionSpec,
        laws: Laws[Partition],
        objects: list[Object],
        found: Converted,
    ) -> None:
        self.spec = spec
        self.found = found
        self.nodes = [obj for obj in objects if obj.key.kind == "Node"]
        self.types = self._types(spec.root, objects)
        self.names = _names(spec.root)
        self.local_queues: set[tuple[str, str]] = set()
        self.tree = Partition(rules.opened(spec), laws, NullListener())

    def _types(self, root: QueueConfig, objects: list[Object]) -> list[str]:
        """Return every resource that a quota or a pod names, cpu and memory first."""
        named: set[str] = set()
        for queue in _walk(root):
            named |= {*(queue.guaranteed or {}), *(queue.max or {})}
        for obj in objects:
            if obj.key.kind == "Pod":
                named |= set(pods.read_details(obj).resource)
        named -= {"pods", *_ALWAYS, "vcore"}
        return [*_ALWAYS, *sorted(named)]

    def write(self) -> None:
        """Write everything but the LocalQueues."""
        self._add("ResourceFlavor", FLAVOR, {})
        self._settings()
        self._queue(self.spec.root, "", "")

    def _add(self, kind: str, name: str, spec: dict[str, Any], space: str = "") -> None:
        metadata = {"name": name, **({"namespace": space} if space else {})}
        manifest = {"apiVersion": GROUP, "kind": kind, "metadata": metadata}
        if spec or kind != "ResourceFlavor":
            manifest["spec"] = spec
        self.found.objects.append(Object(key=Key(kind, space, name), manifest=manifest))

    def _queue(self, queue: QueueConfig, above: str, parent: str) -> None:
        path = f"{above}.{queue.name}" if above else queue.name
        name = self.names[path]
        self._losses(queue, path)
        if queue.parent or not above:
            self._cohort(queue, path, parent)
        else:
            self._cluster_queue(queue, name, parent)

    def _cohort(self, queue: QueueConfig, path: str, parent: str) -> None:
        """Write a parent queue; a fenced tenant is a tree of cohorts of its own."""
        name = self.names[path]
        tenant = parent == TOP and _policy(queue) == "fence"
        spec = {"parentName": parent} if parent and not tenant else {}
        self._add("Cohort", name, {**spec, **self._groups(self._spare(queue), {})})
        for child in queue.queues:
            self._queue(child, path, name)

    def _cluster_queue(self, queue: QueueConfig, name: str, parent: str) -> None:
        own, limit = _kubernetes(queue.guaranteed), _kubernetes(queue.max)
        alone = parent == TOP and own and own == limit
        borrowing = {t: max(0, v - own.get(t, 0)) for t, v in limit.items()}
        fenced = _policy(queue) == "fence"
        if not fenced and not alone:
            self.found.lose("preemption", LostOfYuniKorn.EQUAL.said())
        self._add(
            "ClusterQueue",
            name,
            {
                **({} if alone else {"cohortName": parent}),
                "namespaceSelector": {},
                "queueingStrategy": "BestEffortFIFO",
                "preemption": {
                    "reclaimWithinCohort": "Never" if fenced else "LowerPriority",
                    "withinClusterQueue": "Never",
                },
                **self._groups(own, {} if alone else borrowing),
            },
        )

    def _groups(self, own: Amounts, borrowing: Amounts) -> dict[str, Any]:
        rows = []
        for name in self.types:
            row: dict[str, Any] = {
                "name": name,
                "nominalQuota": amounts.text_of(name, own.get(name, 0)),
            }
            if name in borrowing:
                row["borrowingLimit"] = amounts.text_of(name, borrowing[name])
            rows.append(row)
        flavor = {"name": FLAVOR, "resources": rows}
        group = {"coveredResources": list(self.types), "flavors": [flavor]}
        return {"resourceGroups": [group]}

    def _spare(self, queue: QueueConfig) -> Amounts:
        """Return what a parent has beyond its children: they may borrow it.

        The root has the cluster; a parent with a guarantee what that leaves.
        """
        if queue is self.spec.root:
            total = self._cluster()
        else:
            total = _kubernetes(queue.guaranteed)
        spare = dict(total)
        for child in queue.queues:
            for name, value in _kubernetes(_promised(child)).items():
                spare[name] = spare.get(name, 0) - value
        return {t: v for t, v in spare.items() if v > 0}

    def _cluster(self) -> Amounts:
        total: Amounts = {}
        for node in self.nodes:
            record = pods.read_node_object(node)
            for name, value in record.allocatable.items():
                total[name] = total.get(name, 0) + value
        return total

    def _settings(self) -> None:
        spec, found = self.spec, self.found
        for what, given in {
            LostOfYuniKorn.RULES: spec.placement,
            LostOfYuniKorn.LIMITS: spec.limits,
            LostOfYuniKorn.WEIGHTS: spec.weights,
            LostOfYuniKorn.QUOTA_PREEMPTION: spec.quota_preemption,
        }.items():
            if given:
                found.lose("partition", what.said())
        if not spec.preemption:
            found.lose("partition", LostOfYuniKorn.PREEMPTION_OFF.said())

    def _losses(self, queue: QueueConfig, path: str) -> None:
        own = properties.read(queue.properties)
        named = queue.properties
        if queue.parent and queue.max and queue.max != _promised(queue):
            self.found.lose(path, LostOfYuniKorn.PARENT_MAX.said())
        sort = LostOfYuniKorn.SORT_POLICY.said(policy=own.sort_policy)
        for said, given in (
            (sort, own.sort_policy != "fifo"),
            (LostOfYuniKorn.NO_PRIORITIES.said(), not own.by_priority),
            (LostOfYuniKorn.FENCE.said(), own.priority_fence),
            (LostOfYuniKorn.OFFSET.said(), own.priority_offset),
            (LostOfYuniKorn.DISABLED.said(), own.preemption == "disabled"),
            (
                LostOfYuniKorn.OPEN_FENCE.said(),
                own.preemption == "fence" and queue.parent,
            ),
            (LostOfYuniKorn.DELAY.said(), properties.PREEMPTION_DELAY in named),
            (LostOfYuniKorn.QUOTA_DELAY.said(), own.quota_delay_ms),
            (LostOfYuniKorn.MAX_APPLICATIONS.said(), queue.max_applications),
            (LostOfYuniKorn.LIMITS.said(), queue.limits),
            (LostOfYuniKorn.TEMPLATE.said(), queue.template),
        ):
            if given:
                self.found.lose(path, said)

    # -- jobs and pods

    def runner(self, obj: Object) -> None:
        """Take a job or pod, sent through a LocalQueue of its namespace."""
        kept = self.found.keep(obj)
        asked = pods.queue_name(obj) or self._template_queue(obj)
        user, groups = pods.user_of(obj)
        leaf = place(
            self.tree,
            Submission(
                queue=asked or DEFAULT,
                user=user,
                groups=groups,
                tags={"namespace": obj.key.namespace},
            ),
        )
        if leaf is None:
            self.found.lose(str(obj.key), LostOfYuniKorn.NO_QUEUE.said())
            return
        if TASK_GROUPS in obj.annotations:
            self.found.lose(str(obj.key), LostOfYuniKorn.TASK_GROUPS.said())
        name, space = self.names[leaf.path], obj.key.namespace
        if (space, name) not in self.local_queues:
            self.local_queues.add((space, name))
            self._add("LocalQueue", name, {"clusterQueue": name}, space)
        if obj.key.kind == "Workload":
            kept.manifest.setdefault("spec", {})["queueName"] = name
        else:
            kept.metadata.setdefault("labels", {})[QUEUE] = name
        if obj.key.kind == "Job":
            kept.manifest.setdefault("spec", {})["suspend"] = True

    def _template_queue(self, obj: Object) -> str:
        """Return the queue that a job's pods would ask for."""
        template = obj.spec.get("template") or {}
        for pod_set in obj.spec.get("podSets") or ():
            template = template or pod_set.get("template") or {}
        metadata = template.get("metadata") or {}
        return pods.queue_name(
            Object(key=obj.key, manifest={"metadata": metadata, "spec": {}})
        )


def _policy(queue: QueueConfig) -> str:
    return properties.read(queue.properties).preemption


def _walk(queue: QueueConfig) -> Iterator[QueueConfig]:
    yield queue
    for child in queue.queues:
        yield from _walk(child)


def _promised(queue: QueueConfig) -> Amounts:
    """Return what a queue guarantees, or the sum of what its children do."""
    if queue.guaranteed is not None:
        return dict(queue.guaranteed)
    total: Amounts = {}
    for child in queue.queues:
        for name, value in _promised(child).items():
            total[name] = total.get(name, 0) + value
    return total


def _kubernetes(given: Any) -> Amounts:
    return {"cpu" if t == "vcore" else t: v for t, v in (given or {}).items()}


def _names(root: QueueConfig) -> dict[str, str]:
    """Return the Kubernetes name of every queue by path: short where that is clear."""
    paths = list(_paths(root, root.name))
    short = [path.rpartition(".")[2] for path in paths]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path, name in zip(paths, short, strict=True):
        chosen = name if short.count(name) == 1 else path.removeprefix(f"{TOP}.")
        found[path] = apart(_spelt(chosen), taken)
    return found


def _spelt(name: str) -> str:
    """Return a queue's name as Kubernetes takes it; YuniKorn takes more signs."""
    plain = name.lower().replace("_dot_", ".").replace("@", "")
    parts = [label_of(part) for part in plain.split(".")]
    return ".".join(part for part in parts if part) or "queue"


def _paths(queue: QueueConfig, path: str) -> Iterator[str]:
    yield path
    for child in queue.queues:
        yield from _paths(child, f"{path}.{child.name}")
