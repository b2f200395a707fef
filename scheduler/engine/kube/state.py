"""What placement writes into a Pod, and how a restart takes it up again."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.pod_group import Gangs, PodGroupIndex
from scheduler.engine.kube.devices.allocator import Devices
from scheduler.engine.kube.extender.extenders import ExtenderRecord
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event, QueuedPodInfo
from scheduler.engine.kube.framework.status import CycleState
from scheduler.engine.kube.numa.topology import Topologies
from scheduler.engine.kube.scheduling.host import AssumedPod
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.engine.kube.volumes.known import Binding, Volumes
from scheduler.engine.stage import Context
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.storage.claims import VOLUME

NAME = "kube"
_VICTIM = {
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "removed to make room for a pod of higher priority",
}
_PLAIN = (
    "timestamp_us",
    "first_us",
    "seq",
    "place",
    "attempts",
    "rejections",
    "errors",
    "ready_ms",
    "attempt_ms",
    "tried_before_ms",
    "message",
    "reason",
)
_SETS = ("rejectors", "waiting_on", "woken")


def dump_queued(queued: QueuedPodInfo) -> dict[str, Any]:
    """Return a queue entry as plain values."""
    found: dict[str, Any] = {name: getattr(queued, name) for name in _PLAIN}
    for name in _SETS:
        found[name] = sorted(getattr(queued, name))
    if queued.failures:
        found["failures"] = {m: list(seen) for m, seen in queued.failures.items()}
    return found


def load_queued(pod: Pod, state: dict[str, Any]) -> QueuedPodInfo:
    """Return the queue entry that `dump_queued` wrote."""
    queued = QueuedPodInfo(pod=pod)
    for name in _PLAIN:
        setattr(queued, name, state[name])
    for name in _SETS:
        setattr(queued, name, set(state[name]))
    for message, (count, since) in state.get("failures", {}).items():
        queued.failures[message] = count, since
    return queued


def dump_assumed(assumed: AssumedPod) -> dict[str, Any]:
    """Return an assumed pod's node, waits and binding as plain values."""
    return {
        "node": assumed.node,
        "waits": dict(assumed.waits),
        "waited": dict(assumed.waited_ms),
        "bindAt": assumed.bind_at,
        "seen": assumed.seen,
        "read": assumed.read,
        "order": assumed.order,
    }


def load_assumed(
    scheduler: Scheduler, queued: QueuedPodInfo, state: dict[str, Any]
) -> AssumedPod:
    """Return the assumed pod that `dump_assumed` wrote.

    Its cycle state is empty: what a plug-in needs after Permit it keeps itself.
    """
    return AssumedPod(
        queued=queued,
        node=state["node"],
        framework=scheduler.frameworks[queued.pod.scheduler_name],
        state=CycleState(),
        waits=dict(state["waits"]),
        waited_ms=dict(state["waited"]),
        bind_at=state["bindAt"],
        seen=state["seen"],
        read=state.get("read", 1),
        order=state["order"],
    )


def set_condition(obj: Object, kind: str, fields: dict[str, Any] | None) -> None:
    """Put, replace or (None) drop one condition of a status; order is kept."""
    conditions = [c for c in obj.status.get("conditions") or [] if c["type"] != kind]
    if fields is not None:
        conditions.append({"type": kind, **fields})
    if conditions:
        obj.status["conditions"] = conditions
    else:
        obj.status.pop("conditions", None)


def scheduled_condition(
    queued: QueuedPodInfo | None, placed: bool
) -> dict[str, Any] | None:
    """Return the PodScheduled condition; None before the first attempt."""
    if placed:
        return {"status": "True"}
    if queued is None or not queued.reason:
        return None
    return {"status": "False", "reason": queued.reason, "message": queued.message}


def write_pod(shared: SharedCluster, obj: Object) -> None:
    """Write what is known of a pod into its status and state."""
    key = obj.key
    if key not in shared.pods:
        obj.state.pop(NAME, None)
        return
    scheduler = shared.responsible(shared.pods[key])
    placed = shared.nodes.placed.get(key)
    queued = scheduler.queue.entries.get(key) if scheduler else None
    assumed = scheduler.assumed.get(key) if scheduler else None
    nominated = scheduler.nominations.node(key) if scheduler else ""
    kept: dict[str, Any] = {}
    record = scheduler.extenders.recorded.get(key) if scheduler else None
    if record is not None:
        kept["extender"] = msgspec.to_builtins(record)
    if queued is not None:
        kept["queued"] = dump_queued(queued)
    if assumed is not None:
        kept["held"] = dump_assumed(assumed)
    elif placed is not None:
        kept["node"] = placed[1]
        kept["started"] = placed[0].started_us
        kept["leaving"] = placed[0].disrupted
    if nominated:
        kept["nominated"] = obj.status["nominatedNodeName"] = nominated
    else:
        obj.status.pop("nominatedNodeName", None)
    if key in shared.refused:
        reason, message = shared.refused[key]
        kept["refused"] = [reason, message]
        obj.status.update(phase="Failed", reason=reason, message=message)
    obj.state[NAME] = kept
    bound = placed if assumed is None else None
    set_condition(obj, "PodScheduled", scheduled_condition(queued, bound is not None))
    victim = bound is not None and bound[0].disrupted
    set_condition(obj, "DisruptionTarget", _VICTIM if victim else None)


