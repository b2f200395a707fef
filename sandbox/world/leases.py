"""Who may write to a sandbox: one holder at a time, named by a fencing number.

A holder that dies is out after its lease; a holder that is merely slow finds
a newer fence when it commits, and its work is thrown away. All times are the
database's, so a host may have any clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from sandbox.base import database_time
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import BusyError, NotFoundError
from sandbox.base.refusals import Absent, NotNow
from sandbox.models import Sandbox
from sandbox.process import watchdog

#: What is done for each tick is written out: it took Django longer to make these
#: statements, each time anew, than the database to carry them out.
_TABLE = Sandbox._meta.db_table
LEASE_S = 4.0
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.004, 0.05
#: The slowest sandbox is due within 10 s; leases are shorter.
FURTHEST_AHEAD_S = 60.0
#: How long ticks keep out of the way of an edit that asked.
WAITING_S = 1.0
#: A lineage that changes again and again while it is being claimed is given up.
_MOST_LOOKS = 5


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to commit to one sandbox, while the fence is the newest."""

    sandbox_id: str
    fence: int


def take(sandbox_id: str, *, lease_s: float = LEASE_S) -> Claim | None:
    """Return a claim, or None when another process holds the sandbox."""
    found = _take(sandbox_id, lease_s, "fence")
    return None if found is None else Claim(sandbox_id, *found)


@dataclass(frozen=True, slots=True)
class TickClaim:
    """A claim of who ticks, and what its row says."""

    claim: Claim
    #: How often somebody began here since anything was committed, with this time.
    tries: int
    #: The cluster that the sandbox follows, or "".
    cluster: str


def take_to_tick(sandbox_id: str, ticket: float | None, by: str) -> TickClaim | None:
    """Return a claim for a process (`by`) whose message has this ticket.

    None when another process holds the sandbox, or when a later message was sent. The
    try is counted before the work: a process that is lost writes nothing any longer.
    """
    found = _take(
        sandbox_id,
        LEASE_S,
        "fence, tries, cluster",
        sets=", queued_until = 0, warm = %s, tried_at = revision,"
        " tries = CASE WHEN tried_at = revision THEN tries + 1 ELSE 1 END",
        values=[by],
        ticket=ticket,
    )
    if found is None:
        return None
    fence, tries, cluster = found
    return TickClaim(Claim(sandbox_id, fence), tries, cluster)


def _take(
    sandbox_id: str,
    lease_s: float,
    columns: str,
    *,
    sets: str = "",
    values: Sequence[str] = (),
    ticket: float | None = None,
) -> Sequence[Any] | None:
    """Return columns of a row whose lease begins; None where it may not."""
    now = database_time.words()
    statement = (
        f"UPDATE {_TABLE} SET fence = fence + 1, lease_until = {now} + %s{sets}"
        f" WHERE id = %s AND lease_until < {now}"
    )
    wanted: list[Any] = [lease_s, *values, sandbox_id]
    if ticket is not None:
        statement, wanted = f"{statement} AND queued_until = %s", [*wanted, ticket]
    with connection.cursor() as cursor:
        if connection.features.can_return_columns_from_insert:
            cursor.execute(f"{statement} RETURNING {columns}", wanted)
        else:  # SQLite before 3.35
            cursor.execute(statement, wanted)
            if cursor.rowcount != 1:
                return None
            asked = f"SELECT {columns} FROM {_TABLE} WHERE id = %s"
            cursor.execute(asked, [sandbox_id])
        found: Sequence[Any] | None = cursor.fetchone()
    return found


def renew(claim: Claim, *, lease_s: float = LEASE_S) -> bool:
    """Hold on for longer; False when the claim is lost or was given back."""
    own = Sandbox.objects.filter(
        pk=claim.sandbox_id, fence=claim.fence, lease_until__gt=0
    )
    back = watchdog.tries_taken_back()
    return own.update(lease_until=DatabaseTime() + lease_s, **back) == 1


def release(claim: Claim) -> None:
    """Give the sandbox back; nothing happens when the claim is lost already.

    Whoever gets here was not lost, so that its try does not count any longer.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_TABLE} SET lease_until = 0, tries = 0"
            " WHERE id = %s AND fence = %s",
            [claim.sandbox_id, claim.fence],
        )


def mend_times() -> int:
    """Bring times to now that are further ahead than any can be; return how many rows.

    A database whose clock was set back leaves them: nobody would tick until then.
    """
    late = DatabaseTime() + FURTHEST_AHEAD_S
    times = ("lease_until", "waiting_until", "queued_until", "due_at")
    return sum(
        Sandbox.objects.filter(**{f"{name}__gt": late}).update(**{name: DatabaseTime()})
        for name in times
    )


def renewed(claim: Claim) -> AbstractContextManager[None]:
    """Return a block that renews the claim for as long as it runs.

    For what may take longer than a lease.
    """
    name = f"renew-{claim.sandbox_id}"
    return watchdog.renewing(lambda: renew(claim), LEASE_S / 3, name=name)


@contextmanager
def claimed(sandbox_id: str, *, patience_s: float = 15.0) -> Iterator[Claim]:
    """Hold the sandbox for an edit; running ticks step aside for it.

    Raises NotFoundError, and BusyError when nobody gives way in time.
    """
    claim = _insist(sandbox_id, time.monotonic() + patience_s)
    Sandbox.objects.filter(pk=sandbox_id).update(waiting_until=0)
    try:
        with renewed(claim):
            yield claim
    finally:
        release(claim)


@contextmanager
def without_ticks(sandbox_id: str) -> Iterator[None]:
    """Keep ticks out of the way of the block, which does not hold the sandbox: edits go on."""
    own = Sandbox.objects.filter(pk=sandbox_id)

    def ask() -> bool:
        return own.update(waiting_until=DatabaseTime() + LEASE_S) == 1

    ask()
    try:
        with watchdog.renewing(ask, LEASE_S / 3, name=f"aside-{sandbox_id}"):
            yield
    finally:
        own.update(waiting_until=0)


@contextmanager
def lineage_claimed(
    sandbox_id: str, others: Callable[[], Iterable[str]] = tuple
) -> Iterator[Claim]:
    """Claim a sandbox, the sandboxes whose past it shows, and `others`.

    None of them is rewound, undone or deleted meanwhile: whatever is read of the past
    is of one moment. Raises as above.
    """
    for _ in range(_MOST_LOOKS):
        held = {*_ancestors(sandbox_id), sandbox_id, *others()}
        with ExitStack() as stack:
            # In one order, so that two who want the same do not wait for each other.
            claims = {pk: stack.enter_context(claimed(pk)) for pk in sorted(held)}
            if held.issuperset([*_ancestors(sandbox_id), *others()]):
                yield claims[sandbox_id]
                return
    raise BusyError(NotNow.BUSY.said())


def _ancestors(sandbox_id: str) -> list[str]:
    found: list[str] = []
    place: str | None = sandbox_id
    while place is not None:
        parents = Sandbox.objects.filter(pk=place).values_list("parent_id", flat=True)
        place = parents.first()
        if place is not None:
            found.append(place)
    return found


def _insist(sandbox_id: str, until: float) -> Claim:
    wait = _FIRST_WAIT_S
    while (claim := take(sandbox_id)) is None:
        asked = Sandbox.objects.filter(pk=sandbox_id).update(
            waiting_until=DatabaseTime() + WAITING_S
        )
        if not asked:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
        if time.monotonic() > until:
            raise BusyError(NotNow.BUSY.said())
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT_S)
    return claim
