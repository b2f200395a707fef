"""The worlds of worker clusters, held inside the manager's.

What a worker's objects are is seen in the manager's table under qualified keys.
See docs/decisions/clusters-are-linked-worlds.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.stage import Context, Stage
from scheduler.model import streams
from scheduler.model.decisions import Decision
from scheduler.model.objects import (
    MARK,
    Key,
    Object,
    cluster_of,
    plain,
    qualified,
    qualified_name,
)
from scheduler.model.policy import Policy
from scheduler.model.problems import in_field
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.lifetime.stage import Lifetime


class News(Protocol):
    """What happened in a world since it was asked last."""

    touched: list[Object]
    removed: list[Key]
    decisions: list[Decision]


class Worker(Protocol):
    """What MultiKueue needs of the world of a worker cluster."""

    context: Context
    objects: dict[Key, Object]
    kueue: KueueStage | None
    lifetime: Lifetime

    def put(self, obj: Object) -> Object:
        """Take a new or edited object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""

    def get(self, key: Key) -> Object:
        """Return an object with fresh status."""

    def touch(self, key: Key) -> None:
        """Note a change of an object."""

    def take(self) -> News:
        """Return the events since the last call."""

    def problems(self) -> list[Sentence]:
        """Return the problems since the last call, and clear them."""

    def stages(self) -> Iterator[Stage]:
        """Yield the stages."""

    def set_policy(self, policy: Policy) -> None:
        """Run on under another policy."""


class MultiKueueHost(Protocol):
    """What MultiKueue needs of the manager's world that it lives in."""

    objects: dict[Key, Object]
    policy: Policy
    kueue: KueueStage | None
    lifetime: Lifetime

    def worker_world(
        self, cluster: str, seed: int, state: dict[str, Any], objects: list[Object]
    ) -> Worker:
        """Return the world of a worker cluster at the present instant."""

    def show(self, obj: Object) -> None:
        """Have an object of a worker, under its qualified key, in the table."""

    def withdraw(self, key: Key) -> None:
        """Take an object of a worker out of the table."""

    def get(self, key: Key) -> Object:
        """Return an object with fresh status."""


class Workers:
    """The worker clusters by name; each is made with its first object."""

    def __init__(self, context: Context, host: MultiKueueHost) -> None:
        self.context = context
        self.host = host
        self.worlds: dict[str, Worker] = {}

    def world(self, cluster: str) -> Worker:
        """Return the world of a cluster, an empty one if it had none."""
        found = self.worlds.get(cluster)
        if found is None:
            found = self.worlds[cluster] = self._made(cluster, {}, [])
        found.context.now_ms = self.context.now_ms
        return found

    def _made(
        self, cluster: str, state: dict[str, Any], objects: list[Object]
    ) -> Worker:
        seed = streams.bits(self.context.seed, "cluster", cluster) >> 1
        return self.host.worker_world(cluster, seed, state, objects)

    def put(self, cluster: str, obj: Object) -> None:
        """Put an object, under the key that it has inside, into a cluster."""
        self.world(cluster).put(obj)
        self.drain(cluster)

    def delete(self, key: Key) -> None:
        """Remove an object of a worker by its qualified key."""
        cluster = cluster_of(key)
        self.world(cluster).delete(plain(key))
        self.drain(cluster)

    def lose_node(self, cluster: str, name: str, why: Sentence) -> None:
        """Take every pod off a node of a worker, by its qualified name."""
        world = self.world(cluster)
        world.lifetime.lose_node(name.partition(MARK)[2], why)
        world.lifetime.request_advance()
        self.drain(cluster)

    def drain(self, cluster: str) -> None:
        """Show in the manager what changed and was decided in a worker."""
        world, journal = self.worlds[cluster], self.context.journal
        changes = world.take()
        for key in changes.removed:
            self.host.withdraw(qualified(key, cluster))
        for obj in changes.touched:
            self.host.show(_outside(obj, cluster))
        for decision in changes.decisions:
            journal.emit(lifted(decision, cluster))
        for problem in world.problems():
            journal.complain(in_field(cluster, problem))

    def due(self) -> int | None:
        """Return the next instant (ms) at which a worker has something to do."""
        dues = (
            due
            for world in self.worlds.values()
            for stage in world.stages()
            if (due := stage.due()) is not None
        )
        return min(dues, default=None)

    def set_policy(self, policy: Policy) -> None:
        """Let all workers run on under another policy."""
        for name in sorted(self.worlds):
            self.world(name).set_policy(policy)
            self.drain(name)

    def dump(self) -> dict[str, Any]:
        """Return the state of the workers' stages."""
        return {
            name: {stage.name: stage.dump_state() for stage in world.stages()}
            for name, world in sorted(self.worlds.items())
        }

    def load(self, state: Mapping[str, Any], objects: Iterable[Object]) -> None:
        """Make the workers of their state and of the objects in the manager's table."""
        inside: dict[str, list[Object]] = {name: [] for name in state}
        for obj in objects:
            inside.setdefault(cluster_of(obj.key), []).append(_inside(obj))
        for name in sorted(inside):
            self.worlds[name] = self._made(name, state.get(name, {}), inside[name])

    def __iter__(self) -> Iterator[tuple[str, Worker]]:
        yield from sorted(self.worlds.items())


