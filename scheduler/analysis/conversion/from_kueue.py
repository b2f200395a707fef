"""Kueue to YuniKorn: cohorts become parent queues, ClusterQueues leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from scheduler.analysis.conversion import Converted
from scheduler.input.manifests.queues_yaml import to_plain
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Object
from scheduler.model.policy import PolicySpec
from scheduler.model.quota import (
    ClusterQueueSpec,
    CohortSpec,
    Quota,
    ResourceGroup,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_queue,
)
from scheduler.words.losses import LostOfKueue

PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
YUNIKORN_QUEUE = "yunikorn.apache.org/queue"
_LEFT = (
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "ResourceFlavor",
    "WorkloadPriorityClass",
)
_RUNNERS = ("Job", "JobSet", "Pod", "Workload")
_MAKERS = ("Job", "JobSet", "Workload")
_GATE = {"name": "kueue.x-k8s.io/admission"}

Amounts = dict[str, int]


def convert(objects: list[Object], spec: PolicySpec) -> Converted:
    """Return the YuniKorn world of a Kueue world. See `scheduler.analysis.conversion.converting`."""
    found = Converted()
    tree = _Tree(objects, found)
    partition = PartitionSpec(root=tree.root())
    for obj in objects:
        if obj.key.kind in _LEFT or is_made(obj):
            continue
        if obj.key.kind in _RUNNERS:
            _runner(obj, tree, found)
        else:
            found.keep(obj)
    if spec.kueue:
        found.lose("Configuration", LostOfKueue.CONFIGURATION.said())
    found.policy = {
        "stack": "yunikorn",
        "yunikorn": {"laws": "released", "queues": to_plain(partition)},
    }
    return found


def is_made(obj: Object) -> bool:
    """Return whether a job made this pod or Workload: it will be made again."""
    return obj.key.kind in ("Pod", "Workload") and any(
        reference.get("kind") in (*_MAKERS, "Pod")
        for reference in obj.metadata.get("ownerReferences") or ()
    )


def plain(name: str) -> str:
    """Return a Kubernetes name that may stand as one part of a queue path."""
    return name.lower().replace(".", "_dot_")


class _Tree:
    """The cohorts and ClusterQueues by name, and the queues made of them."""

    def __init__(self, objects: Iterable[Object], found: Converted) -> None:
        self.found = found
        self.queues: dict[str, ClusterQueueSpec] = {}
        self.cohorts: dict[str, CohortSpec] = {}
        self.paths: dict[str, str] = {}  # ClusterQueue -> queue path
        self.local_queues: dict[tuple[str, str], str] = {}  # LocalQueue -> ClusterQueue
        for obj in objects:
            self._read(obj)
        for queue in self.queues.values():
            if queue.cohort:
                self.cohorts.setdefault(queue.cohort, CohortSpec(name=queue.cohort))
        for cohort in list(self.cohorts.values()):
            if cohort.parent:
                self.cohorts.setdefault(cohort.parent, CohortSpec(name=cohort.parent))

    def _read(self, obj: Object) -> None:
        match obj.key.kind:
            case "ClusterQueue":
                queue = read_queue(obj.manifest)
                self.queues[queue.name] = queue
                if obj.spec.get("admissionChecks") or obj.spec.get(
                    "admissionChecksStrategy"
                ):
                    self.found.lose(str(obj.key), LostOfKueue.CHECKS.said())
            case "Cohort":
                cohort = read_cohort(obj.manifest)
                self.cohorts[cohort.name] = cohort
            case "LocalQueue":
                local_queue = read_local_queue(obj.manifest)
                self.local_queues[local_queue.namespace, local_queue.name] = (
                    local_queue.queue
                )
            case "ResourceFlavor":
                flavor = read_flavor(obj.manifest)
                subject = f"ResourceFlavor {flavor.name}"
                if flavor.labels:
                    self.found.lose(subject, LostOfKueue.LABELS.said())
                if flavor.taints:
                    self.found.lose(subject, LostOfKueue.TAINTS.said())
            case _:
                pass

    def root(self) -> QueueConfig:
        """Return the whole tree below root."""
        tops = [self._cohort(c, "root", ()) for c in self._below("")]
        alone = [
            self._leaf(queue, "root")
            for _, queue in sorted(self.queues.items())
            if not queue.cohort
        ]
        # Kueue asks nobody who submits: everyone may, as before.
        return QueueConfig(
            name="root", parent=True, submit_acl="*", queues=(*tops, *alone)
        )

    def _below(self, parent: str) -> list[CohortSpec]:
        found = (c for _, c in sorted(self.cohorts.items()) if c.parent == parent)
        return list(found)

    def _cohort(
        self, cohort: CohortSpec, above: str, seen: tuple[str, ...]
    ) -> QueueConfig:
        path = f"{above}.{plain(cohort.name)}"
        subject = f"Cohort {cohort.name}"
        cohorts = [
            self._cohort(child, path, (*seen, cohort.name))
            for child in self._below(cohort.name)
            if child.name not in seen
        ]
        leaves = [
            self._leaf(queue, path)
            for _, queue in sorted(self.queues.items())
            if queue.cohort == cohort.name
        ]
        if cohort.weight != 1.0:
            self.found.lose(subject, LostOfKueue.WEIGHT.said())
        guaranteed = self._guarantee(cohort, [*cohorts, *leaves])
        # Kueue lends inside a tree of cohorts only.
        fence = {} if seen else {"preemption.policy": "fence"}
        total = self._total(guaranteed) if not seen else None
        below = (*cohorts, *leaves)
        return QueueConfig(
            name=plain(cohort.name),
            parent=True,
            guaranteed=guaranteed,
            max=total,
            properties=fence,
            queues=tuple(_within(leaf, total) for leaf in below) if total else below,
        )

    def _guarantee(
        self, cohort: CohortSpec, children: list[QueueConfig]
    ) -> Amounts | None:
        """Return what the cohort owns and lends, its children's sum included."""
        total, _ = self._amounts(f"Cohort {cohort.name}", cohort.groups)
        for child in children:
            for name, value in (child.guaranteed or {}).items():
                total[name] = total.get(name, 0) + value
        return total or None

    def _total(self, guaranteed: Amounts | None) -> Amounts | None:
        """Return the most that a whole tree may use: what it owns."""
        return dict(guaranteed) if guaranteed else None

    def _leaf(self, queue: ClusterQueueSpec, above: str) -> QueueConfig:
        subject = f"ClusterQueue {queue.name}"
        self.paths[queue.name] = f"{above}.{plain(queue.name)}"
        self._name_losses(queue, subject)
        guaranteed, ceiling = self._amounts(subject, queue.groups)
        properties = {}
        if queue.cohort and queue.preemption.reclaim == "Never":
            properties["preemption.policy"] = "fence"
        if not queue.cohort:
            ceiling = dict(guaranteed)
        return QueueConfig(
            name=plain(queue.name),
            guaranteed=guaranteed or None,
            max={t: v for t, v in ceiling.items() if v} or None,
            properties=properties,
        )

    def _amounts(
        self, subject: str, groups: tuple[ResourceGroup, ...]
    ) -> tuple[Amounts, Amounts]:
        """Return nominal quota and nominal + borrowing limit, flavors summed."""
        nominal: Amounts = {}
        ceiling: Amounts = {}
        unlimited: set[str] = set()
        for group in groups:
            if len(group.flavors) > 1:
                names = ", ".join(group.flavors)
                self.found.lose(subject, LostOfKueue.FLAVORS.said(names=names))
            for (_, resource), quota in group.quotas.items():
                name = "vcore" if resource == "cpu" else resource
                self._add(subject, name, quota, nominal, ceiling, unlimited)
        ceiling = {t: v for t, v in ceiling.items() if t not in unlimited}
        return {t: v for t, v in nominal.items() if v}, ceiling

    def _add(
        self,
        subject: str,
        name: str,
        quota: Quota,
        nominal: Amounts,
        ceiling: Amounts,
        unlimited: set[str],
    ) -> None:
        nominal[name] = nominal.get(name, 0) + quota.nominal
        if quota.borrowing is None:
            unlimited.add(name)
        else:
            limit = quota.nominal + quota.borrowing
            ceiling[name] = ceiling.get(name, 0) + limit
            if not limit:
                self.found.lose(subject, LostOfKueue.ZERO.said(resource=name))
        if quota.lending is not None:
            self.found.lose(subject, LostOfKueue.LENDING.said(resource=name))

    def _name_losses(self, queue: ClusterQueueSpec, subject: str) -> None:
        lost = (
            (LostOfKueue.STRICT.said(), queue.strategy == "StrictFIFO"),
            (LostOfKueue.STOP.said(policy=queue.stop), queue.stop != "None"),
            (LostOfKueue.SELECTOR.said(), bool(queue.selector.requirements)),
            (LostOfKueue.WITHIN.said(), queue.preemption.within_queue != "Never"),
            (
                LostOfKueue.BORROW_WITHIN.said(),
                queue.preemption.borrow_policy != "Never",
            ),
            (
                LostOfKueue.RECLAIM_LOWER.said(),
                queue.preemption.reclaim == "LowerPriority",
            ),
            (LostOfKueue.RECLAIM_HIGHER.said(), queue.preemption.reclaim == "Any"),
            (LostOfKueue.WEIGHT.said(), queue.weight != 1.0),
        )
        for said, given in lost:
            if given:
                self.found.lose(subject, said)


