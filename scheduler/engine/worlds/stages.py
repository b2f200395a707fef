"""The stages of a world: built from its policy, restored from its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.lifetime.stage import Lifetime
from scheduler.engine.stack import build_stages
from scheduler.engine.stage import Context, Stage
from scheduler.engine.worlds.encoding import Header
from scheduler.model import durations
from scheduler.model.autoscaling.group_spec import AUTOSCALED, GROWING
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.policy import Policy, read_policy

if TYPE_CHECKING:
    from scheduler.engine.autoscaling.stage import AutoscalingStage
    from scheduler.engine.autoscaling.supply import AutoscalingHost
    from scheduler.engine.lifetime.runtime_state import LifetimeHost
    from scheduler.engine.multikueue.stage import MultiKueueStage
    from scheduler.engine.multikueue.workers import MultiKueueHost


AUTOSCALING = "autoscaling"
MULTIKUEUE = "multikueue"


class WorldStages:
    """A policy, a clock, objects, and the stages that are derived from them.

    The stages drive the world that they live in: a class that builds on this one
    has what `LifetimeHost`, `AutoscalingHost` and `MultiKueueHost` ask for.
    """

    def __init__(self, header: Header) -> None:
        self.policy: Policy = read_policy(header.policy)
        simulation = self.policy.spec.simulation
        self.context = Context(
            seed=header.seed,
            epoch_us=durations.stamp_us(simulation.start_time),
            now_ms=header.now_ms,
        )
        self.objects: dict[Key, Object] = {}
        self.going: dict[Key, None] = {}  # deleted, and in use until now
        # Both come with the first object of theirs: a NodeGroup, a worker's object.
        self.autoscaling: AutoscalingStage | None = None
        self.multikueue: MultiKueueStage | None = None
        self._build(header.state)

    def _build(self, state: dict[str, dict[str, Any]]) -> None:
        """Make the stages of the policy's stack and give them their state."""
        self.context.decides_as = self.policy.spec.decides_as()
        self.lifetime = Lifetime(self.context, self.policy, cast("LifetimeHost", self))
        self.kueue, self.kube, self.yunikorn = build_stages(self.context, self.policy)
        if self.kueue is not None:
            self.kueue.life.runs_on = self.lifetime.runs_on
            if self.kueue.cluster.proposing is not None:
                self.kueue.cluster.proposing.run_of = self.lifetime.facts_of
        self.autoscaling = None
        if (kept := state.get(AUTOSCALING)) is not None:
            self._start_autoscaling(kept)
        self.multikueue = None
        if (kept := state.get(MULTIKUEUE)) is not None:
            self._start_multikueue()
        for stage in self.stages():
            stage.load_state(state.get(stage.name, {}))

    def _start_autoscaling(self, state: dict[str, Any]) -> None:
        """Let node groups grow and shrink from here on, where pods are placed."""
        from scheduler.engine.autoscaling.stage import AutoscalingStage

        if self.placers():
            self.autoscaling = AutoscalingStage(
                self.context, self.policy, cast("AutoscalingHost", self)
            )
            self.autoscaling.load_state(state)

    def _start_multikueue(self) -> MultiKueueStage:
        """Have worker clusters from here on."""
        from scheduler.engine.multikueue.stage import MultiKueueStage

        self.multikueue = MultiKueueStage(
            self.context, self.policy, cast("MultiKueueHost", self)
        )
        return self.multikueue

    def _restore(self) -> None:
        """Show the stored objects to the stages; the lifetime knows who waits."""
        # In one order, whatever came first: what is restored must not depend on it.
        self.objects = dict(sorted(self.objects.items()))
        # Make the worlds of the workers of their objects.
        if self.multikueue is not None:
            self.multikueue.restore(self.objects.values())
        elif any(map(cluster_of, self.objects)):
            self._start_multikueue().restore(self.objects.values())
        own = self.own_objects()
        self.going = {
            key: None
            for key, obj in own.items()
            if key.kind in USES and "deletionTimestamp" in obj.metadata
        }
        for obj in own.values():
            self.lifetime.put(obj, restore=True)
        self._restore_groups()
        for stage in (self.kueue, *self.placers(), self.multikueue):
            if stage is not None:
                for key, obj in own.items():
                    if not self.lifetime.waits(key):
                        stage.put(obj, restore=True)
        if self.kueue is not None:
            self.kueue.settle()  # a run may end before the next cycle looks
        journal = self.context.journal
        journal.take_decisions()
        journal.touched.clear()
        journal.stale.clear()
        journal.removed.clear()

    def _restore_groups(self) -> None:
        """Show the autoscaler its groups; a world without any has none."""
        if self.autoscaling is None and any(
            key.kind in GROWING and not self.lifetime.waits(key)
            for key in self.own_objects()
        ):
            self._start_autoscaling({"fresh": True})
        self._show_autoscaling()

    def _show_autoscaling(self) -> None:
        """Show the autoscaler every object that it reads, in order."""
        if self.autoscaling is not None:
            own = self.own_objects()
            for key in sorted(k for k in own if k.kind in AUTOSCALED):
                if not self.lifetime.waits(key):
                    self.autoscaling.put(self.objects[key], restore=True)

    def own_objects(self) -> dict[Key, Object]:
        """Return the objects of this cluster, without those of its workers."""
        if self.multikueue is None:
            return self.objects
        return {k: obj for k, obj in self.objects.items() if not cluster_of(k)}

    def stages(self) -> Iterator[Stage]:
        """Yield the stages in the order in which they restore and write."""
        own = (self.kueue, self.kube, self.yunikorn, self.lifetime, self.autoscaling)
        for stage in (*own, self.multikueue):
            if stage is not None:
                yield stage

    @property
    def grows(self) -> bool:
        """Return whether nodes may come by themselves."""
        return self.autoscaling is not None and self.autoscaling.grows

    def placers(self) -> list[Stage]:
        """Return the stages that place pods."""
        return [stage for stage in (self.kube, self.yunikorn) if stage is not None]

    def _rebuild(self) -> None:
        """Build the stages anew, from their state and the objects."""
        self._build(self._state())
        self._restore()

    def _drop_old_state(self) -> None:
        """Drop what stages that do not run any longer know of the objects."""
        kept = {stage.name for stage in self.stages()}
        if self.kueue is not None:
            kept.add("job")  # which Workloads a job has; of no stage
        for obj in self.own_objects().values():
            obj.state = {n: v for n, v in obj.state.items() if n in kept}

    def _state(self) -> dict[str, dict[str, Any]]:
        return {stage.name: stage.dump_state() for stage in self.stages()}