def _outside(obj: Object, cluster: str) -> Object:
    """Return the object under its qualified key; everything else is shared."""
    return Object(
        key=qualified(obj.key, cluster),
        manifest=obj.manifest,
        status=obj.status,
        state=obj.state,
    )


def _inside(obj: Object) -> Object:
    """Return the object under the key that it has in its cluster."""
    return Object(
        key=plain(obj.key), manifest=obj.manifest, status=obj.status, state=obj.state
    )


# ------------------------------------------------------------------------
# The run of a Workload that a worker cluster runs: no pods, no end of its own.


def follow(lifetime: Lifetime, key: Key, theirs: Run) -> None:
    """Let the manager's run stand where the copy's does."""
    run = lifetime.runs.get(key)
    if run is None or not run.active:
        return
    mine = run.ready_ms, run.kept_ms, run.lost_ms, run.counted_ms
    other = theirs.ready_ms, theirs.kept_ms, theirs.lost_ms, theirs.counted_ms
    if mine != other:
        run.ready_ms, run.kept_ms, run.lost_ms, run.counted_ms = other
        run.parts = list(theirs.parts)
        _touch(lifetime, key)


def lose_sight(lifetime: Lifetime, key: Key, since_ms: int) -> None:
    """Take back the work that a cluster did since it was not reached any longer."""
    run = lifetime.runs.get(key)
    if run is not None and run.active and run.ready_ms is not None:
        run.ready_ms += lifetime.context.now_ms - since_ms
        _touch(lifetime, key)


def end(
    lifetime: Lifetime, key: Key, theirs: Run | None, reason: str, message: str
) -> None:
    """Finish a Workload, its run and its job as the copy was finished."""
    run = lifetime.run_of(key)
    run.active, run.done = False, True
    run.step = run.seen_ms = None
    run.waiting.clear()
    run.ends_ms = lifetime.context.now_ms
    if theirs is not None:
        run.failed, run.overran = theirs.failed, theirs.overran
    if lifetime.host.kueue is not None:
        lifetime.host.kueue.finish(key, message, reason)
    job = _touch(lifetime, key)
    lifetime.job_stage.controllers.changed(job or key)


def _touch(lifetime: Lifetime, key: Key) -> Key | None:
    """Note a change of a run; return the job whose status shows it."""
    lifetime.context.journal.touch(key)
    job = owner_key(lifetime.host.objects[key], frozenset(JOB_KINDS))
    if job is None or job not in lifetime.host.objects:
        return None
    lifetime.context.journal.touch(job)
    return job


# ------------------------------------------------------------------------
# Decisions of a worker cluster as the manager's journal has them.


_NAMES = ("node", "queue")  # what a decision names beside its subject


def lifted(decision: Decision, cluster: str) -> Decision:
    """Return the decision with every object of the cluster named with it."""
    changes: dict[str, Any] = {"subject": qualified(decision.subject, cluster)}
    if decision.by is not None:
        changes["by"] = qualified(decision.by, cluster)
    for name in _NAMES:
        if given := getattr(decision, name, ""):
            changes[name] = qualified_name(given, cluster)
    return msgspec.structs.replace(decision, **changes)
