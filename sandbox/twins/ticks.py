"""What a tick of a real cluster is: what was recorded of it, and what came after."""

from __future__ import annotations

from sandbox.models import RecordedTick, Revision, Sandbox
from sandbox.world import history, operations
from sandbox.world.operations import Observe
from sandbox.world.seen import unpack
from scheduler.recorded.twin.observing import ObservedChange


def next_of(sandbox: Sandbox) -> Observe:
    """Return the next tick of a recording; a tick in which nothing was seen is one too."""
    tick = sandbox.tick + 1
    found = RecordedTick.objects.filter(sandbox=sandbox, tick=tick)
    body = found.values_list("body", flat=True).first()
    return Observe(tick, tick * sandbox.tick_ms, bytes(body or b""))


def last_tick(sandbox: Sandbox) -> int | None:
    """Return the last tick of a recording; None while a cluster is followed."""
    found: int | None = sandbox.source.get("lastTick")
    return found


def after(sandbox: Sandbox, revision: int) -> list[ObservedChange]:
    """Return what was seen after a revision, to the end of what is known."""
    seen: list[ObservedChange] = []
    known = history.rows_of(Revision, sandbox, whole=True)
    rows = known.filter(number__gt=revision, kind=Revision.TICK).order_by("number")
    for document in rows.values_list("operation", flat=True).iterator():
        operation = operations.from_document(document)
        if isinstance(operation, Observe):
            seen += unpack(operation.seen)
    to_come = RecordedTick.objects.filter(sandbox=sandbox, tick__gt=sandbox.tick)
    for body in to_come.order_by("tick").values_list("body", flat=True).iterator():
        seen += unpack(bytes(body))
    return seen


def was_observed(sandbox: Sandbox, revision: int) -> bool:
    """Return whether a revision shows what a real cluster did."""
    rows = history.rows_of(Revision, sandbox, whole=True).filter(number=revision)
    document = rows.values_list("operation", flat=True).first()
    return bool(document and document.get("do") == "observe")
