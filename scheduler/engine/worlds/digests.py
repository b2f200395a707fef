"""The digests of a world's objects, kept so that only what changed is digested again."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping

from scheduler.engine.worlds.encoding import Header, encode_header, encode_object
from scheduler.model.objects import Key, Object


class Digests:
    """One SHA-256 per object, by key."""

    def __init__(self) -> None:
        self._changed: dict[Key, None] = {}
        self._digests: dict[Key, bytes] = {}
        self._in_order: list[Key] = []  # of `_digests`

    def change(self, key: Key) -> None:
        """Note that an object is new, or not what it was."""
        self._changed[key] = None

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self._changed.pop(key, None)
        if self._digests.pop(key, None) is not None:
            del self._in_order[bisect_left(self._in_order, key)]

    def hash(self, header: Header, objects: Mapping[Key, Object]) -> str:
        """Return the SHA-256 over the header and all objects' digests, in key order."""
        self._refresh(objects)
        total = hashlib.sha256(encode_header(header))
        total.update(b"".join(map(self._digests.__getitem__, self._in_order)))
        return total.hexdigest()

    def _refresh(self, objects: Mapping[Key, Object]) -> None:
        """Digest what changed, and keep the keys in order."""
        came: list[Key] = []
        for key in self._changed:
            if (obj := objects.get(key)) is not None:
                if key not in self._digests:
                    came.append(key)
                self._digests[key] = hashlib.sha256(encode_object(obj)).digest()
        self._changed.clear()
        if came:  # mostly in order already, which sorting makes use of
            self._in_order += sorted(came)
            self._in_order.sort()
