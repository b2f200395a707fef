"""What controllers make: ReplicaSets and their pods, pods of DaemonSets, Jobs of CronJobs.

Source: docs/semantics/controllers.md.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from scheduler.engine.lifetime.admission import POD_SET, make_pod
from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.runtime_state import RuntimeState
from scheduler.engine.stage import US_PER_MS
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.cron import CronSchedule, read_schedule
from scheduler.model.durations import stamp_text, stamp_us
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.node import Node, read_node
from scheduler.model.objects import Key, Object
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.pod import default_pod_spec, template_hash
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.selectors import tolerated

# ------------------------------------------------------------------------
# Deployment: ReplicaSets of its templates, which make the pods.


REPLICA_SET = "ReplicaSet"
#: On the pods of what Kueue admits by its pods: the integration that answers for them.
SUSPENDED_BY = "kueue.x-k8s.io/pod-suspending-parent"
_HASH = "pod-template-hash"


def replica_set_of(deployment: Object, replicas: int, *, managed: bool) -> Object:
    """Return a ReplicaSet of the template that a Deployment has now.

    The pods of a `managed` one are admitted one by one.
    """
    template = _template(deployment, managed=managed)
    number = template_hash(template)
    template["metadata"]["labels"][_HASH] = number
    key = Key(REPLICA_SET, deployment.key.namespace, f"{deployment.key.name}-{number}")
    selector = copy.deepcopy(deployment.spec.get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), _HASH: number}
    manifest = {
        "apiVersion": deployment.manifest["apiVersion"],
        "kind": REPLICA_SET,
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": dict(template["metadata"]["labels"]),
            "annotations": ours(deployment),
            "ownerReferences": [reference_to(deployment)],
        },
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }
    return Object(key=key, manifest=manifest)


def is_made_here(replica_set: Object) -> bool:
    """Return whether a ReplicaSet was made here, and did not come with its Deployment."""
    template = copy.deepcopy(replica_set.spec.get("template") or {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    number = labels.pop(_HASH, "")
    named = replica_set.key.name.rpartition("-")[2]
    return bool(number) and number == named == template_hash(template)


def _template(deployment: Object, *, managed: bool) -> dict[str, Any]:
    """Return the pod template; Kueue's webhook hands the queue and the class on."""
    template: dict[str, Any] = copy.deepcopy(deployment.spec.get("template") or {})
    metadata = template.setdefault("metadata", {})
    if not managed:
        metadata["labels"] = dict(metadata.get("labels") or {})
        return template
    handed = {
        name: deployment.labels[name]
        for name in (QUEUE, PRIORITY_CLASS)
        if name in deployment.labels
    }
    metadata["labels"] = {**(metadata.get("labels") or {}), **handed}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        SUSPENDED_BY: "deployment",
    }
    return template


def wanted_of(deployment: Object) -> int:
    """Return how many pods a Deployment asks for."""
    return int(deployment.spec.get("replicas", 1))


def is_recreated(deployment: Object) -> bool:
    """Return whether all pods of older templates end before others are made."""
    return (deployment.spec.get("strategy") or {}).get("type") == "Recreate"


def reference_to(owner: Object) -> dict[str, Any]:
    """Return the reference of what an object controls."""
    return {**_reference(owner), "controller": True}


def ours(obj: Object) -> dict[str, str]:
    """Return what an object's annotations say of its time, but for its arrival."""
    return {
        name: value
        for name, value in obj.annotations.items()
        if name.startswith(PREFIX) and name != ARRIVAL
    }


