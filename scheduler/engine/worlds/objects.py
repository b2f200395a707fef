"""The objects of a world: put, introduced, deleted; what changed since the last look."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from scheduler.engine.stage import SearchTally, Stage
from scheduler.engine.worlds.encoding import Digests, Header
from scheduler.engine.worlds.stages import WorldStages, is_in_use
from scheduler.model import durations, streams
from scheduler.model.autoscaling.group_spec import GROWING, REQUEST
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.kueue.check_answers import (
    check_answers,
    check_gate_positions,
    check_reclaimable,
)
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
from scheduler.model.reasons import FINISHED, has_ended, true_condition


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
            # Put an object into a worker cluster; return it as the manager has it.
            stage = self.multikueue
            if stage is None:
                stage = self._start_multikueue()
                stage.restore(self.objects.values())
            key = plain(obj.key)
            obj.key = key
            stage.put_into(cluster, obj)
            self.lifetime.request_advance()
            return self.objects[qualified(key, cluster)]
        share_equal_parts(obj.manifest)
        known = self.objects.get(obj.key)
        answers = reported_status(obj).get(CHECKS) if known is not None else None
        if known is None:
            if 0 < Room.most <= len(self.objects):
                raise SchedulerError(Form.WORLD_FULL.said(key=obj.key, most=Room.most))
            self._set_server_defaults(obj)
            self.lifetime.prepare(obj)
            self.objects[obj.key] = known = obj
        else:
            before = Object(key=known.key, manifest=known.manifest)
            self._replace(known, obj)
            self.lifetime.edited(known, before)
        self.touch(obj.key)
        self.context.journal.removed.pop(obj.key, None)
        if self.lifetime.holds_back(known):
            return known
        self.lifetime.request_advance()
        self.introduce(known)
        if self.kueue is not None and answers:
            self.kueue.answer_checks(known.key, answers)
        return known

    def finish_as_reported(self, workload: Key, status: dict[str, Any]) -> None:
        """Let a Workload be finished where a client writes so into its status.

        Its quota is free from then on. Source:
        docs/semantics/kueue-lifecycle.md#what-a-client-writes-into-a-status.
        """
        said = true_condition(status, FINISHED)
        if said is None or self.kueue is None or workload.kind != "Workload":
            return
        self.kueue.settle()
        known = self.kueue.cluster.workloads.get(workload)
        if known is None or known.finished:
            return
        self.kueue.finish(workload, said.get("message", ""), said.get("reason", ""))
        given = {one["type"] for one in status["conditions"]}
        for name in {*known.conditions} - given:  # the list is the client's
            del known.conditions[name]
        self.lifetime.stop(workload)

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
            ordinal = self.lifetime.uses(obj.key)
            metadata["uid"] = streams.uid(self.context.seed, *obj.key, ordinal)
        if "creationTimestamp" not in metadata:
            comes_us = self.context.us(self.lifetime.arrival_of(obj))
            metadata["creationTimestamp"] = durations.stamp_text(comes_us)
        metadata.setdefault("generation", 1)

    def _replace(self, known: Object, obj: Object) -> None:
        if is_checked(obj):
            self.freshen()
        replace_manifest(known, obj)

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
        """Return whether an object that is deleted stays until nothing uses it.

        One that is being deleted and was left without finalizers does not.
        """
        if key in self.going and self.objects[key].metadata.get("finalizers") == []:
            return False
        return self.kueue is not None and is_in_use(self.kueue, key)

    def _let_go_later(self, key: Key) -> None:
        """Mark an object as being deleted; what uses it goes on."""
        obj = self.objects[key]
        if "deletionTimestamp" in obj.metadata:
            return
        self.freshen()  # an older Kueue leaves its status as it is now
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
                self.delete(key)

    def _forget(self, key: Key) -> None:
        self.objects.pop(key, None)
        self.going.pop(key, None)
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


# ------------------------------------------------------------------------
# What an edit of a known object may change, and what it keeps.


RECLAIMABLE = "reclaimablePods"
CHECKS = "admissionChecks"
GATES = "preemptionGates"
#: What the status of a known object may be given from outside: no stage writes it.
_REPORTED = {
    "Workload": (RECLAIMABLE, CHECKS, GATES, "nominatedClusterNames"),
    "AdmissionCheck": ("conditions",),
    "MultiKueueCluster": ("conditions",),
    REQUEST: ("conditions", "provisioningClassDetails"),
    "Node": ("allocatable", "capacity", "conditions", "images"),
}


def reported_status(obj: Object) -> dict[str, Any]:
    """Return the part of a status that an edit of a known object may change."""
    if obj.key.kind == "Pod":  # that it has ended; its kubelet says the rest
        return {"phase": obj.status["phase"]} if has_ended(obj.status) else {}
    fields = _REPORTED.get(obj.key.kind, ())
    return {name: obj.status[name] for name in fields if name in obj.status}


def is_checked(edited: Object) -> bool:
    """Return whether an edit is held against what the stages wrote."""
    if edited.key.kind == "Workload" and edited.spec.get(GATES):
        return True  # an eviction closes them again
    return not reported_status(edited).keys().isdisjoint({CHECKS, RECLAIMABLE})


def replace_manifest(known: Object, edited: Object) -> None:
    """Put an edited manifest in place; identity stays, generation counts.

    An edit that `is_checked` needs a known object with its status up to date.
    Raises ManifestError for reclaimable pods, or answers of admission checks,
    that it cannot have; nothing has changed then.
    """
    given = reported_status(edited)
    if CHECKS in given:
        check_answers(known, given.pop(CHECKS))
    if RECLAIMABLE in given:
        check_reclaimable(known, given[RECLAIMABLE])
    if GATES in given:
        check_gate_positions(edited, given[GATES])
    metadata, before = edited.metadata, known.metadata
    for name in ("uid", "creationTimestamp"):
        metadata[name] = before[name]
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    changed = edited.spec != known.spec
    metadata["generation"] = int(before.get("generation", 1)) + changed
    known.manifest = edited.manifest
    known.status = {**known.status, **given}


# ------------------------------------------------------------------------
# Equal parts of documents held once: most Workloads have the podsets of others.


_MOST = 4096  # some 8 MiB where each is of one container
#: Podsets by their text, of all worlds of this process.
_known: dict[bytes, Any] = {}


def share_equal_parts(manifest: dict[str, Any]) -> None:
    """Have a manifest hold the podsets, kind and names that others hold already.

    Only what is equal takes the place of what was there. Nobody writes into the
    podsets of an object: an edit puts another manifest. Some 2 µs for a Workload.
    """
    _share_text(manifest, "apiVersion")
    _share_text(manifest, "kind")
    _share_text(manifest["metadata"], "namespace")
    spec = manifest.get("spec")
    if manifest.get("kind") != "Workload" or not isinstance(spec, dict):
        return
    given = spec.get("podSets")
    if given:
        kept = _kept(msgspec.json.encode(given))
        if kept == given:
            spec["podSets"] = kept
        _share_text(spec, "queueName")


def _share_text(holder: dict[str, Any], name: str) -> None:
    text = holder.get(name)
    if type(text) is str:
        holder[name] = sys.intern(text)


def _kept(text: bytes) -> Any:
    kept = _known.get(text)
    if kept is None:
        if len(_known) >= _MOST:
            _known.clear()
        kept = _known[text] = msgspec.json.decode(text)
    return kept


def violations() -> Iterator[str]:
    """Yield a sentence per podsets that somebody wrote into."""
    for text, kept in list(_known.items()):
        if msgspec.json.encode(kept) != text:
            yield f"podsets that many share were written into: {text.decode()}"


# ------------------------------------------------------------------------
# The garbage collector, held off while many values are made that all stay.


@contextmanager
def gc_paused() -> Iterator[None]:
    """Hold the garbage collector off while many small values are made.

    They are all kept, and looking at every one of them again and again is most of the
    cost of opening a large page, and two fifths of copying a world of 10,000 workloads. What
    is let go of meanwhile is young, so the first collection afterwards frees it.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