def _within(queue: QueueConfig, total: Amounts) -> QueueConfig:
    """Return the queue with no limit above what its tree has: none could be used."""
    most = {t: min(v, total.get(t, v)) for t, v in (queue.max or {}).items()}
    below = tuple(_within(child, total) for child in queue.queues)
    return dataclasses.replace(queue, max=most or None, queues=below)


def _runner(obj: Object, tree: _Tree, found: Converted) -> None:
    """Take a job or pod, sent to the queue that its LocalQueue led to."""
    kept = found.keep(obj)
    spec: dict[str, Any] = kept.manifest.get("spec") or {}
    labels = kept.metadata.setdefault("labels", {})
    local_queue = labels.pop(QUEUE, None) or spec.pop("queueName", None)
    if labels.pop(PRIORITY_LABEL, None):
        found.lose(str(obj.key), LostOfKueue.PRIORITY_CLASS.said())
    if obj.key.kind == "Job":
        spec.pop("suspend", None)
    elif obj.key.kind == "Pod":
        spec["schedulingGates"] = [
            gate for gate in spec.get("schedulingGates") or () if gate != _GATE
        ]
    path = tree.paths.get(
        tree.local_queues.get((obj.key.namespace, str(local_queue)), "")
    )
    if local_queue and path is None:
        found.lose(str(obj.key), LostOfKueue.NOWHERE.said(name=str(local_queue)))
    if path is not None:
        for metadata in (kept.metadata, *_templates(kept)):
            metadata.setdefault("labels", {})[YUNIKORN_QUEUE] = path


def _templates(obj: Object) -> list[dict[str, Any]]:
    """Return the metadata of the pod templates that an object holds."""
    spec = obj.spec
    holders = [spec, *(spec.get("podSets") or ())]
    holders += [
        (job.get("template") or {}).get("spec") or {}
        for job in spec.get("replicatedJobs") or ()
    ]
    templates = (holder.get("template") for holder in holders)
    return [t.setdefault("metadata", {}) for t in templates if isinstance(t, dict)]
