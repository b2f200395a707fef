"""One simulated cluster at one instant: its objects, its clock, its schedulers.

A world is its header and its objects. The stages' fast state is derived from
them, so encoding, loading and copying a world change no decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from scheduler.engine.worlds.encoding import Header, decode_world, encode_world
from scheduler.engine.worlds.objects import WorldObjects, gc_paused, share_equal_parts
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, cluster_of, plain
from scheduler.model.policy import Policy
from scheduler.model.sentence import Sentence


class World(WorldObjects):
    """A cluster that can be advanced, edited, copied, encoded and hashed."""

    def __init__(self, header: Header, *, cluster: str = "") -> None:
        super().__init__(header, cluster=cluster)
        self.tick = header.tick

    @classmethod
    def create(cls, policy: Policy, seed: int) -> World:
        """Return an empty world at virtual time 0."""
        return cls(Header(now_ms=0, tick=0, seed=seed, policy=policy.document()))

    @classmethod
    def load(
        cls, header: Header, objects: Iterable[Object], *, cluster: str = ""
    ) -> World:
        """Return the world that wrote this header and these objects."""
        world = cls(header, cluster=cluster)
        for obj in objects:
            world.objects[obj.key] = obj
            world.digests.change(obj.key)
        world._restore()
        return world

    def problems(self) -> list[Sentence]:
        """Return the problems since the last call, and clear them."""
        return self.context.journal.take_problems()

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

        Raises SchedulerError for a cluster that does not exist.
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
        self.digests.change(obj.key)
        self.context.journal.touched[obj.key] = None
        self.context.journal.removed.pop(obj.key, None)

    def withdraw(self, key: Key) -> None:
        """Take an object of a worker out of the objects."""
        self._forget(key)

    def runs_elsewhere(self, key: Key) -> bool:
        """Return whether a worker cluster runs this Workload."""
        return self.multikueue is not None and self.multikueue.runs_elsewhere(key)

    def lose_node(self, name: str, why: Sentence) -> None:
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
        if self.kueue is not None:
            for key in self.kueue.variants_ended_by(policy.spec):
                self.delete(key)
        self.freshen()
        if self.yunikorn is not None:
            self.yunikorn.policy_ends = True
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

    def _write_all(self) -> None:
        for key in self.objects:
            self.context.journal.touch(key)
        self.freshen()

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
        self.freshen()
        return encode_world(self.header(), self.objects)

    @classmethod
    def decode(cls, data: bytes) -> World:
        """Return the world that `encode` wrote."""
        header, objects = decode_world(data)
        for obj in objects:
            share_equal_parts(obj.manifest)
        return cls.load(header, objects)

    def copy(self) -> World:
        """Return an independent world in the same state."""
        return World.load(*decode_world(self.encode()), cluster=self.cluster)

    def hash(self) -> str:
        """Return the SHA-256 of the world, hexadecimal; equal worlds, equal hash.

        The digest of the header's canonical msgpack and of each object's, in
        key order. Only objects that changed are digested again.
        """
        self.freshen()
        return self.digests.hash(self.header(), self.objects)


# ------------------------------------------------------------------------
# Copies of a world that share with it what nobody writes into.


def fork(world: World, *, seed: int | None = None) -> World:
    """Return an independent world in the same state: same hash, same future.

    What is not drawn yet is drawn from `seed` where one is given. Shares what nobody
    writes into: manifests below metadata and spec. O(objects), about half the cost of
    writing all bytes and reading them.
    """
    world.freshen()
    header = msgspec.convert(
        msgspec.msgpack.decode(msgspec.msgpack.encode(world.header())), Header
    )
    if seed is not None:
        header = msgspec.structs.replace(header, seed=seed)
    with gc_paused():
        objects = (_copy(obj) for obj in world.objects.values())
        return World.load(header, objects, cluster=world.cluster)


def _copy(obj: Object) -> Object:
    manifest = dict(obj.manifest)
    for part in ("metadata", "spec"):
        if isinstance(given := manifest.get(part), dict):
            manifest[part] = dict(given)
    return Object(
        key=obj.key, manifest=manifest, status=dict(obj.status), state=dict(obj.state)
    )
