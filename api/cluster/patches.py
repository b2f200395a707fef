"""JSON patch and strategic merge patch; merge patch is the engine's own `merge`.

Source: <https://www.rfc-editor.org/rfc/rfc6902>;
<https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/>
"""

from __future__ import annotations

import copy
import itertools
import sys
from typing import Any

import msgspec
from django.conf import settings

from api.cluster import json_words, parsers, refusals
from api.views.base import whole
from scheduler.assembly import merge

#: List field -> the field by which its items are distinguished.
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "taints": "key",
    "conditions": "type",
    "addresses": "type",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "topologySpreadConstraints": "topologyKey",
}
_SETS = frozenset({"finalizers"})
MOST_OPERATIONS = 1000


def patched(document: Any, patch: Any, media: str) -> Any:
    """Return a document as the body of a PATCH of this media type changes it.

    Raises RefusalError, also where it would be larger than a body may be.
    """
    found = _patched(document, patch, media)
    most = settings.LIMITS["bytes_per_body"]
    if most and _bytes(found) > most:
        raise refusals.RefusalError(
            413, "RequestEntityTooLarge", f"Request entity too large: limit is {most}"
        )
    return found


def _bytes(value: Any) -> int:
    """Return how long a value is as JSON. Raises RefusalError for one nested too deep."""
    try:
        return len(msgspec.json.encode(value))
    except RecursionError as error:
        raise refusals.RefusalError(422, "Invalid", _REJECTED, {}) from error


def _patched(document: Any, patch: Any, media: str) -> Any:
    if media == parsers.JSON:
        return json_patch(document, patch)
    if media == parsers.STRATEGIC and isinstance(patch, dict):
        return strategic(document, patch)
    if not isinstance(patch, dict):
        kind = json_words.type_of(patch)
        raise refusals.bad_request(
            f"error decoding patch: json: cannot unmarshal {kind} into Go value of type "
            "map[string]interface {}"
        )
    return merge(document, patch)


def strategic(target: Any, patch: Any, field: str = "") -> Any:
    """Return `target` with a strategic merge patch laid over it."""
    if isinstance(patch, dict):
        return _merged_object(target, patch)
    if isinstance(patch, list) and isinstance(target, list):
        if field in _SETS:
            return [*target, *_without(patch, target)]
        if field in MERGE_KEYS:
            return _merged_list(target, patch, MERGE_KEYS[field])
    return patch


def _merged_object(target: Any, patch: dict[str, Any]) -> Any:
    directive = patch.get("$patch")
    rest = {name: value for name, value in patch.items() if name[:1] != "$"}
    if directive == "replace":
        return rest
    found = dict(target) if isinstance(target, dict) else {}
    for name, value in rest.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = strategic(found.get(name), value, name)
    for name, gone in patch.items():
        # Follow `$deleteFromPrimitiveList/x` and `$retainKeys`; orders mean nothing.
        if name.startswith("$deleteFromPrimitiveList/") and isinstance(gone, list):
            field = name.partition("/")[2]
            kept = found.get(field)
            if isinstance(kept, list):
                found[field] = _without(kept, gone)
        elif name == "$retainKeys" and isinstance(gone, list):
            for key in [key for key in found if key not in gone]:
                del found[key]
    return found


def _without(items: list[Any], gone: list[Any]) -> list[Any]:
    """Return the items that are not among others. O(n)."""
    known = {msgspec.json.encode(one, order="sorted") for one in gone}
    return [
        one for one in items if msgspec.json.encode(one, order="sorted") not in known
    ]


def _merged_list(target: list[Any], patch: list[Any], key: str) -> list[Any]:
    """Return a list with the items of another laid over it by their key. O(n)."""
    found: dict[int, Any] = dict(enumerate(target))
    places: dict[Any, list[int]] = {}
    fresh = itertools.count(len(target))
    for place, known in found.items():
        if isinstance(known, dict):
            places.setdefault(_hashable(known.get(key)), []).append(place)
    for item in patch:
        if not isinstance(item, dict):
            return patch
        if key not in item and "$patch" not in item:
            said = " ".join(f"{n}:{v}" for n, v in sorted(item.items()))
            why = f"map: map[{said}] does not contain declared merge key: {key}"
            raise refusals.RefusalError(500, "", why)
        if item.get("$patch") == "replace":
            return [i for i in patch if not (isinstance(i, dict) and "$patch" in i)]
        named = places.setdefault(_hashable(item.get(key)), [])
        if item.get("$patch") == "delete":
            for place in named:
                del found[place]
            named.clear()
        elif named:
            found[named[0]] = strategic(found[named[0]], item)
        else:
            named.append(next(fresh))
            found[named[0]] = strategic({}, item)
    return list(found.values())


def _hashable(value: Any) -> Any:
    return msgspec.json.encode(value) if isinstance(value, dict | list) else value


#: Of an operation that cannot be done; which one it is the server does not say.
_REJECTED = "the server rejected our request due to an error in our request"


def json_patch(target: Any, operations: Any) -> Any:
    """Return `target` after the operations of a JSON patch.

    Raises RefusalError where one cannot be done.
    """
    if not isinstance(operations, list):
        kind = json_words.type_of(operations)
        raise refusals.bad_request(
            f"error decoding patch: json: cannot unmarshal {kind} into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    if len(operations) > MOST_OPERATIONS:
        why = (
            f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got"
        )
        about = f"{why} {len(operations)}"
        raise refusals.RefusalError(413, "RequestEntityTooLarge", about, {})
    holder = {"": copy.deepcopy(target)}
    room = settings.LIMITS["bytes_per_body"] or sys.maxsize
    for operation in operations:
        try:
            room -= _operate(holder, operation, room)
        except (KeyError, IndexError, ValueError, TypeError, RecursionError) as error:
            raise refusals.RefusalError(422, "Invalid", _REJECTED, {}) from error
    return holder[""]


def _operate(holder: dict[str, Any], operation: dict[str, Any], room: int) -> int:
    """Do one operation; return how many bytes it copied. Raises ValueError beyond `room`.

    An API server counts what all copies of a patch add together, too.
    """
    path = _pointer(operation["path"])
    match operation["op"]:
        case "add":
            _add(holder, path, copy.deepcopy(operation["value"]))
        case "remove":
            _remove(holder, path)
        case "replace":
            parent, name = _parent(holder, path)
            if isinstance(parent, list):
                _get(parent, [path[-1]])
            parent[name] = copy.deepcopy(operation["value"])
        case "move":
            source = _pointer(operation["from"])
            if path[: len(source)] == source and path != source:
                raise ValueError("a value cannot be moved into itself")
            _add(holder, path, _remove(holder, source))
        case "copy":
            source = _get(holder, _pointer(operation["from"]))
            if (size := _bytes(source)) > room:
                raise ValueError("the copies are larger together than a body may be")
            _add(holder, path, copy.deepcopy(source))
            return size
        case "test":
            if _get(holder, path) != operation["value"]:
                raise ValueError(f"{operation['path']} has another value")
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return 0


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and text[0] != "/"):
        raise ValueError(f"expected a JSON pointer, got {text!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")]


def _get(holder: Any, path: list[str]) -> Any:
    for name in path:
        holder = holder[_index(holder, name)]
    return holder


def _parent(holder: Any, path: list[str]) -> tuple[Any, Any]:
    parent = _get(holder, path[:-1])
    return parent, _index(parent, path[-1])


def _index(holder: Any, name: str) -> Any:
    if isinstance(holder, list):
        index = whole(name)
        if index is None:
            raise ValueError(f"expected an index, got {name[:40]!r}")
        return index
    if not isinstance(holder, dict):
        raise TypeError(f"nothing can be at {name!r}")
    return name


def _add(holder: Any, path: list[str], value: Any) -> None:
    parent = _get(holder, path[:-1])
    if not isinstance(parent, list):
        parent[_index(parent, path[-1])] = value
        return
    place = len(parent) if path[-1] == "-" else int(_index(parent, path[-1]))
    if place > len(parent):
        raise IndexError(f"{place} is beyond the end")
    parent.insert(place, value)


def _remove(holder: Any, path: list[str]) -> Any:
    if len(path) == 1:
        raise ValueError("a document cannot be taken out of itself")
    parent, name = _parent(holder, path)
    return parent.pop(name)