class Rollout:
    """How a Deployment goes from the pods of older templates to those of its present one.

    `available` are, per ReplicaSet, its pods that have been ready for `minReadySeconds`.
    Source: docs/semantics/controllers.md#rolling-updates.
    """

    def __init__(
        self,
        deployment: Object,
        new: Object,
        old: list[Object],
        available: Mapping[Key, int],
    ) -> None:
        self.wanted = wanted_of(deployment)
        self.recreates = is_recreated(deployment)
        self.strategy = deployment.spec.get("strategy") or {}
        self.new, self.old = new, old  # the oldest first
        self.available = available
        self.counts = {one.key: replicas_of(one) for one in (new, *old)}

    def counts_for(self, *, pods_are_left: bool) -> dict[Key, int]:
        """Return how many pods each ReplicaSet is to have now.

        `pods_are_left` says whether pods of older templates exist, those that end too.
        """
        if self.recreates:
            for one in self.old:
                self.counts[one.key] = 0
            if not pods_are_left:
                self.counts[self.new.key] = self.wanted
            return self.counts
        surge, away = self._spare()
        self._scale_new(surge)
        self._scale_old(self.wanted - away)
        return self.counts

    def _spare(self) -> tuple[int, int]:
        """Return how many pods may be too many, and how many may be away."""
        given = self.strategy.get("rollingUpdate") or {}
        surge = surge_of(self.strategy, self.wanted)
        away = _share(given.get("maxUnavailable", "25%"), self.wanted, up=False)
        return (surge, away) if surge or away else (0, 1)

    def _scale_new(self, surge: int) -> None:
        key = self.new.key
        room = self.wanted + surge - sum(self.counts.values())
        if self.counts[key] > self.wanted:
            self.counts[key] = self.wanted
        elif room > 0:
            self.counts[key] += min(room, self.wanted - self.counts[key])

    def _scale_old(self, least: int) -> None:
        """Take pods of older templates that are not ready, then so many as may be away."""
        coming = self.counts[self.new.key] - self._available(self.new)
        spare = sum(self.counts.values()) - least - coming
        for one in self.old:
            away = min(self.counts[one.key] - self._available(one), max(0, spare))
            self.counts[one.key] -= away
            spare -= away
        spare = sum(map(self._available, (self.new, *self.old))) - least
        for one in self.old:
            away = min(self.counts[one.key], max(0, spare))
            self.counts[one.key] -= away
            spare -= away

    def _available(self, replica_set: Object) -> int:
        return min(self.available[replica_set.key], self.counts[replica_set.key])


def surge_of(strategy: Mapping[str, Any], wanted: int) -> int:
    """Return how many pods a rolling Deployment may have beyond those it asks for."""
    given = strategy.get("rollingUpdate") or {}
    return _share(given.get("maxSurge", "25%"), wanted, up=True)


def resized(deployment: Object, before: Object, sets: list[Object]) -> dict[Key, int]:
    """Return the pods of each ReplicaSet when a Deployment is scaled while it rolls.

    `sets` are those that have pods, the oldest first. Each gets its share of the pods
    that are added, or taken away, by its size.
    Source: docs/semantics/controllers.md#rolling-updates.
    """
    wanted, had = wanted_of(deployment), wanted_of(before)
    most = wanted + surge_of(deployment.spec.get("strategy") or {}, wanted)
    most_before = had + surge_of(before.spec.get("strategy") or {}, had)
    counts = {one.key: replicas_of(one) for one in sets}
    more = (most if wanted else 0) - sum(counts.values())
    newest_first = [*reversed(counts)] if more > 0 else [*counts]
    order = sorted(newest_first, key=lambda key: -counts[key])
    left = more
    for key in order:
        size = counts[key]
        share = int(size * most / most_before + 0.5) - size if wanted else -size
        share = min(share, left) if more > 0 else max(share, left)
        counts[key] += share
        left -= share
    counts[order[0]] = max(0, counts[order[0]] + left)
    return counts


def replicas_of(replica_set: Object) -> int:
    """Return how many pods a ReplicaSet asks for."""
    return int(replica_set.spec.get("replicas", 1))


