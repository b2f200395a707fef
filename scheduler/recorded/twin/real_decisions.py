"""The decisions that a change of a real cluster shows.

What was decided is read from conditions, as everybody who looks at the cluster must:
a decision is seen when it was written, not when it was taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from scheduler.engine.stage import Context
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.decisions import (
    Admit,
    Arrive,
    Bind,
    Deactivate,
    Decision,
    Edit,
    Evict,
    Fail,
    Finish,
    NodeChange,
    PodSetAdmission,
    Preempt,
    Requeue,
    ReserveQuota,
    Wait,
)
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import PREEMPTOR_UID, condition, has_ended, is_true
from scheduler.model.workload import read_admission
from scheduler.words.edits import Edited

Manifest = dict[str, Any]
Status = Mapping[str, Any]
#: Kinds by which people say what may be admitted, and in which order.
POLICY_KINDS = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "PriorityClass",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    }
)
#: A cluster does not say who changed an object.
SOMEBODY = "somebody"
Before = tuple[Manifest, Status] | None


def decisions_of(
    context: Context,
    at_ms: int,
    key: Key,
    before: Before,
    after: Object | None,
    owners: Owners,
) -> Iterator[Decision]:
    """Yield what a change of one object shows: the object before it and after it.

    Several decisions of one change come in the order in which they are taken.
    """
    if key.kind == "Workload" and after is not None:
        yield from _of_workload(context, at_ms, before, after, owners)
    elif key.kind == "Pod" and after is not None:
        yield from _of_pod(at_ms, before, after)
    elif key.kind == "Node":
        yield from _of_node(at_ms, key, before, after)
    elif key.kind in POLICY_KINDS:
        yield from _edit(at_ms, key, before, after)


def _edit(
    at_ms: int, key: Key, before: Before, after: Object | None
) -> Iterator[Decision]:
    """Yield an edit that somebody made on the cluster; status and metadata are none."""
    old = None if before is None else before[0]
    new = None if after is None else after.manifest
    if _stated(old) == _stated(new):
        return
    if old is None:
        action, words = "Create", Edited.CREATES
    elif new is None:
        action, words = "Delete", Edited.DELETES
    else:
        action, words = "Update", Edited.CHANGES
    yield Edit(
        at_ms=at_ms,
        subject=key,
        reason=action,
        message=words.said(who=SOMEBODY, kind=key.kind, object=key.path).text,
        action=action,
        before=old,
        after=new,
    )


def _stated(manifest: Manifest | None) -> Manifest | None:
    """Return what a person states of an object; None where it does not exist."""
    if manifest is None:
        return None
    return {n: v for n, v in manifest.items() if n not in ("metadata", "status")}


def _of_workload(
    context: Context, at_ms: int, before: Before, after: Object, owners: Owners
) -> Iterator[Decision]:
    key, status = after.key, after.status
    was = before[1] if before is not None else {}
    if before is None:
        yield Arrive(at_ms=at_ms, subject=key)
    elif _active(before[0]) and not _active(after.manifest):
        yield Deactivate(at_ms=at_ms, subject=key, **_words(status, "Evicted"))
    if _became(was, status, "QuotaReserved") or _became(was, status, "Admitted"):
        yield _admission(at_ms, key, status)
    if _evicted_anew(was, status):
        yield _eviction(at_ms, key, status, owners)
    if (not_before := _requeue_at(context, was, status)) is not None:
        yield Requeue(at_ms=at_ms, subject=key, not_before_ms=not_before)
    if _became(was, status, "Finished"):
        yield Finish(at_ms=at_ms, subject=key, **_words(status, "Finished"))
    elif _waits(status) and _said(was) != _said(status):
        yield Wait(at_ms=at_ms, subject=key, **_words(status, "QuotaReserved"))


def _admission(at_ms: int, key: Key, status: Status) -> Decision:
    """Return the admission; one that still waits for its checks reserved quota."""
    given = read_admission(status.get("admission"), {})
    parts = tuple(
        PodSetAdmission(part.name, part.count, part.flavors, dict(part.usage))
        for part in (given.pod_sets if given else ())
    )
    queue = given.queue if given else ""
    if is_true(status, "Admitted"):
        words = _words(status, "Admitted")
        return Admit(at_ms=at_ms, subject=key, queue=queue, pod_sets=parts, **words)
    words = _words(status, "QuotaReserved")
    return ReserveQuota(at_ms=at_ms, subject=key, queue=queue, pod_sets=parts, **words)


def _eviction(at_ms: int, key: Key, status: Status, owners: Owners) -> Decision:
    words = _words(status, "Evicted")
    if words["reason"] != "Preempted":
        return Evict(at_ms=at_ms, subject=key, **words)
    named = PREEMPTOR_UID.search(words["message"])
    preemptor = owners.of_uid(named[1]) if named else None
    reason = _words(status, "Preempted")["reason"] or words["reason"]
    message = words["message"]
    return Preempt(
        at_ms=at_ms, subject=key, by=preemptor, reason=reason, message=message
    )


def _of_pod(at_ms: int, before: Before, after: Object) -> Iterator[Decision]:
    key, status = after.key, after.status
    spec, was = (before[0].get("spec") or {}, before[1]) if before else ({}, {})
    node = str(after.spec.get("nodeName") or "")
    if node and not spec.get("nodeName"):
        yield Bind(at_ms=at_ms, subject=key, node=node)
    if has_ended(status) and not has_ended(was):
        reason = str(status.get("reason") or "")
        message = str(status.get("message") or "")
        if status.get("phase") == "Failed":
            yield Fail(
                at_ms=at_ms, subject=key, node=node, reason=reason, message=message
            )
        else:
            yield Finish(at_ms=at_ms, subject=key, reason=reason, message=message)
    elif not node and _unschedulable(status) not in ("", _unschedulable(was)):
        yield Fail(at_ms=at_ms, subject=key, **_words(status, "PodScheduled"))


def _of_node(
    at_ms: int, key: Key, before: Before, after: Object | None
) -> Iterator[Decision]:
    def change(word: str) -> Decision:
        return NodeChange(at_ms=at_ms, subject=key, change=word)

    if before is None or after is None:
        if (before is None) != (after is None):
            yield change("added" if before is None else "deleted")
        return
    cordoned = bool((before[0].get("spec") or {}).get("unschedulable"))
    if bool(after.spec.get("unschedulable")) != cordoned:
        yield change("uncordoned" if cordoned else "cordoned")
    if is_true(before[1], "Ready") != is_true(after.status, "Ready"):
        yield change("recovered" if is_true(after.status, "Ready") else "failed")


def _words(status: Status, name: str) -> dict[str, Any]:
    found = condition(status, name) or {}
    return {
        "reason": str(found.get("reason") or ""),
        "message": str(found.get("message") or ""),
    }


def _became(was: Status, now: Status, name: str) -> bool:
    """Return whether it became true, also if it was so before and not in between."""
    if not is_true(now, name):
        return False
    return not is_true(was, name) or _since(was, name) != _since(now, name)


def _since(status: Status, name: str) -> str:
    return str((condition(status, name) or {}).get("lastTransitionTime") or "")


def _evicted_anew(was: Status, now: Status) -> bool:
    """Return whether it was evicted in between, for the first time or again."""
    if not is_true(now, "Evicted"):
        return False
    return not is_true(was, "Evicted") or _words(was, "Evicted") != _words(
        now, "Evicted"
    )


def _active(manifest: Manifest) -> bool:
    return (manifest.get("spec") or {}).get("active") is not False


def _waits(status: Status) -> bool:
    found = condition(status, "QuotaReserved")
    return found is not None and found.get("status") != "True"


def _said(status: Status) -> tuple[bool, str, str]:
    words = _words(status, "QuotaReserved")
    return _waits(status), words["reason"], words["message"]


def _unschedulable(status: Status) -> str:
    found = condition(status, "PodScheduled") or {}
    waits = found.get("status") == "False" and found.get("reason") == "Unschedulable"
    return str(found.get("message") or "Unschedulable") if waits else ""


def _requeue_at(context: Context, was: Status, now: Status) -> int | None:
    """Return when (ms) it may be tried again, where that is news."""
    text = (now.get("requeueState") or {}).get("requeueAt")
    if not text or text == (was.get("requeueState") or {}).get("requeueAt"):
        return None
    try:
        return context.ms(durations.stamp_us(text))
    except QuantityError:
        return None


# ------------------------------------------------------------------------
# Whose pods are: a job's Workload, by the UIDs that the cluster gave.


class Owners:
    """Which Workload each pod and each UID belongs to, asked while changes are put in."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pods: list[Key] = []

    @cached_property
    def _workloads(self) -> dict[str, Key]:
        """Return the Workload of each UID: its own, and its owners'."""
        found: dict[str, Key] = {}
        for key, obj in self.world.objects.items():
            if key.kind == "Workload":
                self._note(found, obj)
        return found

    @staticmethod
    def _note(found: dict[str, Key], obj: Object) -> None:
        found[obj.uid] = obj.key
        for owner in obj.metadata.get("ownerReferences") or ():
            found[str(owner.get("uid", ""))] = obj.key

    def came(self, obj: Object) -> None:
        """Note an object that is put in."""
        if obj.key.kind == "Workload":
            self._note(self._workloads, obj)
        elif obj.key.kind == "Pod":
            self.pods.append(obj.key)

    def of_uid(self, uid: str) -> Key | None:
        """Return the Workload with this UID, or that an object with it owns."""
        return self._workloads.get(uid)

    def link(self) -> None:
        """Say of the pods that came whose they are."""
        owners = self.world.lifetime.owners
        for pod in self.pods:
            obj = self.world.objects.get(pod)
            for reference in (obj.metadata.get("ownerReferences") or ()) if obj else ():
                found = self.of_uid(str(reference.get("uid", "")))
                if found is not None:
                    owners[pod] = found
                    self.world.touch(pod)
