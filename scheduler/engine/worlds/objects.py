"""The objects of a world: put, introduced, deleted; what changed since the last look."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from scheduler.engine.stage import SearchTally, Stage
from scheduler.engine.worlds import edits
from scheduler.engine.worlds.digests import Digests
from scheduler.engine.worlds.encoding import Header
from scheduler.engine.worlds.in_use import is_in_use
from scheduler.engine.worlds.sharing import share_equal_parts
from scheduler.engine.worlds.stages import WorldStages
from scheduler.model import durations, streams
from scheduler.model.autoscaling.kinds import GROWING
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import (
    Key,
    Object,
    cluster_named_in,
    cluster_of,
    name_cluster,
    plain,
    qualified,
)
from scheduler.model.problems import Form


@dataclass(slots=True, kw_only=True)
class Changes:
    """What happened since the last `take`: fresh objects, gone keys, decisions.

    `searched` is what Kueue's searches for victims cost in that time.
    """

    touched: list[Object]
    removed: list[Key]
    decisions: list[Decision]
    searched: SearchTally = field(default_factory=SearchTally)


class Room:
    """How many objects a world of this process may hold, those that it makes included."""

    most = 0  # 0 = any number


class WorldObjects(WorldStages):
    """A table of objects that shows every edit to the stages."""

    def __init__(self, header: Header, *, cluster: str = "") -> None:
        self.cluster = cluster  # its name as a worker; "" for every other world
        self.digests = Digests()
        self.deleting: set[Key] = set()  # their stages are told now
        self._searched = SearchTally()  # what a `take` has told already
        super().__init__(header)

    def put(self, obj: Object) -> Object:
        """Take a new or edited object at the present instant; return it as kept.

        Fills in UID and creation time. An edited object keeps what the stages
        wrote. Objects with an arrival time in the future wait for it. Raises
        SchedulerError for one more than a world may hold.
        """
        if not self.cluster and (cluster := cluster_named_in(obj.manifest)):
            return self._put_into(cluster, obj)
        share_equal_parts(obj.manifest)
        known = self.objects.get(obj.key)
        answers = (
            edits.reported_status(obj).get(edits.CHECKS) if known is not None else None
        )
        if known is None:
            if 0 < Room.most <= len(self.objects):
                raise SchedulerError(Form.WORLD_FULL.said(key=obj.key, most=Room.most))
            self._set_server_defaults(obj)
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

    def _set_server_defaults(self, obj: Object) -> None:
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
        if edits.is_checked(obj):
            self.freshen()
        edits.replace_manifest(known, obj)

    def delete(self, key: Key) -> None:
        """Remove an object; unknown keys are an error."""
        if key not in self.objects:
            raise SchedulerError(Form.NOT_IN_WORLD.said(key=key))
        if self.multikueue is not None and cluster_of(key):
            self.multikueue.workers.delete(key)
            self.lifetime.request_advance()
            return
        if key in self.deleting or self.lifetime.job_stage.detain(key):
            return
        if self._stays(key):
            self._let_go_later(key)
            return
        self.deleting.add(key)
        for stage in self.stages():
            stage.remove(key)
        self.deleting.discard(key)
        self.lifetime.request_advance()
        self._forget(key)

    def _stays(self, key: Key) -> bool:
        """Return whether an object that is deleted stays until nothing uses it."""
        return self.kueue is not None and is_in_use(self.kueue, key)

    def _let_go_later(self, key: Key) -> None:
        """Mark an object as being deleted; what uses it goes on."""
        obj = self.objects[key]
        if "deletionTimestamp" in obj.metadata:
            return
        stamp = durations.stamp_text(self.context.us(self.context.now_ms))
        obj.metadata["deletionTimestamp"] = stamp
        self.going[key] = None
        self.touch(key)
        self.lifetime.request_advance()
        self.introduce(obj)

    def let_go(self) -> None:
        """Delete what was to go and is used no longer; whoever names it goes first."""
        while free := [key for key in self.going if not self._stays(key)]:
            for key in free:
                del self.going[key]
                if key in self.objects:
                    self.delete(key)

    def _forget(self, key: Key) -> None:
        self.objects.pop(key, None)
        self.digests.remove(key)
        self.context.journal.remove(key)

    def touch(self, key: Key) -> None:
        """Note a change of the object's manifest."""
        self.context.journal.touch(key)

    def get(self, key: Key) -> Object:
        """Return the object with status and state up to date; KeyError if absent."""
        obj = self.objects[key]
        if key in self.context.journal.stale and not cluster_of(key):
            del self.context.journal.stale[key]
            self._write(obj, list(self.stages()))
        return obj

    def keys(self, kind: str) -> list[Key]:
        """Return the keys of one kind in this cluster, sorted."""
        return sorted(key for key in self.own_objects() if key.kind == kind)

    def take(self) -> Changes:
        """Return the changes since the last call, and clear them.

        What came has found its place in Kueue then: looking at a world must not
        be what brings that about, or doing its edits again gave another world.
        """
        if self.kueue is not None:
            self.kueue.settle()
        self.freshen()
        journal = self.context.journal
        touched = [self.objects[k] for k in journal.touched if k in self.objects]
        changes = Changes(
            touched=touched,
            removed=list(journal.removed),
            decisions=journal.take_decisions(),
            searched=self.context.searched.since(self._searched),
        )
        self._searched = replace(self.context.searched)
        journal.touched.clear()
        journal.removed.clear()
        return changes

    def freshen(self) -> None:
        """Write the stages' state into every object touched since last time."""
        stale, stages = self.context.journal.stale, list(self.stages())
        for key in stale:
            if cluster_of(key):
                continue  # its own world has written it
            if (obj := self.objects.get(key)) is not None:
                self._write(obj, stages)
        stale.clear()

    def _write(self, obj: Object, stages: list[Stage]) -> None:
        for stage in stages:
            stage.write(obj)
        self.digests.change(obj.key)
