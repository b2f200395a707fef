"""Trimming: leave out parts of the objects and of the policy that decide nothing.

Only what the real systems hold optional goes, so that what is left can be
given to them: labels, annotations, statuses, optional fields of the kinds
below, and items of lists that have others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from scheduler.analysis.reproduction.shrinking import GoOn
from scheduler.input.manifests.load import load
from scheduler.model.objects import Object
from scheduler.model.policy import Policy

Path = tuple[str | int, ...]
Test = Callable[[Sequence[Object]], bool]

_METADATA = (
    "labels",
    "annotations",
    "generation",
    "ownerReferences",
    "finalizers",
    "uid",
    "creationTimestamp",
)
_OPTIONAL = {
    "ClusterQueue": (
        "preemption",
        "flavorFungibility",
        "fairSharing",
        "admissionChecks",
        "stopPolicy",
        "cohortName",
        "queueingStrategy",
    ),
    "Cohort": ("fairSharing", "parentName", "resourceGroups"),
    "LocalQueue": ("stopPolicy", "fairSharing"),
    "ResourceFlavor": ("nodeLabels", "nodeTaints", "tolerations"),
    "Node": ("taints",),
    "Workload": ("priorityClassRef", "priorityClassName", "priorityClassSource"),
}


def trim(objects: Sequence[Object], shows: Test, go_on: GoOn) -> list[Object]:
    """Return the objects without the parts that are not needed."""
    kept = list(objects)
    for place, obj in enumerate(kept):
        for path in list(_parts(obj)):
            if not go_on():
                return kept
            shorter = _without(kept[place], path)
            if shorter is None or not _loads(shorter):
                continue
            trial = [*kept[:place], shorter, *kept[place + 1 :]]
            if shows(trial):
                kept = trial
    return kept


def _parts(obj: Object) -> Iterator[Path]:
    """Yield what may go, the largest first; items of a list from its end."""
    if obj.status:
        yield ("status",)
        yield from (("status", name) for name in obj.status)
    metadata = obj.manifest["metadata"]
    for name in _METADATA:
        if name in metadata:
            yield ("metadata", name)
            if isinstance(metadata[name], dict):
                yield from (("metadata", name, inner) for inner in metadata[name])
    for name in _OPTIONAL.get(obj.key.kind, ()):
        if name in obj.spec:
            yield ("spec", name)
    yield from _items(("spec",), obj.spec)


def _items(at: Path, value: Any) -> Iterator[Path]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _items((*at, name), inner)
    elif isinstance(value, list):
        for place in reversed(range(len(value))):
            yield (*at, place)
        for place, inner in enumerate(value):
            yield from _items((*at, place), inner)


def _without(obj: Object, path: Path) -> Object | None:
    """Return the object without a part; None when it went before, or is the last."""
    document = {**msgspec.to_builtins(obj.manifest)}
    document["status"] = msgspec.to_builtins(obj.status)
    parent: Any = document
    for name in path[:-1]:
        parent = _at(parent, name)
        if parent is None:
            return None
    last = path[-1]
    if _at(parent, last) is None or (isinstance(parent, list) and len(parent) < 2):
        return None
    del parent[last]
    status = document.pop("status", {})
    return Object(key=obj.key, manifest=document, status=status)


def _at(value: Any, name: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(str(name))
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        return value[name]
    return None


def _loads(obj: Object) -> bool:
    text = msgspec.json.encode(obj.manifest).decode()
    return not load([("trimmed.yaml", text)]).errors


def trim_policy(
    policy: dict[str, Any], shows: Callable[[dict[str, Any]], bool], go_on: GoOn
) -> dict[str, Any]:
    """Return the policy with every switch at its default that need not be set."""
    kept = policy
    for path, value in list(_switches(Policy().document()["spec"], policy["spec"])):
        if not go_on():
            break
        trial: dict[str, Any] = msgspec.to_builtins(kept)
        part = _parent(trial["spec"], path)
        if part is None:
            continue
        if value is None:
            part.pop(path[-1], None)
        else:
            part[path[-1]] = value
        if shows(trial):
            kept = trial
    return kept


def _parent(spec: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what holds the last name of a path; None when it went before."""
    part: Any = spec
    for name in path[:-1]:
        part = part.get(name) if isinstance(part, dict) else None
    return part if isinstance(part, dict) and path[-1] in part else None


#: Not a switch: it says which moment virtual 0 is, and timestamps hang on it.
_CLOCK = ("simulation", "startTime")


def _switches(
    plain: dict[str, Any], given: dict[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, default) of what differs; None where the default has nothing."""
    for name, value in given.items():
        path = (*at, name)
        default = plain.get(name)
        if value == default or path == _CLOCK or name in ("apiVersion", "kind"):
            continue
        nested = isinstance(value, dict) and isinstance(default, dict | None)
        if not (nested and default):
            yield path, default
        if nested:
            yield from _switches(default or {}, value, path)


def differences(policy: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a policy's spec that are not defaults, as a patch."""
    patch: dict[str, Any] = {}
    _collect(Policy().document()["spec"], policy["spec"], patch)
    return patch


def _collect(
    plain: dict[str, Any], given: dict[str, Any], patch: dict[str, Any]
) -> None:
    for name, value in given.items():
        default = plain.get(name)
        if value == default:
            continue
        if isinstance(value, dict) and isinstance(default, dict) and default:
            _collect(default, value, patch.setdefault(name, {}))
        else:
            patch[name] = value