# ------------------------------------------------------------------------
# Objects of Kueue that stay, Terminating, until nothing uses them.


def is_in_use(kueue: KueueStage, key: Key) -> bool:
    """Return whether something uses an object that would stay until it is free."""
    uses = USES.get(key.kind)
    if uses is None:
        return False
    kueue.settle()
    return uses(kueue.cluster, key.name)


def _queue_holds(cluster: Cluster, name: str) -> bool:
    queue = cluster.forest.queues.get(name)
    return queue is not None and bool(queue.admitted.workloads)


def _flavor_is_named(cluster: Cluster, name: str) -> bool:
    groups = (one.spec.groups for one in cluster.forest.queues.values())
    return any(name in group.flavors for several in groups for group in several)


def _topology_is_named(cluster: Cluster, name: str) -> bool:
    flavors: Iterable[str] = (
        one.topology for one in cluster.topologies.flavors.values()
    )
    return name in flavors


def _check_is_named(cluster: Cluster, name: str) -> bool:
    checks = (one.spec.checks for one in cluster.forest.queues.values())
    return any(check.name == name for several in checks for check in several)


#: Kind -> whether something uses the object of this name.
USES: dict[str, Callable[[Cluster, str], bool]] = {
    "ClusterQueue": _queue_holds,
    "ResourceFlavor": _flavor_is_named,
    "Topology": _topology_is_named,
    "AdmissionCheck": _check_is_named,
}
