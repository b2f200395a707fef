"""Rows to world, in a fixed number of queries; and the worlds a process holds.

A held world is brought up to date by doing again what was committed since, or
read anew from rows: both give the same world, which its hash proves.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import connection, transaction

from sandbox.base.errors import NotFoundError
from sandbox.base.memory import note_released
from sandbox.base.refusals import Absent
from sandbox.models import Diff, Revision, Sandbox
from sandbox.page import diffs, rows
from sandbox.page.diffs import Page, RevisionDiff
from sandbox.page.packing import unpack_step
from sandbox.page.rows.tally import WorkloadTally
from sandbox.world import history, kept, manifests, operations
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.encoding import Header
from scheduler.engine.worlds.objects import gc_paused
from scheduler.model.policy import Simulation

logger = logging.getLogger(__name__)

#: Worlds kept in memory by one process: this many objects in all.
MOST_OBJECTS = 60_000
#: Beyond this many commits it is quicker to read rows than to do them again.
MOST_CATCH_UP = 12
#: A world whose rows changed while they were read is read again so often.
MOST_READS = 3

_headers = msgspec.msgpack.Decoder(Header)
_encode_header = msgspec.msgpack.Encoder(order="sorted").encode


@dataclass(slots=True)
class LoadedSandbox:
    """A sandbox in memory: its world and its page, both at one revision."""

    sandbox_id: str
    revision: int
    world: World
    page: Page
    tally: WorkloadTally  # of the page's workloads


def _size(held: LoadedSandbox) -> int:
    return len(held.world.objects)


class _Cache:
    """The worlds of this process, least recently used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, LoadedSandbox] = OrderedDict()
        self._locks: dict[str, threading.RLock] = {}

    def lock(self, sandbox_id: str) -> threading.RLock:
        """Return the lock to hold while using this sandbox's world."""
        with self._lock:
            return self._locks.setdefault(sandbox_id, threading.RLock())

    def get(self, sandbox_id: str) -> LoadedSandbox | None:
        with self._lock:
            return self._held.get(sandbox_id)

    def put(self, held: LoadedSandbox) -> None:
        kept.start_forgetting()
        with self._lock:
            before = self._held.get(held.sandbox_id)
            gone = [before] if before and before.world is not held.world else []
            self._held[held.sandbox_id] = held
            self._held.move_to_end(held.sandbox_id)
            total = sum(map(_size, self._held.values()))
            while total > MOST_OBJECTS and len(self._held) > 1:
                _, oldest = self._held.popitem(last=False)
                total -= _size(oldest)
                gone.append(oldest)
            count = sum(map(_size, gone))
        del before, gone
        note_released(count, kept=total)

    def drop(self, sandbox_id: str) -> None:
        with self._lock:
            held = self._held.pop(sandbox_id, None)
            count = _size(held) if held else 0
            total = sum(map(_size, self._held.values()))
        del held
        note_released(count, kept=total)

    def held(self) -> list[str]:
        with self._lock:
            return list(self._held)

    def forget(self, sandbox_id: str) -> None:
        """Drop what is gone for good, with its lock."""
        self.drop(sandbox_id)
        with self._lock:
            self._locks.pop(sandbox_id, None)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()


_cache = _Cache()
lock = _cache.lock
drop = _cache.drop
forget_all = _cache.clear
held = _cache.held
kept.register(_cache)


def load(sandbox: Sandbox) -> LoadedSandbox:
    """Return the sandbox's world at `sandbox.revision`, to be changed.

    The caller holds the sandbox's claim and its `lock`, and drops the world
    when a change fails half-way.
    """
    held = _cache.get(sandbox.pk)
    manifests.leave_large(sandbox.pk, held=held.world if held else None)
    if held is None or not _catch_up(held, sandbox):
        held = _read(sandbox)
    _cache.put(held)
    return held


def put(held: LoadedSandbox) -> None:
    """Hold a world that was made otherwise: a fork, an earlier state."""
    _cache.put(held)


def bring_page_forward(sandbox_id: str, step: RevisionDiff) -> None:
    """Apply a diff that left the world as it is to the world held here, if any."""
    held = _cache.get(sandbox_id)
    if held is not None and held.revision == step.from_revision:
        diffs.apply(held.page, step)
        held.revision = step.revision


def header_bytes(world: World) -> bytes:
    """Return the header as it is stored in the sandbox's row."""
    return _encode_header(world.header())


def fresh(sandbox: Sandbox) -> World:
    """Return the world of the sandbox's rows; always the same number of queries."""
    header = _headers.decode(bytes(sandbox.header))
    with gc_paused():
        return World.load(header, manifests.load(sandbox.pk))


@contextmanager
def reading(sandbox: Sandbox) -> Iterator[World]:
    """Lend the world at `sandbox.revision` for reading only.

    The one held here if it is current, else one read from rows.
    """
    history.refuse_archived(sandbox)
    with lock(sandbox.pk):
        held = _cache.get(sandbox.pk)
        if held is not None and held.revision == sandbox.revision:
            manifests.leave_large(sandbox.pk, held=held.world)
            yield held.world
            return
    yield copy_of(sandbox.pk)[0]


def policy_of(sandbox: Sandbox) -> dict[str, Any]:
    """Return the policy document in force."""
    return _headers.decode(bytes(sandbox.header)).policy


def state_of(sandbox: Sandbox, stage: str) -> dict[str, Any]:
    """Return what a stage keeps beside the objects, without the world."""
    return _headers.decode(bytes(sandbox.header)).state.get(stage, {})


