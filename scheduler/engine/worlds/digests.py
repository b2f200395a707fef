"""The digests of a world's objects, kept so that only what changed is digested again."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping

from scheduler.engine.worlds.encoding import Header, encode_header, encode_object
from scheduler.model.objects import Key, Object

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
        """Forget a key, if it is known."""
        at = bisect_left(self.keys, key)
        if at < len(self.keys) and self.keys[at] == key:
            self._moved()
            del self.keys[at]
            del self.digests[at * _SIZE : (at + 1) * _SIZE]
