"""Merge patches of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `patch` laid over it, as a JSON merge patch (RFC 7386)."""
    merged = dict(base)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            known = merged.get(name)
            merged[name] = merge(known if isinstance(known, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged
