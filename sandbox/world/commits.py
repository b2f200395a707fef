"""Decisions to rows, events and the next revisions, in one transaction.

A commit names the revision it started from and the fence it holds. When
either has moved on, nothing is written and OvertakenError is raised.
Ticks that nobody waits for one by one may share a transaction. One commit:

1. `make_revision()`: what the world changed since the last commit (`take()`).
2. The page of an edit is compared with the one before (`between()`); of a tick only
   the rows of what it touched are made (`delta_of()`).
3. `write()`, in one transaction: `_claim_revision()` refuses who was overtaken,
   `store_objects()` writes the changed objects, `insert_history()` the revision with its
   events, sample and, every CHECKPOINT_EVERY revisions, the whole world.
4. `after_commit()`: once it is committed the diff goes to all who watch.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import lru_cache
from typing import Any

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox.base import counters
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import OvertakenError
from sandbox.base.refusals import NotNow
from sandbox.models import Checkpoint, Revision, Sandbox
from sandbox.models.sandbox import carried_out
from sandbox.page import diffs, rows
from sandbox.page.diffs import RevisionDiff, encode_step
from sandbox.page.events import records_of
from sandbox.page.packing import pack_page, pack_world
from sandbox.page.rows.tally import WorkloadTally
from sandbox.process.services import bus_client
from sandbox.world import worlds
from sandbox.world.leases import LEASE_S, Claim
from sandbox.world.revisions import CommitRequest as CommitRequest
from sandbox.world.revisions import MadeRevision, insert_history, store_objects
from sandbox.world.worlds import LoadedSandbox
from scheduler.engine.worlds.objects import Changes

CHECKPOINT_EVERY = 64
#: An edit gets a checkpoint too, but not when the last is this near.
CHECKPOINT_APART = 8


def make_revision(
    held: LoadedSandbox, sandbox: Sandbox, request: CommitRequest
) -> MadeRevision:
    """Make the next revision of what was done to `held.world`, in memory alone.

    Brings the page and the sandbox's row forward; `write` stores it, with those
    before it if there are any.
    """
    world = held.world
    changes = world.take()
    before = sandbox.revision
    for name, value in request.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    sandbox.tick = world.tick
    sandbox.now_ms = world.context.now_ms
    sandbox.stack = world.policy.spec.stack
    sandbox.tick_ms = world.policy.spec.simulation.tick_ms
    sandbox.hash = world.hash()
    if request.kind == Revision.TICK:
        delta = rows.delta_of(world, sandbox, held.page, held.tally, changes)
    else:
        delta = diffs.between(held.page, rows.page_of(world, sandbox))
    lines = [*request.edits, *records_of(changes.decisions)]
    step = RevisionDiff(
        from_revision=before,
        revision=sandbox.revision,
        tick=sandbox.tick,
        added=delta.added,
        updated=delta.updated,
        removed=delta.removed,
        events=[
            line.row(sandbox.revision, sandbox.tick, n) for n, line in enumerate(lines)
        ],
    )
    diffs.apply(held.page, step)
    due = _checkpoint_due(sandbox, request)
    if request.kind == Revision.TICK:
        step.samples = [
            rows.sample_of(sandbox, held.page, held.tally, lines, changes.searched)
        ]
    else:
        held.tally = WorkloadTally.of(held.page)
    checkpoint = (pack_world(world), pack_page(held.page)) if due else None
    return MadeRevision(
        request=request,
        step=step,
        lines=lines,
        changes=changes,
        t_ms=sandbox.now_ms,
        at=timezone.now(),
        checkpoint=checkpoint,
    )


def write(
    held: LoadedSandbox,
    sandbox: Sandbox,
    claim: Claim,
    made: Sequence[MadeRevision],
    *,
    sent: Sequence[RevisionDiff] | None = None,
) -> None:
    """Write revisions that follow one another in one transaction: all of them or none.

    Every diff is sent, unless others say the same or nobody watches: `sent` then. Whoever
    misses one sees the gap. A fixed number of statements, plus one per table with changed
    objects. Raises OvertakenError, and then nothing is written: the caller drops the
    held world.
    """
    sandbox.header = worlds.header_bytes(held.world)
    with transaction.atomic():
        _claim_revision(sandbox, claim, made[0].step.from_revision)
        store_objects(held, made)
        insert_history(sandbox.pk, made)
        held.revision = sandbox.revision
        texts = {id(one.step): one.text for one in made}
        for step in [one.step for one in made] if sent is None else sent:
            after_commit(sandbox.pk, step, texts.get(id(step)))
    counters.count(f"commits_{made[-1].request.kind}", len(made))


def ends_batch(sandbox: Sandbox) -> bool:
    """Return whether a checkpoint is due at this revision: nothing is added to it."""
    return sandbox.revision % CHECKPOINT_EVERY == 0


def commit_transport(
    sandbox: Sandbox, claim: Claim, request: CommitRequest
) -> RevisionDiff:
    """Write a change of play, pause or speed: the world stays as it is and is not needed.

    Raises OvertakenError.
    """
    before = sandbox.revision
    for name, value in request.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    step = RevisionDiff(
        from_revision=before,
        revision=sandbox.revision,
        tick=sandbox.tick,
        updated={rows.SANDBOX_KEY: rows.transport_of(sandbox)},
        events=[
            line.row(sandbox.revision, sandbox.tick, n)
            for n, line in enumerate(request.edits)
        ],
    )
    made = MadeRevision(
        request=request,
        step=step,
        lines=request.edits,
        changes=Changes(touched=[], removed=[], decisions=[]),
        t_ms=sandbox.now_ms,
        at=timezone.now(),
    )
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        insert_history(sandbox.pk, [made])
        after_commit(sandbox.pk, step, made.text)
    counters.count("commits_transport")
    worlds.bring_page_forward(sandbox.pk, step)
    return step


_CARRIED = (
    "revision",
    "tick",
    "now_ms",
    "stack",
    "tick_ms",
    "header",
    "hash",
    "kept_revision",
    "kept_tick",
    "keep_ticks",
    "keep_days",
)


def _claim_revision(sandbox: Sandbox, claim: Claim, before: int) -> None:
    changed = {name: getattr(sandbox, name) for name in _CARRIED}
    for name in ("playing", "speed", "until", "problem", "due_at", "title"):
        changed[name] = getattr(sandbox, name)
    own = Sandbox.objects.filter(pk=sandbox.pk, revision=before, fence=claim.fence)
    held_until = DatabaseTime() + LEASE_S
    if own.update(lease_until=held_until, changed_at=timezone.now(), **changed) != 1:
        counters.count("leases_lost")
        raise OvertakenError(NotNow.MOVED_ON.said(sandbox=sandbox.pk, revision=before))
    carried_out()


def _checkpoint_due(sandbox: Sandbox, request: CommitRequest) -> bool:
    if request.kind == Revision.RERUN or ends_batch(sandbox):
        return True
    if request.kind != Revision.EDIT or request.origin is not None:
        return False
    near = Checkpoint.objects.filter(
        sandbox=sandbox, revision__gt=sandbox.revision - CHECKPOINT_APART
    )
    return not near.exists()


# ------------------------------------------------------------------------
# Sending everyone what was committed, after it was committed.


logger = logging.getLogger(__name__)

#: The group of what changed about people; every process that has sockets is in it.
PEOPLE = "people"
#: How long a tick may wait for the bus before it goes on without.
PATIENCE_S = 1.0


def group_of(sandbox_id: str) -> str:
    """Return the name of the group in which a sandbox's diffs travel."""
    return f"sandbox.{sandbox_id}"


