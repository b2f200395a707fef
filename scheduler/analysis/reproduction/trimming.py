"""Trimming: leave out parts of the objects and of the policy that decide nothing.

Only what the real systems hold optional goes, so that what is left can be
given to them: labels, annotations, statuses, optional fields of the kinds
below, and items of lists that have others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model import durations
from scheduler.model.objects import Key, Object
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


# ------------------------------------------------------------------------
# Part of what was loaded, as objects to run and as documents to write.


_API = "quotalab.dev/v1"


def only(loaded: Loaded, kept: frozenset[Key]) -> Loaded:
    """Return the loaded input reduced to these objects."""
    return Loaded(
        objects=[obj for obj in loaded.objects if obj.key in kept],
        policy=loaded.policy,
        scenarios=loaded.scenarios,
        findings=loaded.findings,
        places={key: place for key, place in loaded.places.items() if key in kept},
        files=loaded.files,
    )


def shrink_keys(
    keys: Iterable[Key],
    is_work: Callable[[str], bool],
    shows: Callable[[Sequence[Key]], bool],
    go_on: GoOn,
) -> tuple[list[Key], bool]:
    """Return the keys that are needed, and whether none of them can be left out.

    Work is left out first, then whole kinds, then any object. Cost: as `shrink`.
    """
    work: list[Key] = []
    rest: list[Key] = []
    for key in keys:
        (work if is_work(key.kind) else rest).append(key)
    work, _ = shrink(work, lambda some: shows([*rest, *some]), go_on)
    kept = shrink_groups([*rest, *work], lambda key: key.kind, shows, go_on)
    return shrink(kept, shows, go_on)


def document_of(obj: Object) -> dict[str, Any]:
    """Return an object as a manifest, with its status where it has one."""
    manifest: dict[str, Any] = msgspec.to_builtins(obj.manifest)
    status = {"status": msgspec.to_builtins(obj.status)} if obj.status else {}
    return {**manifest, **status}


def scenario_of(
    name: str, title: str, *, seed: int, policy: dict[str, Any], horizon_ms: int
) -> dict[str, Any]:
    """Return a Scenario that runs the objects beside it with this seed and policy."""
    said = {"en": title, "zh-Hans": title, "zh-Hant": title}
    return {
        "apiVersion": _API,
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {
            "title": said,
            "summary": said,
            "seed": seed,
            "policy": policy,
            "horizon": durations.duration_text(horizon_ms),
        },
    }


# ------------------------------------------------------------------------
# Shrinking a list: leave out what is not needed, large parts first.


T = TypeVar("T")
Shows = Callable[[list[T]], bool]
GoOn = Callable[[], bool]


def shrink(items: Sequence[T], shows: Shows[T], go_on: GoOn) -> tuple[list[T], bool]:
    """Return a part of `items` that still shows it, and whether it is minimal.

    Minimal: no single item can be left out. `items` must show it. Stops where it
    is when `go_on` says no. Cost: O(n log n) runs when little is needed, O(n²)
    at worst.
    """
    kept = list(items)
    size = max(1, len(kept) // 2)
    while True:
        kept, removed, whole = _sweep(kept, size, shows, go_on)
        if not whole:
            return kept, False
        if size > 1:
            size = (min(size, len(kept)) + 1) // 2 if len(kept) > 1 else 1
        elif not removed:
            return kept, True


def _sweep(
    kept: list[T], size: int, shows: Shows[T], go_on: GoOn
) -> tuple[list[T], bool, bool]:
    """Try each stretch of `size`; return what is left, if it shrank, if all was tried."""
    at, removed = 0, False
    while at < len(kept):
        if not go_on():
            return kept, removed, False
        left = kept[:at] + kept[at + size :]
        if shows(left):
            kept, removed = left, True
        else:
            at += size
    return kept, removed, True


def shrink_groups(
    items: Sequence[T], group: Callable[[T], Hashable], shows: Shows[T], go_on: GoOn
) -> list[T]:
    """Return `items` without the groups that are not needed; one run per group."""
    kept = list(items)
    for name in dict.fromkeys(group(item) for item in items):
        left = [item for item in kept if group(item) != name]
        if not go_on():
            return kept
        if len(left) < len(kept) and shows(left):
            kept = left
    return kept
