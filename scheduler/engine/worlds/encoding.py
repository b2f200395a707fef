"""A world as bytes: its header and its objects in canonical msgpack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import FileProblem

_encoder = msgspec.msgpack.Encoder(order="sorted")
FORMAT = 1


class Header(msgspec.Struct, kw_only=True):
    """What a world is beside its objects; plain values only."""

    now_ms: int
    tick: int
    seed: int
    policy: dict[str, Any]
    state: dict[str, dict[str, Any]] = {}  # by stage


def encode_world(header: Header, objects: Mapping[Key, Object]) -> bytes:
    """Return a world as msgpack, its objects in the order of their keys."""
    rows = [_row(obj) for _, obj in sorted(objects.items())]
    return _encoder.encode([FORMAT, header, rows])


def encode_header(header: Header) -> bytes:
    """Return a header alone as msgpack; equal headers, equal bytes."""
    return _encoder.encode(header)


def encode_object(obj: Object) -> bytes:
    """Return an object alone as msgpack; equal objects, equal bytes."""
    return _encoder.encode(_row(obj))


def _row(obj: Object) -> list[Any]:
    return [*obj.key, obj.manifest, obj.status, obj.state]


def decode_world(data: bytes) -> tuple[Header, list[Object]]:
    """Return the decoded form of `encode_world`, which may be changed before loading.

    Raises SchedulerError for the number of another format.
    """
    found, header, objects = msgspec.msgpack.decode(data)
    if found != FORMAT:
        raise SchedulerError(FileProblem.FORMAT.said(least=FORMAT, given=found))
    return msgspec.convert(header, Header), [
        Object(
            key=Key(kind, namespace, name),
            manifest=manifest,
            status=status,
            state=state,
        )
        for kind, namespace, name, manifest, status, state in objects
    ]
