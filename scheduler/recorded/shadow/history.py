"""What Kueue read, as it changed: the state at any event of a recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model.conditions import is_true
from scheduler.model.objects import Key, Object

Manifest = dict[str, Any]

#: Kinds that an admission cycle depends on. Everything else is passed over.
KINDS = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LimitRange",
        "LocalQueue",
        "Namespace",
        "ResourceFlavor",
        "RuntimeClass",
        "Topology",
        "Workload",
        "WorkloadPriorityClass",
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """One event: what the object was before it, and what it is after it."""

    at_ms: int
    key: Key
    before: Manifest | None
    after: Manifest | None


class History:
    """The objects at an event; `go_to` moves to another one.

    Events are numbered from 0; the state at `i` is the one just before event `i`.
    """

    def __init__(
        self,
        standing: Iterable[Manifest],
        events: Iterable[tuple[int, str, Manifest]],
    ) -> None:
        self.objects: dict[Key, Manifest] = {
            key_of(manifest): manifest for manifest in standing if _is_read(manifest)
        }
        self.changes = list(self._changes(events))
        self.position = len(self.changes)

    def _changes(self, events: Iterable[tuple[int, str, Manifest]]) -> Iterable[Change]:
        """Yield the events that matter, and leave the state behind the last one."""
        for at, kind, manifest in events:
            if not _is_read(manifest):
                continue
            key = key_of(manifest)
            for after in (
                [None] if kind == "DELETED" else _steps(self.objects.get(key), manifest)
            ):
                before = self.objects.get(key)
                self._set(key, after)
                if _differ(before, after):
                    yield Change(at, key, before, after)

    def go_to(self, position: int) -> None:
        """Move to the state just before this event. Cost: the events between."""
        while self.position > position:
            self.position -= 1
            change = self.changes[self.position]
            self._set(change.key, change.before)
        while self.position < position:
            change = self.changes[self.position]
            self._set(change.key, change.after)
            self.position += 1

    def _set(self, key: Key, manifest: Manifest | None) -> None:
        if manifest is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = manifest

    def existing(self) -> Iterable[Object]:
        """Yield the objects at the position, without the finished Workloads."""
        for key, manifest in self.objects.items():
            status = manifest.get("status") or {}
            if key.kind != "Workload" or not is_true(status, "Finished"):
                yield Object(key=key, manifest=manifest, status=status)


def _steps(before: Manifest | None, after: Manifest) -> list[Manifest]:
    """Return a Workload's changes one by one, where a watch skipped some.

    What is admitted when it is first seen waited before; what was admitted and
    evicted between two events was admitted first.
    """
    status = after.get("status") or {}
    if not is_true(status, "QuotaReserved"):
        return [after]
    steps = [{**after, "status": {}}] if before is None else []
    was = (before or {}).get("status") or {}
    if is_true(status, "Evicted") and not is_true(was, "QuotaReserved"):
        kept = [c for c in status["conditions"] if c["type"] not in _OF_EVICTION]
        steps.append({**after, "status": {**status, "conditions": kept}})
    return [*steps, after]


_OF_EVICTION = ("Evicted", "Preempted")


def key_of(manifest: Mapping[str, Any]) -> Key:
    """Return the key of a document as the API gives it."""
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def _is_read(manifest: Mapping[str, Any]) -> bool:
    return manifest.get("kind") in KINDS


def _differ(before: Manifest | None, after: Manifest | None) -> bool:
    """Return whether an admission cycle may see a difference.

    Queues report their usage all the time; only what they ask for counts.
    """
    if before is None or after is None or after["kind"] == "Workload":
        return before is not after
    return any(
        before.get(part) != after.get(part) for part in ("spec", "webhooks")
    ) or before["metadata"].get("labels") != after["metadata"].get("labels")
