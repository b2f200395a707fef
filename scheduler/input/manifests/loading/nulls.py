"""Maps with null values: what an API server makes of them, as of Helm's empty values."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

#: Maps of texts: null is the empty text.
_TEXTS = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
#: Maps of amounts, in `resources`: null is none of it.
_AMOUNTS = frozenset({"limits", "requests"})
#: What is written by a server has none.
_SERVERS = frozenset({"managedFields", "status"})

Manifest = dict[str, Any]


def may_hold_nulls(packed: bytes) -> bool:
    """Return False where an object that msgpack packed has no null for certain."""
    return b"\xc0" in packed


def without_nulls(manifest: Manifest, parts: tuple[str, ...] = ()) -> Manifest:
    """Return an object whose maps of texts and amounts hold no null.

    Of `parts` only, where they are given. What was given is not changed, and is
    returned itself where there is nothing to do. Cost: O(fields).
    """
    found = manifest
    for name in parts or manifest.keys() - _SERVERS:
        filled = _filled(manifest.get(name), name, "")
        if filled is not manifest.get(name):
            found = {**found, name: filled}
    return found


def _filled(value: Any, name: str, above: str) -> Any:
    if isinstance(value, list):
        items = [_filled(item, name, above) for item in value]
        changed = any(map(operator.is_not, items, value))
        return items if changed else value
    if not isinstance(value, dict):
        return value
    if name in _TEXTS:
        return _with(value, "")
    if name in _AMOUNTS and above == "resources":
        return _with(value, "0")
    inner = {
        key: filled
        for key, part in value.items()
        if key not in _SERVERS and (filled := _filled(part, key, name)) is not part
    }
    return {**value, **inner} if inner else value


def _with(given: Mapping[str, Any], instead: str) -> Mapping[str, Any]:
    if None not in given.values():
        return given
    return {key: instead if one is None else one for key, one in given.items()}
