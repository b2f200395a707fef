"""Walk an object along the table of fields: which it lacks, which decide nothing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.input.manifests.known_fields.keys import unknown_keys
from scheduler.input.manifests.known_fields.table import (
    kinds,
    looked_into,
    types,
    unread,
)
from scheduler.input.manifests.known_fields.unread import PREFIXES
from scheduler.model.sentence import Sentence
from scheduler.words.findings import Unknown

#: How the sentence about an unknown field begins.
UNKNOWN_FIELD = "unknown field"
_META = "ObjectMeta"
_NONE: frozenset[str] = frozenset()
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_ANY_TEMPLATE = "Pod"  # a template, and a Pod that another kind wraps


@dataclass(slots=True)
class Walk:
    """What was found, as (path, problem), and the fields that decide nothing."""

    unknown_fields: list[tuple[str, Sentence]] = field(default_factory=list)
    unknown_keys: list[tuple[str, Sentence]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)  # field -> its first path


def walk(manifest: Mapping[str, Any]) -> Walk:
    """Return the unknown fields of an object, and the known fields without effect.

    What a controller made of a template has nothing of its own to say. Objects of
    kinds whose fields are not listed are searched for pod templates.
    Cost: O(fields); lists of names and texts are not looked into.
    """
    found = Walk()
    if _is_made(manifest):
        return found
    kind = str(manifest.get("kind"))
    if kind in kinds():
        _fields(found, manifest, kind, "", ())
        return found
    _value(found, manifest.get("metadata"), _META, "metadata", ())
    _search(found, manifest.get("spec"), "spec")
    return found


def _is_made(manifest: Mapping[str, Any]) -> bool:
    """Return whether a controller made it, of a template that is walked itself."""
    metadata = manifest.get("metadata")
    owned = isinstance(metadata, dict) and metadata.get("ownerReferences")
    return bool(owned) and manifest.get("kind") in ("Workload", "Pod")


def _search(found: Walk, value: Any, path: str) -> None:
    """Walk the pod templates, and the objects of listed kinds, below a value."""
    if isinstance(value, list):
        for index, inner in enumerate(value):
            _search(found, inner, f"{path}[{index}]")
    elif isinstance(value, dict):
        sort = _sort_of(value)
        if sort:
            _fields(found, value, sort, path, ())
            return
        for name, inner in value.items():
            _search(found, inner, f"{path}.{name}")


def _sort_of(value: Mapping[str, Any]) -> str:
    """Return the type of a wrapped object or of a template; "" for another thing."""
    kind = value.get("kind")
    if "apiVersion" in value and isinstance(kind, str) and kind in kinds():
        return kind
    spec = value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
        return _ANY_TEMPLATE
    return "PodSpec" if isinstance(value.get("containers"), list) else ""


def _value(
    found: Walk, value: Any, sort: str, path: str, above: tuple[str, ...]
) -> None:
    if isinstance(value, list):
        for index, inner in enumerate(value):
            _value(found, inner, sort, f"{path}[{index}]", above)
    elif isinstance(value, dict):
        if sort.startswith("*"):
            for name, inner in value.items():
                _value(found, inner, sort[1:], f"{path}.{name}", above)
        else:
            _fields(found, value, sort, path, above)


def _fields(
    found: Walk,
    holder: Mapping[str, Any],
    sort: str,
    path: str,
    above: tuple[str, ...],
) -> None:
    known, prefix = types()[sort], f"{path}." if path else ""
    if not holder.keys() <= known.keys():
        for name in holder:
            if name not in known:
                problem = _sentence(str(name), sort, above)
                found.unknown_fields.append((f"{prefix}{name}", problem))
    for name, inner in looked_into()[sort]:
        if value := holder.get(name):
            _value(found, value, inner, prefix + name, (*above, sort))
    for name in holder.keys() & unread().get(sort, _NONE):
        if holder[name] not in _EMPTY:
            label = PREFIXES.get(sort, "") + name
            found.unread[label] += 1
            if label not in found.first:
                found.first[label] = prefix + name
    if sort == _META:
        _keys(found, holder, path)


def _sentence(name: str, sort: str, above: tuple[str, ...]) -> Sentence:
    """Return the faults of a field, and what was probably meant."""
    holder = next((one for one in reversed(above) if name in types()[one]), "")
    if holder:
        return Unknown.FIELD_ABOVE.said(name=name, kind=sort, holder=holder)
    near = difflib.get_close_matches(name, types()[sort], n=1)
    if near:
        return Unknown.FIELD_NEAR.said(name=name, kind=sort, near=near[0])
    return Unknown.FIELD.said(name=name, kind=sort)


def _keys(found: Walk, metadata: Mapping[str, Any], path: str) -> None:
    for part, key, near in unknown_keys(metadata):
        problem = Unknown.KEY.said(name=key, part=part)
        if near:
            problem = Unknown.KEY_NEAR.said(name=key, part=part, near=near)
        found.unknown_keys.append((f"{path}.{part}.{key}", problem))
