"""One simulated cluster at one instant: its objects, its clock, its schedulers.

A world is its header and its objects. The stages' fast state is derived from
them, so encoding, loading and copying a world change no decision.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import msgspec

from scheduler import durations, streams
from scheduler.autoscaling.kinds import AUTOSCALED, GROWING
from scheduler.decisions import Decision
from scheduler.errors import SchedulerError
from scheduler.lifetime.stage import Lifetime
from scheduler.manifests.check_answers import check_answers
from scheduler.manifests.reclaimable import check_reclaimable
from scheduler.provisioning.conditions import REQUEST
from scheduler.records.objects import (
    Key,
    Object,
    cluster_named_in,
    cluster_of,
    name_cluster,
    plain,
    qualified,
)
from scheduler.records.policy import Policy, read_policy
from scheduler.stack import build_stages
from scheduler.stage import Context, Stage

if TYPE_CHECKING:
    from scheduler.autoscaling.stage import AutoscalingStage
    from scheduler.multikueue.stage import MultiKueueStage

_encoder = msgspec.msgpack.Encoder(order="sorted")
FORMAT = 1


class Header(msgspec.Struct, kw_only=True):
    """What a world is beside its objects; plain values only."""

    now_ms: int
    tick: int
    seed: int
    policy: dict[str, Any]
    #: By stage. Stored as `memory`: so worlds of earlier versions spell it.
    state: dict[str, dict[str, Any]] = msgspec.field(name="memory", default={})


@dataclass(slots=True, kw_only=True)
class Changes:
    """What happened since the last `take`: fresh objects, gone keys, decisions."""

    touched: list[Object]
    removed: list[Key]
    decisions: list[Decision]


AUTOSCALING = "autoscaling"
MULTIKUEUE = "multikueue"
RECLAIMABLE = "reclaimablePods"
CHECKS = "admissionChecks"
#: What the status of a known object may be given from outside: no stage writes it.
_REPORTED = {
    "Workload": (RECLAIMABLE, CHECKS, "nominatedClusterNames"),
    "MultiKueueCluster": ("conditions",),
    REQUEST: ("conditions", "provisioningClassDetails"),
    "Node": ("allocatable", "capacity", "conditions", "images"),
}


def reported_status(obj: Object) -> dict[str, Any]:
    """Return the part of a status that an edit of a known object may change."""
    fields = _REPORTED.get(obj.key.kind, ())
    return {name: obj.status[name] for name in fields if name in obj.status}


class World:
    """A cluster that can be advanced, edited, copied, encoded and hashed."""

    def __init__(self, header: Header, *, cluster: str = "") -> None:
        self.cluster = cluster  # its name as a worker; "" for every other world
        self.policy: Policy = read_policy(header.policy)
        simulation = self.policy.spec.simulation
        self.context = Context(
            seed=header.seed,
            epoch_us=durations.stamp_us(simulation.start_time),
            now_ms=header.now_ms,
        )
        self.tick = header.tick
        self.objects: dict[Key, Object] = {}
        self._undigested: dict[Key, None] = {}
        self._digests: dict[Key, bytes] = {}
        self._in_order: list[Key] = []  # of `_digests`
        self.autoscaling: AutoscalingStage | None = (
            None  # with the first NodeGroup or NodePool
        )
        self.multikueue: MultiKueueStage | None = None  # with the first worker
        self._build(header.state)

    def _build(self, state: dict[str, dict[str, Any]]) -> None:
        """Make the stages of the policy's stack and give them their state."""
        self.lifetime = Lifetime(self.context, self.policy, self)
        self.kueue, self.kube, self.yunikorn = build_stages(self.context, self.policy)
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
        from scheduler.autoscaling.stage import AutoscalingStage

        if self.kube is not None:
            self.autoscaling = AutoscalingStage(self.context, self.policy, self)
            self.autoscaling.load_state(state)

    def _start_multikueue(self) -> MultiKueueStage:
        """Have worker clusters from here on."""
        from scheduler.multikueue.stage import MultiKueueStage

        self.multikueue = MultiKueueStage(self.context, self.policy, self)
        return self.multikueue

    @classmethod
    def create(cls, policy: Policy, seed: int) -> World:
        """Return an empty world at virtual time 0."""
        header = Header(now_ms=0, tick=0, seed=seed, policy=policy.document())
        return cls(header)

    @classmethod
    def load(
        cls, header: Header, objects: Iterable[Object], *, cluster: str = ""
    ) -> World:
        """Return the world that wrote this header and these objects."""
        world = cls(header, cluster=cluster)
        for obj in objects:
            world.objects[obj.key] = obj
            world._undigested[obj.key] = None
        world._restore()
        return world

    def _restore(self) -> None:
        """Show the stored objects to the stages; the lifetime knows who waits."""
        # In one order, whatever came first: what is restored must not depend on it.
        self.objects = dict(sorted(self.objects.items()))
        self._restore_workers()
        own = self.own_objects()
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

    def _restore_workers(self) -> None:
        """Make the worlds of the workers of their objects."""
        if self.multikueue is not None:
            self.multikueue.restore(self.objects.values())
        elif any(map(cluster_of, self.objects)):
            self._start_multikueue().restore(self.objects.values())

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

    # -- objects ---------------------------------------------------------

    def put(self, obj: Object) -> Object:
        """Take a new or edited object at the present instant; return it as kept.

        Fills in UID and creation time. An edited object keeps what the stages
        wrote. Objects with an arrival time in the future wait for it.
        """
        if not self.cluster and (cluster := cluster_named_in(obj.manifest)):
            return self._put_into(cluster, obj)
        known = self.objects.get(obj.key)
        answers = reported_status(obj).get(CHECKS) if known is not None else None
        if known is None:
            self._fill_in(obj)
            self.lifetime.prepare(obj)
            self.objects[obj.key] = known = obj
        else:
            self._replace(known, obj)
        self.touch(obj.key)
        self.context.journal.removed.pop(obj.key, None)
        if self.lifetime.holds_back(known):
            return known
        self.lifetime.request_advance()
        self.introduce(known)
        if self.kueue is not None and answers:
            self.kueue.answer_checks(known.key, answers)
        return known

    def _put_into(self, cluster: str, obj: Object) -> Object:
        """Put an object into a worker cluster; return it as the manager has it."""
        stage = self.multikueue
        if stage is None:
            stage = self._start_multikueue()
            stage.restore(self.objects.values())
        key = plain(obj.key)
        obj.key = key
        stage.put_into(cluster, obj)
        self.lifetime.request_advance()
        return self.objects[qualified(key, cluster)]

    def introduce(self, obj: Object) -> None:
        """Show an object to every stage; arrivals call it when their time comes."""
        if obj.key.kind in GROWING and self.autoscaling is None:
            self._start_autoscaling({})
            self._show_autoscaling()
        for stage in self.stages():
            stage.put(obj)

    def _fill_in(self, obj: Object) -> None:
        if self.cluster:
            name_cluster(obj.manifest, self.cluster)
        metadata = obj.metadata
        if "uid" not in metadata:
            ordinal = self._ordinal(obj.key)
            metadata["uid"] = streams.uid(self.context.seed, *obj.key, ordinal)
        if "creationTimestamp" not in metadata:
            comes_us = self.context.us(self.lifetime.arrival_of(obj))
            metadata["creationTimestamp"] = durations.stamp_text(comes_us)
        metadata.setdefault("generation", 1)

    def _ordinal(self, key: Key) -> int:
        """Return how often this name was used before: a new object, a new UID."""
        return self.lifetime.uses(key)

    def _replace(self, known: Object, obj: Object) -> None:
        """Put an edited manifest in place; identity stays, generation counts.

        Raises ManifestError for reclaimable pods, or answers of admission checks,
        that it cannot have.
        """
        given = reported_status(obj)
        if CHECKS in given:
            check_answers(self.get(known.key), given.pop(CHECKS))
        if RECLAIMABLE in given:
            check_reclaimable(self.get(known.key), given[RECLAIMABLE])
        metadata, before = obj.metadata, known.metadata
        for name in ("uid", "creationTimestamp"):
            metadata[name] = before[name]
        changed = obj.spec != known.spec
        metadata["generation"] = int(before.get("generation", 1)) + changed
        known.manifest = obj.manifest
        known.status = {**known.status, **given}

    def delete(self, key: Key) -> None:
        """Remove an object; unknown keys are an error."""
        if key not in self.objects:
            raise SchedulerError(f"{key} is not in this world")
        if self.multikueue is not None and cluster_of(key):
            self.multikueue.workers.delete(key)
            self.lifetime.request_advance()
            return
        for stage in self.stages():
            stage.remove(key)
        self.lifetime.request_advance()
        self._forget(key)

    def _forget(self, key: Key) -> None:
        self.objects.pop(key, None)
        self._undigested.pop(key, None)
        if self._digests.pop(key, None) is not None:
            del self._in_order[bisect_left(self._in_order, key)]
        self.context.journal.remove(key)

    def touch(self, key: Key) -> None:
        """Note a change of the object's manifest."""
        self.context.journal.touch(key)

    def get(self, key: Key) -> Object:
        """Return the object with status and state up to date; KeyError if absent."""
        self._freshen()
        return self.objects[key]

    def keys(self, kind: str) -> list[Key]:
        """Return the keys of one kind in this cluster, sorted."""
        return sorted(key for key in self.own_objects() if key.kind == kind)

    def take(self) -> Changes:
        """Return what happened since the last call, and start anew.

        What came has found its place in Kueue then: looking at a world must not
        be what brings that about, or doing its edits again gave another world.
        """
        if self.kueue is not None:
            self.kueue.settle()
        self._freshen()
        journal = self.context.journal
        touched = [self.objects[k] for k in journal.touched if k in self.objects]
        changes = Changes(
            touched=touched,
            removed=list(journal.removed),
            decisions=journal.take_decisions(),
        )
        journal.touched.clear()
        journal.removed.clear()
        return changes

    def problems(self) -> list[str]:
        """Return what the engine gave up on, and forget it."""
        problems = self.context.journal.problems
        self.context.journal.problems = []
        return problems

    def _freshen(self) -> None:
        """Write the stages' state into every object touched since last time."""
        stale = self.context.journal.stale
        for key in stale:
            if cluster_of(key):
                continue  # its own world has written it
            if (obj := self.objects.get(key)) is not None:
                for stage in self.stages():
                    stage.write(obj)
                self._undigested[key] = None
        stale.clear()

    # -- worker clusters -------------------------------------------------

    def worker_world(
        self, cluster: str, seed: int, state: dict[str, Any], objects: list[Object]
    ) -> World:
        """Return the world of a worker cluster at the present instant."""
        header = Header(
            now_ms=self.context.now_ms,
            tick=self.tick,
            seed=seed,
            policy=self.policy.document(),
            state=state,
        )
        return World.load(header, objects, cluster=cluster)

    def workers(self) -> dict[str, World]:
        """Return the worlds of the worker clusters by name; none without any."""
        if self.multikueue is None:
            return {}
        return cast("dict[str, World]", self.multikueue.workers.worlds)

    def inside(self, key: Key) -> tuple[World, Key]:
        """Return the world of the cluster that a key is of, and its key there.

        Raises SchedulerError for a cluster that is not there.
        """
        cluster = cluster_of(key)
        if not cluster:
            return self, key
        if cluster not in self.workers():
            raise SchedulerError(f"{key} is of no worker cluster of this world")
        return self.workers()[cluster], plain(key)

    def show(self, obj: Object) -> None:
        """Have an object of a worker, under its qualified key, among the objects."""
        known = self.objects.setdefault(obj.key, obj)
        known.manifest, known.status = obj.manifest, obj.status
        known.state = obj.state
        self._undigested[obj.key] = None
        self.context.journal.touched[obj.key] = None
        self.context.journal.removed.pop(obj.key, None)

    def withdraw(self, key: Key) -> None:
        """Take an object of a worker out of the objects."""
        self._forget(key)

    def runs_elsewhere(self, key: Key) -> bool:
        """Return whether a worker cluster runs this Workload."""
        return self.multikueue is not None and self.multikueue.runs_elsewhere(key)

    def lose_node(self, name: str, why: str) -> None:
        """Take every pod off a node, of this cluster or of a worker."""
        cluster = cluster_of(Key("Node", "", name))
        if cluster and self.multikueue is not None:
            self.multikueue.workers.lose_node(cluster, name, why)
        else:
            self.lifetime.lose_node(name, why)

    # -- policy, copies, bytes -------------------------------------------

    def set_policy(self, policy: Policy) -> None:
        """Run on under another policy; the stages are built anew from the objects.

        Built twice: first from what the policy before left in the objects, then
        from what the new stages wrote. So the world that lives on is the one that
        its rows give. A stage that runs no longer leaves no state behind: it would
        be of another time when the stage came back.
        """
        if self.multikueue is not None:
            self.multikueue.workers.set_policy(policy)
        self._freshen()
        self.policy = policy
        journal = self.context.journal
        kept = journal.take_decisions(), dict(journal.touched), dict(journal.removed)
        self._rebuild()
        self._drop_old_state()
        if self.kueue is not None:
            self.kueue.start_over()
        self.lifetime.request_advance()
        self._write_all()
        self._rebuild()
        journal.decisions, journal.touched, journal.removed = kept
        journal.heard = len(journal.decisions)
        for key in self.objects:
            journal.touch(key)

    def _rebuild(self) -> None:
        """Build the stages anew, from their state and the objects."""
        self._build(self._state())
        self._restore()

    def _drop_old_state(self) -> None:
        running = {stage.name for stage in self.stages()}
        for obj in self.own_objects().values():
            obj.state = {n: v for n, v in obj.state.items() if n in running}

    def _write_all(self) -> None:
        for key in self.objects:
            self.context.journal.touch(key)
        self._freshen()

    def _state(self) -> dict[str, dict[str, Any]]:
        return {stage.name: stage.dump_state() for stage in self.stages()}

    def header(self) -> Header:
        """Return the header as it stands now."""
        return Header(
            now_ms=self.context.now_ms,
            tick=self.tick,
            seed=self.context.seed,
            policy=self.policy.document(),
            state=self._state(),
        )

    def encode(self) -> bytes:
        """Return the whole world as msgpack; `decode` gives it back."""
        self._freshen()
        objects = [
            [*obj.key, obj.manifest, obj.status, obj.state]
            for _, obj in sorted(self.objects.items())
        ]
        return _encoder.encode([FORMAT, self.header(), objects])

    @classmethod
    def decode(cls, data: bytes) -> World:
        """Return the world that `encode` wrote."""
        return cls.load(*cls.parts(data))

    @staticmethod
    def parts(data: bytes) -> tuple[Header, list[Object]]:
        """Return what `encode` wrote, to be changed before it is loaded."""
        found, header, objects = msgspec.msgpack.decode(data)
        if found != FORMAT:
            raise SchedulerError(f"expected a world of format {FORMAT}, got {found}")
        return msgspec.convert(header, Header), [
            Object(
                key=Key(kind, namespace, name),
                manifest=manifest,
                status=status,
                state=state,
            )
            for kind, namespace, name, manifest, status, state in objects
        ]

    def copy(self) -> World:
        """Return an independent world in the same state."""
        return World.load(*World.parts(self.encode()), cluster=self.cluster)

    def hash(self) -> str:
        """Return the SHA-256 of the world, hexadecimal; equal worlds, equal hash.

        The digest of the header's canonical msgpack and of each object's, in
        key order. Only objects that changed are digested again.
        """
        self._freshen()
        self._digest()
        total = hashlib.sha256(_encoder.encode(self.header()))
        total.update(b"".join(map(self._digests.__getitem__, self._in_order)))
        return total.hexdigest()

    def _digest(self) -> None:
        """Digest what changed, and keep the keys in order."""
        came: list[Key] = []
        for key in self._undigested:
            if (obj := self.objects.get(key)) is not None:
                body = _encoder.encode([*key, obj.manifest, obj.status, obj.state])
                if key not in self._digests:
                    came.append(key)
                self._digests[key] = hashlib.sha256(body).digest()
        self._undigested.clear()
        if came:  # mostly in order already, which sorting makes use of
            self._in_order += sorted(came)
            self._in_order.sort()
