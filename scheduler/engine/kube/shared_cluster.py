"""What the schedulers of one run share: their pods, the nodes as they are."""

from __future__ import annotations

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.gangs import Gangs
from scheduler.engine.kube.cache.pod_group_index import PodGroupIndex
from scheduler.engine.kube.devices.known import Devices
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.numa.known import Topologies
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.engine.kube.volumes.known import Binding, Volumes
from scheduler.engine.stage import Context
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.storage.volumes import VOLUME


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
        self.notify(Event(events.CLAIM_CHANGED, old=before, new=before))

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
            self.notify(Event(events.DEVICE_CLAIM_CHANGED, new=key))

    def notify(self, event: Event) -> None:
        """Let an event requeue the pods that it may help."""
        for scheduler in self.schedulers:
            scheduler.event(event)
