"""A world as bytes: its header and its objects in canonical msgpack."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
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


# ------------------------------------------------------------------------
# The digests of a world's objects, kept so that only what changed is digested again.


_SIZE = 32  # bytes of a SHA-256
#: Each new key is put in its place while there are fewer than one to so many known
#: ones; of more, all are sorted.
_FEW = 16


class Digests:
    """One SHA-256 per object, side by side in the order of the keys."""

    def __init__(self) -> None:
        self._changed: dict[Key, None] = {}
        self._kinds: dict[str, _Kind] = {}

    def change(self, key: Key) -> None:
        """Note that an object is new, or not what it was."""
        self._changed[key] = None

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self._changed.pop(key, None)
        if (kind := self._kinds.get(key.kind)) is not None:
            kind.remove(key)

    def hash(self, header: Header, objects: Mapping[Key, Object]) -> str:
        """Return the SHA-256 over the header and all objects' digests, in key order.

        Cost: the changed objects, and 32 bytes of SHA-256 for each object there is.
        """
        self._refresh(objects)
        total = hashlib.sha256(encode_header(header))
        for _, kind in sorted(self._kinds.items()):
            total.update(kind.digests)
        return total.hexdigest()

    def _refresh(self, objects: Mapping[Key, Object]) -> None:
        """Digest what changed, and keep the keys in order."""
        came: dict[str, dict[Key, bytes]] = {}
        for key in self._changed:
            if (obj := objects.get(key)) is not None:
                digest = hashlib.sha256(encode_object(obj)).digest()
                kind = self._kinds.get(key.kind)
                if kind is None or not kind.replace(key, digest):
                    came.setdefault(key.kind, {})[key] = digest
        self._changed.clear()
        for name, fresh in came.items():
            self._kinds.setdefault(name, _Kind()).add(fresh)


def hash_of(header: Header, objects: Iterable[Object]) -> str:
    """Return the hash of a world that is not built, only decoded. O(objects)."""
    found = {obj.key: obj for obj in objects}
    digests = Digests()
    for key in found:
        digests.change(key)
    return digests.hash(header, found)


class _Kind:
    """The digests of the objects of one kind."""

    def __init__(self) -> None:
        self.keys: list[Key] = []  # in order
        self.digests = bytearray()  # of `keys`
        self.places: dict[Key, int] = {}  # in `keys`; none since one came or went
        self.looks = 0  # for a place, since then

    def _place(self, key: Key) -> int | None:
        """Return where a key is; None for one that is new."""
        if not self.places and self.looks * _FEW < len(self.keys):
            self.looks += 1
            at = bisect_left(self.keys, key)
            return at if at < len(self.keys) and self.keys[at] == key else None
        if not self.places:
            self.places = {known: at for at, known in enumerate(self.keys)}
        return self.places.get(key)

    def _moved(self) -> None:
        if self.places:
            self.places = {}
        self.looks = 0

    def replace(self, key: Key, digest: bytes) -> bool:
        """Put a digest in the place of the one before; False for a key that is new."""
        at = self._place(key)
        if at is None:
            return False
        self.digests[at * _SIZE : (at + 1) * _SIZE] = digest
        return True

    def add(self, fresh: dict[Key, bytes]) -> None:
        """Take in keys that are new."""
        self._moved()
        if len(fresh) * _FEW < len(self.keys):
            for key, digest in fresh.items():
                at = bisect_left(self.keys, key)
                self.keys.insert(at, key)
                self.digests[at * _SIZE : at * _SIZE] = digest
            return
        for n, key in enumerate(self.keys):
            fresh[key] = bytes(self.digests[n * _SIZE : (n + 1) * _SIZE])
        self.keys = sorted(fresh)
        self.digests = bytearray().join(map(fresh.__getitem__, self.keys))

    def remove(self, key: Key) -> None:
        """Take a key and its digest out; nothing where the key is not known."""
        at = bisect_left(self.keys, key)
        if at < len(self.keys) and self.keys[at] == key:
            self._moved()
            del self.keys[at]
            del self.digests[at * _SIZE : (at + 1) * _SIZE]
