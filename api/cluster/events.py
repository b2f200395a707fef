"""Our events as core v1 Events, so that `kubectl describe` and `get events` show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sandbox.models import Event, Sandbox
from sandbox.world import history
from sandbox.world.worlds import policy_of
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import durations
from scheduler.model.objects import Key

#: The newest that are shown, as the real ones are forgotten after an hour.
MOST_EVENTS = 1000
_WARNINGS = frozenset({"Preempt", "Evict", "Fail", "Deactivate", "Wait"})


def documents(sandbox: Sandbox, namespace: str) -> list[dict[str, Any]]:
    """Return the newest events about objects of a namespace ("" = all), oldest first.

    Equal failures of an object are one event: the last, with count and first time.
    Source: docs/semantics/kube-scheduler.md#repeated-events.
    """
    start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
    epoch_us = durations.stamp_us(start)
    found = history.newest_events(sandbox, sandbox.revision, MOST_EVENTS)
    made = (_document(event, epoch_us) for event in _without_repeats(found))
    return [
        document
        for document in made
        if document is not None and namespace in ("", document["metadata"]["namespace"])
    ]


def _without_repeats(events: Iterable[Event]) -> Iterator[Event]:
    """Leave out each failure that a later event counts."""
    found = list(events)
    last = {
        (event.subject, event.reason, event.message): event
        for event in found
        if event.type == "Fail"
    }
    for event in found:
        same = last.get((event.subject, event.reason, event.message), event)
        if event.type != "Fail" or event is same:
            yield event


def _document(event: Event, epoch_us: int) -> dict[str, Any] | None:
    kind, _, rest = event.subject.partition("/")
    namespace, _, name = rest.partition("/")
    entry = BY_KIND.get(kind)
    if entry is None or not entry.plural:
        return None
    key = Key(kind, namespace, name)
    at = durations.stamp_text(epoch_us + event.t_ms * 1000)
    data = event.data or {}
    first_ms = data.get("first_ms")
    first_us = epoch_us + (event.t_ms if first_ms is None else first_ms) * 1000
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{name}.{event.revision}-{event.seq}",
            "namespace": namespace or "default",
            "creationTimestamp": at,
            "resourceVersion": str(event.revision),
        },
        "involvedObject": {
            "apiVersion": entry.api_version,
            "kind": key.kind,
            "name": key.name,
            **({"namespace": namespace} if namespace else {}),
        },
        "type": "Warning" if event.type in _WARNINGS else "Normal",
        "reason": event.reason or event.type,
        "message": event.message or event.type,
        "source": {"component": "quotalab"},
        "reportingComponent": "quotalab",
        "firstTimestamp": durations.stamp_text(first_us),
        "lastTimestamp": at,
        "count": int(data.get("count", data.get("times", 1))),
    }