def restore_pod(shared: SharedCluster, obj: Object, pod: Pod) -> bool:
    """Take up a pod as `write_pod` left it; False for one that never was written."""
    kept = obj.state.get(NAME)
    scheduler = shared.responsible(pod)
    if kept is None or (scheduler is None and not kept.get("node")):
        return False
    if scheduler is not None and "extender" in kept:
        record = msgspec.convert(kept["extender"], ExtenderRecord)
        scheduler.extenders.recorded[pod.key] = record
    shared.pods[pod.key] = pod
    shared.members.put(pod)
    shared.volumes.pod_added(pod)
    shared.devices.pod_added(pod)
    if "refused" in kept:
        shared.refused[pod.key] = (kept["refused"][0], kept["refused"][1])
    if kept.get("node"):
        _restore_placed(shared, pod, kept)
    elif scheduler is not None:
        _restore_pending(scheduler, pod, kept)
    return True


def _restore_placed(shared: SharedCluster, pod: Pod, kept: dict[str, Any]) -> None:
    placed = msgspec.structs.replace(
        pod,
        started_us=kept["started"],
        terminating=pod.terminating or kept["leaving"],
        disrupted=pod.disrupted or kept["leaving"],
    )
    shared.pods[pod.key] = placed
    shared.devices.use(placed)
    for cluster in shared.clusters():
        cluster.place(placed, kept["node"])


def _restore_pending(scheduler: Scheduler, pod: Pod, kept: dict[str, Any]) -> None:
    if kept.get("nominated"):
        scheduler.nominations.put(pod, kept["nominated"])
    if "queued" not in kept:
        return
    queued = load_queued(pod, kept["queued"])
    scheduler.queue.restore(queued)
    if pod.terminating and queued.place == "flight":
        scheduler.queue.done(queued)  # it was set aside for good
    if "held" in kept:
        assumed = load_assumed(scheduler, queued, kept["held"])
        scheduler.assumed[pod.key] = assumed
        if assumed.bind_at is not None:
            scheduler.queue_binding(assumed)
        elif not assumed.waits:
            scheduler.queue.done(queued)
        scheduler.cluster.place(pod, assumed.node)
        scheduler.host.lock(scheduler, assumed.node)


# ------------------------------------------------------------------------
# What the schedulers of one run share: their pods, the nodes as they are.


class SharedCluster:
    """The schedulers of a run, and what is true whichever of them looks.

    A single scheduler works on `nodes` itself. Several each have a cache of
    their own, and `nodes` is what really is where.
    """

    def __init__(self, context: Context, *, several: bool) -> None:
        self.context = context
        self.several = several
        self.schedulers: list[Scheduler] = []
        self.nodes = ClusterCache()
        self.volumes = Volumes()
        self.devices = Devices()
        self.topologies = Topologies()
        self.gangs = Gangs()
        self.pods: dict[Key, Pod] = {}
        self.members = PodGroupIndex()
        self.refused: dict[Key, tuple[str, str]] = {}  # by their node: reason, message

    def add(self, scheduler: Scheduler) -> None:
        """Take a scheduler; the only one of a run shows the nodes as they are."""
        self.schedulers.append(scheduler)
        for cluster in (scheduler.cluster, self.nodes):
            cluster.volumes = self.volumes
            cluster.devices = self.devices
            cluster.topologies = self.topologies
            cluster.gangs = self.gangs
        if not self.several:
            self.nodes = scheduler.cluster

    def clusters(self) -> list[ClusterCache]:
        """Return every cache, and the nodes as they are."""
        caches = [scheduler.cluster for scheduler in self.schedulers]
        return [self.nodes, *caches] if self.several else caches

    def responsible(self, pod: Pod) -> Scheduler | None:
        """Return the scheduler that the pod names."""
        for scheduler in self.schedulers:
            if scheduler.responsible(pod):
                return scheduler
        return None

    def bind_claim(self, key: Key, binding: Binding) -> None:
        """Give a claim its volume, and wake the pods that wait for that."""
        volumes = self.volumes
        before = volumes.claims[key]
        volumes.bind(key, binding)
        self.context.journal.touch(key)
        if not binding.made:
            self.context.journal.touch(Key(VOLUME, "", binding.volume))
        self.notify(Event(plugin.CLAIM_CHANGED, old=before, new=before))

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""
        self.devices.bind(pod)
        self._claims_changed(self.devices.claim_keys(pod))

    def free_devices(self, pod: Pod) -> None:
        """Free the devices that nobody uses any longer without the pod."""
        self._claims_changed(self.devices.pod_gone(pod))

    def _claims_changed(self, keys: list[Key]) -> None:
        for key in keys:
            self.context.journal.touch(key)
            self.notify(Event(plugin.DEVICE_CLAIM_CHANGED, new=key))

    def notify(self, event: Event) -> None:
        """Let an event requeue the pods that it may help."""
        for scheduler in self.schedulers:
            scheduler.event(event)
