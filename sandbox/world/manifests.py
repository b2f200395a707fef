"""Objects to rows and rows to objects: the one place that knows the columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from sandbox.base import bulk
from sandbox.models import ALL_TABLES, StoredObject, table_of
from sandbox.models.fields import decode_json, json_text
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


def load(sandbox_id: str) -> Iterator[Object]:
    """Yield every object of a sandbox; one query per table, always the same number."""
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