def encoded(sandbox_id: str) -> tuple[bytes, Sandbox]:
    """Return the world as committed last, as bytes, and the row it belongs to."""
    sandbox = Sandbox.objects.select_related("parent").filter(pk=sandbox_id).first()
    if sandbox is not None and sandbox.archived_at is None:
        with lock(sandbox_id):
            held = _cache.get(sandbox_id)
            if held is not None and held.revision == sandbox.revision:
                manifests.leave_large(sandbox.pk, held=held.world)
                return held.world.encode(), sandbox
    world, sandbox = copy_of(sandbox_id)
    return world.encode(), sandbox


def copy_of(sandbox_id: str) -> tuple[World, Sandbox]:
    """Return an independent world as committed last, and the row it belongs to.

    For asking what would happen; nobody is kept waiting.
    """
    for _ in range(MOST_READS):
        sandbox = Sandbox.objects.filter(pk=sandbox_id).first()
        if sandbox is None:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
        history.refuse_archived(sandbox)
        with lock(sandbox_id):
            held = _cache.get(sandbox_id)
            if held is not None and held.revision == sandbox.revision:
                manifests.leave_large(sandbox.pk, held=held.world)
                return fork(held.world), sandbox
        world = fresh(sandbox)
        if Sandbox.objects.filter(pk=sandbox_id, revision=sandbox.revision).exists():
            return world, sandbox
    return _copy_at_once(sandbox_id)


def _copy_at_once(sandbox_id: str) -> tuple[World, Sandbox]:
    """Read all rows as of one moment, for a sandbox that races.

    PostgreSQL shows a transaction one state; on SQLite nobody commits meanwhile.
    """
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        sandbox = Sandbox.objects.filter(pk=sandbox_id).first()
        if sandbox is None:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
        return fresh(sandbox), sandbox


def apart(sandbox_id: str) -> tuple[LoadedSandbox, Sandbox]:
    """Return a world of one's own with its page, as `copy_of`; no other process waits."""
    world, sandbox = copy_of(sandbox_id)
    return _with_page(world, sandbox), sandbox


def _read(sandbox: Sandbox) -> LoadedSandbox:
    with gc_paused():
        return _with_page(fresh(sandbox), sandbox)


def _with_page(world: World, sandbox: Sandbox) -> LoadedSandbox:
    page = rows.page_of(world, sandbox)
    return LoadedSandbox(
        sandbox.pk, sandbox.revision, world, page, WorkloadTally.of(page)
    )


def _catch_up(held: LoadedSandbox, sandbox: Sandbox) -> bool:
    """Do again what others committed since; False when rows are the better way."""
    behind = sandbox.revision - held.revision
    if behind == 0:
        return True
    if not 0 < behind <= MOST_CATCH_UP:
        return False
    missing = list(
        Revision.objects.filter(sandbox=sandbox, number__gt=held.revision)
        .order_by("number")
        .values_list("number", "kind", "operation")
    )
    if len(missing) != behind or any(kind == Revision.RERUN for _, kind, _ in missing):
        return False
    for _, _, document in missing:
        operations.perform(held.world, operations.from_document(document))
        held.world.take()
    if held.world.hash() != sandbox.hash:
        logger.error(
            "doing commits again gave another world; reading it from rows",
            extra={"sandbox": sandbox.pk, "revision": sandbox.revision},
        )
        return False
    return _catch_up_page(held, sandbox)


def _catch_up_page(held: LoadedSandbox, sandbox: Sandbox) -> bool:
    bodies = (
        Diff.objects.filter(sandbox=sandbox, revision__gt=held.revision)
        .order_by("revision")
        .values_list("body", flat=True)
    )
    for body in bodies:
        step = unpack_step(bytes(body))
        if step.from_revision != held.revision:
            return False
        diffs.apply(held.page, step)
        held.revision = step.revision
    held.tally = WorkloadTally.of(held.page)
    return held.revision == sandbox.revision


# ------------------------------------------------------------------------
# The kube-schedulers of a sandbox: what sharing the nodes has cost each of them.


Row = dict[str, Any]


def schedulers(sandbox: Sandbox, revision: int) -> list[Row]:
    """Return a row per scheduler, now or at an earlier revision; none under YuniKorn.

    Attempts, conflicts, retries and idle time count from the start of the run.
    """
    if revision != sandbox.revision:
        return _rows(history.world_at(sandbox, revision))
    with reading(sandbox) as world:
        return _rows(world)


def _rows(world: World) -> list[Row]:
    kube = world.kube
    if kube is None:
        return []
    simulation = world.policy.spec.simulation
    return [_row(kube, scheduler, simulation) for scheduler in kube.schedulers]


def _row(kube: KubeStage, scheduler: Scheduler, simulation: Simulation) -> Row:
    counts = kube.counts[scheduler.name]
    return {
        "key": f"Scheduler//{scheduler.name}",
        "kind": "Scheduler",
        "name": scheduler.name,
        "namespace": "",
        "binding": simulation.binding,
        "locking": simulation.locking if kube.several else "",
        "queued": len(scheduler.queue.entries),
        "held": len(scheduler.assumed),
        "attempts": counts.attempts,
        "bindings": counts.bindings,
        "conflicts": counts.conflicts,
        "retries": counts.retries,
        "refused": counts.refused,
        "blocked": counts.blocked,
        "idleMs": counts.idle_ms,
    }