def after_commit(
    sandbox_id: str, step: RevisionDiff, text: bytes | None = None
) -> None:
    """Send the diff once the running transaction has committed.

    `text` is what `encode_step` made of it, where that is known.
    """
    body = encode_step(step) if text is None else text
    message = {
        "type": "diff",
        "from": step.from_revision,
        "revision": step.revision,
        "rewrites": step.rewrites_history(),
        "body": body,
    }
    transaction.on_commit(lambda: _publish(sandbox_id, message), robust=True)


def is_watched(sandbox_id: str) -> bool:
    """Return whether any process has a socket open on the sandbox.

    Also true when the bus does not answer: then nobody knows.
    """
    if _is_alone():
        return False
    layer: Any = settings.CHANNEL_LAYERS["default"]
    channel = f"{layer['CONFIG']['prefix']}__group__{group_of(sandbox_id)}"
    try:
        # The name that the layer gives a group on the bus.
        answer: Any = _bus().pubsub_numsub(channel)
    except (redis.RedisError, OSError) as error:
        logger.debug("nobody knows who watches: %s", error)
        return True
    return any(count for _, count in answer)


@lru_cache(maxsize=1)
def _bus_of(_pid: int) -> redis.Redis:
    return bus_client(settings.BUS_URL)


def _bus() -> redis.Redis:
    """Return this process's connection; a forked child needs its own."""
    return _bus_of(os.getpid())


def gone(sandbox_id: str) -> None:
    """Announce that a sandbox was deleted, once that is committed."""
    transaction.on_commit(lambda: _publish(sandbox_id, {"type": "gone"}), robust=True)


def rights_changed(sandbox_id: str) -> None:
    """Have the rights of whoever looks checked again, once the change is committed."""
    transaction.on_commit(lambda: _publish(sandbox_id, {"type": "rights"}), robust=True)


def person_changed(user_id: int) -> None:
    """Have the rights of all streams of a person checked, once the change is committed."""
    message = {"type": "person", "user": user_id}
    transaction.on_commit(lambda: _publish("", message, PEOPLE), robust=True)


def news(sandbox_id: str, body: Callable[[], bytes]) -> None:
    """Send what is no part of the world (a lesson), made once that is committed."""
    transaction.on_commit(
        lambda: _publish(sandbox_id, {"type": "news", "body": body()}), robust=True
    )


def _publish(sandbox_id: str, message: dict[str, Any], group: str = "") -> None:
    layer = get_channel_layer()
    if layer is None or _is_alone():
        return
    try:
        _publisher().run(layer.group_send(group or group_of(sandbox_id), message))
    except Exception as error:
        counters.count("sends_failed")
        logger.warning("a diff was not sent: %s", error, extra={"sandbox": sandbox_id})


def _is_alone() -> bool:
    """Return whether no web process runs that could pass anything on.

    In the default run it has the bus as its child, whose socket is a file.
    """
    address = settings.BUS_URL.removeprefix("unix://")
    return not settings.SERVER and not os.path.exists(address)


class _Publisher:
    """A thread with a running loop, made once per process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        threading.Thread(
            target=self.loop.run_forever, name="broadcast", daemon=True
        ).start()

    def run(self, sending: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine to its end, or give up after PATIENCE_S."""
        future = asyncio.run_coroutine_threadsafe(sending, self.loop)
        try:
            future.result(PATIENCE_S)
        except TimeoutError:
            future.cancel()
            raise


_lock = threading.Lock()
_present: _Publisher | None = None


def _publisher() -> _Publisher:
    """Return this process's publisher; a forked child needs its own."""
    global _present
    with _lock:
        if _present is None or _present.pid != os.getpid():
            _present = _Publisher()
        return _present