def _share(given: Any, of: int, *, up: bool) -> int:
    """Return a count, or so many percent of `of`, rounded `up` or down."""
    text = str(given)
    if not text.endswith("%"):
        return int(given)
    share = of * int(text[:-1])
    return -(-share // 100) if up else share // 100


# ------------------------------------------------------------------------
# ReplicaSet: so many pods, each for itself.


def sync_replica_set(
    lifetime: TaintEviction, replica_set: Object, pods: list[Object]
) -> None:
    """Make the pods that are missing, or delete those that are too many."""
    wanted = int(replica_set.spec.get("replicas", 1))
    active = active_pods(lifetime, pods)
    for _ in range(wanted - len(active)):
        if not make_owned_pod(lifetime, replica_set, {}):
            break
    else:
        lifetime.jobs.has_its_pods(replica_set)
    # Those without a node go first, then those that are not ready, then the newest.
    active.sort(
        key=lambda pod: (
            pod.key in lifetime.placed,
            lifetime.is_ready(pod.key),
            -_age(pod),
        )
    )
    for pod in active[: max(0, len(active) - wanted)]:
        lifetime.terminate(pod.key)


def active_pods(lifetime: TaintEviction, pods: list[Object]) -> list[Object]:
    """Return the pods that count: neither ended nor being deleted."""
    return [
        pod
        for pod in pods
        if not has_ended(pod.status)
        and pod.key not in lifetime.terminating
        and not pod.metadata.get("deletionTimestamp")
    ]


def make_owned_pod(
    lifetime: TaintEviction, owner: Object, spec: dict[str, Any]
) -> bool:
    """Put a pod of the owner's template, with these fields; False when refused."""
    template = copy.deepcopy(owner.spec["template"])
    template["spec"].update(spec)
    default_pod_spec(template["spec"])
    pod_set = {"name": "pod", "template": template}
    ordinal = lifetime.next_ordinal(owner.key)
    pod = make_pod(owner, pod_set, ordinal, node_selector={}, tolerations=[])
    del pod.metadata["labels"][POD_SET]
    if owner.key.kind == REPLICA_SET:
        pod.metadata["annotations"] |= ours(owner) | _timed(template)
    delay = lifetime.jobs.refused_for(owner, pod)
    if delay is not None:
        lifetime.give_back_ordinal(owner.key)
        lifetime.jobs.sync_again(owner.key, lifetime.context.now_ms + delay)
        return False
    return lifetime.jobs.put_admitted(pod)


def _timed(template: dict[str, Any]) -> dict[str, str]:
    """Return what a pod template says of the time of its pods."""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return {n: v for n, v in annotations.items() if n.startswith(PREFIX)}


def _age(pod: Object) -> int:
    """Return the number of a pod that was made here; one that came is older."""
    number = pod.key.name.rpartition("-")[2]
    return int(number) if is_whole(number) else 0


# ------------------------------------------------------------------------
# DaemonSet: a pod on every node that its template may run on.


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE = "node.kubernetes.io/"
#: Taints that each pod of a DaemonSet tolerates, without end.
_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_OF_THE_HOST = ("network-unavailable", "NoSchedule")


def sync_daemon_set(
    lifetime: TaintEviction, daemon_set: Object, pods: list[Object]
) -> None:
    """Make a pod for each node that lacks one; delete those that belong to none."""
    template = daemon_set.spec["template"]["spec"]
    needs = PlacementNeeds({**template, "tolerations": _tolerations(template)})
    nodes = [lifetime.host.objects[key] for key in sorted(lifetime.nodes)]
    read = [read_node(one.manifest, one.status) for one in nodes]
    only = template.get("nodeName")
    matching = {
        node.name: node
        for node in read
        if only in (None, "", node.name) and _matches(needs, node)
    }
    taken: set[str] = set()
    for pod in active_pods(lifetime, pods):
        name = _node_of(pod)
        node = matching.get(name)
        if node is None or name in taken or not _fits(needs, node, ("NoExecute",)):
            lifetime.terminate(pod.key)
        taken.add(name)
    for name, node in matching.items():
        if name in taken or not _fits(needs, node, ("NoExecute", "NoSchedule")):
            continue
        if not make_owned_pod(lifetime, daemon_set, _bound_to(template, name)):
            break
    else:
        lifetime.jobs.has_its_pods(daemon_set)


def _matches(needs: PlacementNeeds, node: Node) -> bool:
    """Return whether the template's selector and affinity let it on the node."""
    if any(node.labels.get(key) != value for key, value in needs.selector.items()):
        return False
    terms = needs.terms
    return terms is None or any(term.matches(node.name, node.labels) for term in terms)


def _fits(needs: PlacementNeeds, node: Node, effects: tuple[str, ...]) -> bool:
    """Return whether it tolerates the taints of these effects."""
    return all(
        tolerated(taint, needs.tolerations)
        for taint in node.taints
        if taint.effect in effects
    )


def _tolerations(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tolerations of the template and those that each such pod gets."""
    usual = [*_TOLERATED, *([_OF_THE_HOST] if template.get("hostNetwork") else [])]
    added = [
        {"key": _NODE + name, "operator": "Exists", "effect": effect}
        for name, effect in usual
    ]
    return [*(template.get("tolerations") or []), *added]


def _bound_to(template: dict[str, Any], node: str) -> dict[str, Any]:
    """Return the fields that let a pod run on this node alone."""
    affinity = copy.deepcopy(template.get("affinity") or {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    by_node = affinity.setdefault("nodeAffinity", {})
    by_node[_REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"affinity": affinity, "tolerations": _tolerations(template)}


def _node_of(pod: Object) -> str:
    """Return the node that a pod is on, or is meant for."""
    if name := pod.spec.get("nodeName"):
        return str(name)
    for term in PlacementNeeds(pod.spec).terms or ():
        for name in sorted(term.names() or ()):
            return name
    return ""


# ------------------------------------------------------------------------
# CronJob: Jobs at the times of a schedule.


SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_US_PER_MINUTE = 60_000_000
_US_PER_SECOND = 1_000_000
#: Condition of Jobs that ended, the limit of how many are kept, and its default.
_HISTORY = (
    ("Complete", "successfulJobsHistoryLimit", 3),
    ("Failed", "failedJobsHistoryLimit", 1),
)


def sync_cron_job(
    lifetime: RuntimeState, cron_job: Object, jobs: list[Object]
) -> int | None:
    """Make the Job that is due and delete old ones; return when (ms) the next is due.

    `jobs` are those that it owns, with their statuses. None: it waits for nothing.
    """
    spec = cron_job.spec
    active = [job for job in jobs if not is_true(job.status, "Complete", "Failed")]
    for condition, limit, default in _HISTORY:
        ended = [job for job in jobs if is_true(job.status, condition)]
        _clean_up(lifetime, ended, int(spec.get(limit, default)))
    _note_success(cron_job, jobs)
    at = None
    if not spec.get("suspend"):
        schedule = read_schedule(spec["schedule"], spec.get("timeZone") or "")
        active = _start_due(lifetime, cron_job, schedule, active)
        at = schedule.after(lifetime.context.now_us)
    cron_job.status["active"] = [_reference(job) for job in active]
    epoch_us = lifetime.context.epoch_us
    return None if at is None else -((epoch_us - at) // US_PER_MS)


def _clean_up(lifetime: RuntimeState, ended: list[Object], limit: int) -> None:
    """Delete the oldest beyond the limit."""
    ended.sort(key=lambda job: (str(job.status.get("startTime", "")), job.key))
    for job in ended[: max(0, len(ended) - limit)]:
        lifetime.host.delete(job.key)


def _note_success(cron_job: Object, jobs: list[Object]) -> None:
    times = [str(job.status.get("completionTime", "")) for job in jobs]
    known = str(cron_job.status.get("lastSuccessfulTime", ""))
    if latest := max([known, *times]):
        cron_job.status["lastSuccessfulTime"] = latest


def _start_due(
    lifetime: RuntimeState,
    cron_job: Object,
    schedule: CronSchedule,
    active: list[Object],
) -> list[Object]:
    """Make the Job of the last time that was missed; return the active Jobs then.

    Forbid leaves the time missed: it is tried again when the active Job has ended.
    """
    at = _missed(lifetime, cron_job, schedule)
    policy = cron_job.spec.get("concurrencyPolicy")
    if at is None or (policy == "Forbid" and active):
        return active
    if policy == "Replace":
        for job in active:
            lifetime.host.delete(job.key)
        active = []
    cron_job.status["lastScheduleTime"] = stamp_text(at)
    job = _job(cron_job, at)
    if job.key in lifetime.host.objects:
        return active
    return [*active, lifetime.host.put(job)]


def _missed(
    lifetime: RuntimeState, cron_job: Object, schedule: CronSchedule
) -> int | None:
    """Return the last time of the schedule that has no Job and is not too late."""
    now = lifetime.context.now_us
    since = stamp_us(
        cron_job.status.get("lastScheduleTime")
        or cron_job.metadata["creationTimestamp"]
    )
    deadline = cron_job.spec.get("startingDeadlineSeconds")
    if deadline is not None:
        since = max(since, now - int(deadline) * _US_PER_SECOND)
    return schedule.latest(since, now)


def _job(cron_job: Object, at_us: int) -> Object:
    """Return the Job of a scheduled time: named after it, as its template says."""
    template = copy.deepcopy(cron_job.spec["jobTemplate"])
    given = template.get("metadata") or {}
    name = f"{cron_job.key.name}-{at_us // _US_PER_MINUTE}"
    ours = {
        name: value
        for name, value in cron_job.annotations.items()
        if name.startswith(PREFIX) and name != ARRIVAL
    }
    annotations = {**ours, **(given.get("annotations") or {})}
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": cron_job.key.namespace,
            "labels": given.get("labels") or {},
            "annotations": {**annotations, SCHEDULED: stamp_text(at_us)},
            "ownerReferences": [reference_to(cron_job)],
        },
        "spec": template["spec"],
    }
    key = Key("Job", cron_job.key.namespace, name)
    return Object(key=key, manifest=manifest)


def _reference(obj: Object) -> dict[str, Any]:
    return {
        "apiVersion": obj.manifest["apiVersion"],
        "kind": obj.key.kind,
        "name": obj.key.name,
        "uid": obj.uid,
    }
