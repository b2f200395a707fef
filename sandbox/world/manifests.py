"""Objects to rows and rows to objects: the one place that knows the columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection

from sandbox.base import bulk
from sandbox.models import ALL_TABLES, StoredObject, table_of
from sandbox.models.fields import decode_json, json_text
from sandbox.process import watchdog
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import share_equal_parts
from scheduler.model.objects import Key, Object

IDENTITY = ("sandbox_id", "kind", "namespace", "name")
COLUMNS = (*IDENTITY, "uid", "revision", "manifest", "status", "state")
_LOADED = ("kind", "namespace", "name", "manifest", "status", "state")

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def store(sandbox_id: str, objects: Iterable[tuple[Object, int]]) -> None:
    """Write these objects, each with its revision, as they are; one statement per table."""
    by_table: dict[type[StoredObject], list[tuple[Object, int]]] = defaultdict(list)
    for obj, revision in objects:
        by_table[table_of(obj.key.kind)].append((obj, revision))
    for table, members in by_table.items():
        bulk.upsert(
            table,
            COLUMNS,
            [_values(sandbox_id, obj, revision) for obj, revision in members],
            identity=IDENTITY,
        )


def remove(sandbox_id: str, keys: Iterable[Key]) -> None:
    """Delete the rows of these objects; one statement per kind and namespace."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        groups[key.kind, key.namespace].append(key.name)
    for (kind, namespace), names in groups.items():
        for start in range(0, len(names), 500):  # SQLite binds a bounded number
            table_of(kind)._default_manager.filter(
                sandbox_id=sandbox_id,
                kind=kind,
                namespace=namespace,
                name__in=names[start : start + 500],
            ).delete()


def leave_large(
    sandbox_id: str, *, times: float = 1, held: World | None = None
) -> None:
    """Leave to a worker what is done `times` to each object of a large world.

    Raises ForWorkerError where a request is served; one statement there unless the
    world is `held`, none elsewhere.
    """
    if watchdog.is_serving():
        count = _count(sandbox_id) if held is None else len(held.objects)
        watchdog.leave_to_worker(round(times * count), settings.OBJECTS_PER_REQUEST)


def _count(sandbox_id: str) -> int:
    tables = [
        f"SELECT COUNT(*) AS n FROM {table._meta.db_table} WHERE sandbox_id = %s"
        for table in ALL_TABLES
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT SUM(n) FROM ({' UNION ALL '.join(tables)}) AS counts",
            [sandbox_id] * len(tables),
        )
        (found,) = cursor.fetchone()
    return int(found)


def load(sandbox_id: str) -> Iterator[Object]:
    """Yield every object of a sandbox; one query per table, always the same number.

    Many are left to a worker.
    """
    leave_large(sandbox_id)
    for table in ALL_TABLES:
        for row in bulk.select(table, _LOADED, sandbox_id):
            kind, namespace, name, packed, status, state = row
            manifest = decode_json(packed)
            share_equal_parts(manifest)
            yield Object(
                key=Key(kind, namespace, name),
                manifest=manifest,
                status=decode_json(status),
                state=_unpack(state),
            )


def clear(sandbox_id: str) -> None:
    """Delete every object of a sandbox."""
    for table in ALL_TABLES:
        table._default_manager.filter(sandbox_id=sandbox_id).delete()


def _values(sandbox_id: str, obj: Object, revision: int) -> tuple[Any, ...]:
    key = obj.key
    return (
        sandbox_id,
        *key,
        obj.uid,
        revision,
        json_text(obj.manifest),
        json_text(obj.status),
        _pack(obj.state),
    )
