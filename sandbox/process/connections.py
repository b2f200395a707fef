"""How many connections to PostgreSQL each process may open, and whether it takes them all.

The web process has a pool with a bound; a worker's process and the clock have a few threads
that each keep one. Each says its bound in the name that PostgreSQL shows of its
connections, so that whoever starts can add them up.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import re
import time
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

#: Of one process of a worker: the work, what renews its lease, and what forgets.
PER_WORKER = 3
#: Of a clock: its own, and what looks for an upgrade.
PER_CLOCK = 2
_NAME = re.compile(r"quotalab (\w+) ([0-9]+) ")


def announce(kind: str, most: int) -> None:
    """Name the connections of this process, and of those it forks, with their bound.

    Call it before the first is opened. 0 = it has none: its connections are counted as
    those of other programs are. SQLite has no such bound.
    """
    if most and connection.vendor == "postgresql":
        name = f"quotalab {kind} {most} {platform.node()[:24]}:{os.getpid()}"
        connection.settings_dict["OPTIONS"].setdefault("application_name", name)


def drop() -> None:
    """Close this thread's connection, whatever its transaction is at: that is not committed.

    For work that was ended between two instructions: Django may not know what was begun.
    The next statement opens another connection.
    """
    connection.in_atomic_block = False
    connection.close()


class Held(NamedTuple):
    """The connections to PostgreSQL of one kind of process; "" = of other programs."""

    kind: str
    processes: int  # 0 of other programs
    bound: (
        int  # most that they may open together; as many as are open of other programs
    )
    open: int


def held() -> tuple[int, list[Held]]:
    """Return how many connections PostgreSQL takes, and who has them; (0, []) without one.

    Two statements.
    """
    if connection.vendor != "postgresql":
        return 0, []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int"
            " - current_setting('superuser_reserved_connections')::int"
        )
        (room,) = cursor.fetchone()
        cursor.execute(
            "SELECT application_name, count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' GROUP BY application_name"
        )
        kinds: dict[str, Held] = {}
        for name, count in cursor.fetchall():
            ours = _NAME.match(name)
            kind, bound = (ours[1], int(ours[2])) if ours else ("", count)
            one = kinds.get(kind, Held(kind, 0, 0, 0))
            kinds[kind] = Held(
                kind, one.processes + bool(ours), one.bound + bound, one.open + count
            )
    return room, sorted(kinds.values(), reverse=True)


def warn_if_too_many() -> str:
    """Log and return a sentence where all processes that run cannot have their connections."""
    with contextlib.suppress(DatabaseError):
        room, found = held()
        bounds = sum(one.bound for one in found if one.kind)
        others = sum(one.open for one in found if not one.kind)
        if bounds + others > room > 0:
            said = (
                f"the processes of Quotalab that run may open {bounds} connections to "
                f"PostgreSQL and other programs have {others}, but it takes {room}. Set "
                f"max_connections to {bounds + others + 10} or more, lower DATABASE_POOL "
                "of the web processes, or run fewer worker processes"
            )
            logger.warning(said)
            return said
    return ""


def sleep(seconds: float) -> None:
    """Wait, and let others have this request's connection meanwhile."""
    give_back()
    time.sleep(seconds)


def give_back() -> None:
    """Give this thread's connection back to the pool, where there is one, until it is used."""
    if pool_size() and not connection.in_atomic_block:
        connection.close()


def pool_size() -> int:
    """Return how many connections the pool of this process has at most; 0 = no pool."""
    pool = settings.DATABASES["default"].get("OPTIONS", {}).get("pool") or {}
    return int(pool.get("max_size", 0))
