"""What sandboxes take on disk: bytes by sandbox and by what they are for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.db.models import Model

from sandbox.models import (
    ALL_TABLES,
    Checkpoint,
    Diff,
    Event,
    Revision,
    Sample,
    Sandbox,
    Stored,
)

#: What it is for -> its tables and their columns of any length.
_OBJECT = ("manifest", "status", "state")
PARTS: dict[str, tuple[tuple[type[Model], tuple[str, ...]], ...]] = {
    "objects": tuple((table, _OBJECT) for table in ALL_TABLES),
    "events": ((Event, ("subject", "message", "data", "said")),),
    "diffs": ((Diff, ("body",)),),
    "checkpoints": ((Checkpoint, ("world", "page")),),
    "samples": ((Sample, ("body",)),),
    "operations": ((Revision, ("operation",)),),
    "archive": ((Stored, ("body",)),),
}
#: A row beside those columns, with its places in the indexes: about so many bytes.
ROW_BYTES = 160
#: A figure is kept for this long as long as the sandbox has not changed.
KEPT_S = 3600


@dataclass(slots=True)
class Use:
    """Bytes of one sandbox, by what they are for."""

    parts: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Return the sum of all parts, in bytes."""
        return sum(self.parts.values())


def use_of(sandboxes: Sequence[Sandbox]) -> dict[str, Use]:
    """Return the disk use of each sandbox; only changed ones are measured.

    What a fork shares is its parent's. A query per table for all that changed;
    O(their rows).
    """
    names = {_name(sandbox): sandbox.pk for sandbox in sandboxes}
    kept = caches["kept"].get_many(names)
    found = {names[name]: Use(parts) for name, parts in kept.items()}
    fresh = [sandbox for sandbox in sandboxes if sandbox.pk not in found]
    measured = _measure([sandbox.pk for sandbox in fresh])
    caches["kept"].set_many({_name(s): measured[s.pk].parts for s in fresh}, KEPT_S)
    return {**found, **measured}


def _name(sandbox: Sandbox) -> str:
    archived = "archived" if sandbox.archived_at else "open"
    return f"disk:{sandbox.pk}:{sandbox.revision}:{archived}"


def _measure(keys: Sequence[str]) -> dict[str, Use]:
    sums: dict[str, dict[str, int]] = {key: defaultdict(int) for key in keys}
    for start in range(0, len(keys), 500):  # SQLite binds a bounded number
        some = keys[start : start + 500]
        for part, tables in PARTS.items():
            for table, columns in tables:
                for key, size in _sizes(table, columns, some):
                    sums[key][part] += size
    return {
        key: Use({p: n for p, n in parts.items() if n}) for key, parts in sums.items()
    }


def _sizes(
    table: type[Model], columns: Iterable[str], keys: Sequence[str]
) -> Iterator[tuple[str, int]]:
    quoted = connection.ops.quote_name
    lengths = " + ".join(_length(quoted(name)) for name in columns)
    places = ", ".join(["%s"] * len(keys))
    query = (
        f"SELECT sandbox_id, SUM({lengths} + {ROW_BYTES})"
        f" FROM {quoted(table._meta.db_table)}"
        f" WHERE sandbox_id IN ({places}) GROUP BY sandbox_id"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, list(keys))
        for key, size in cursor.fetchall():
            yield key, int(size)


def _length(column: str) -> str:
    """Return the bytes that a column takes; PostgreSQL compresses what is long."""
    if connection.vendor == "postgresql":
        return f"pg_column_size({column})"
    return f"length({column})"


def forget(sandbox: Sandbox) -> None:
    """Measure the sandbox anew when it is asked for: rows went without a revision."""
    caches["kept"].delete(_name(sandbox))


def database_bytes() -> int:
    """Return what the whole database takes, free pages and journal included."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            (size,) = cursor.fetchone()
            return int(size)
    path = str(settings.DATABASES["default"]["NAME"])
    files = (Path(path + ending) for ending in ("", "-wal", "-shm"))
    return sum(file.stat().st_size for file in files if file.exists())


def free_bytes() -> int:
    """Return how much of the SQLite file is free for new rows; 0 on PostgreSQL."""
    if connection.vendor == "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA freelist_count")
        (pages,) = cursor.fetchone()
        cursor.execute("PRAGMA page_size")
        (size,) = cursor.fetchone()
    return int(pages) * int(size)


def shrink() -> None:
    """Give the free space of the SQLite file back; PostgreSQL does so by itself.

    Writes the whole file anew: O(the database), and nobody writes meanwhile.
    """
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
