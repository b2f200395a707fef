"""Walk an object along its schema: which fields it lacks, which decide nothing."""

from __future__ import annotations

import difflib
import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler.model import schemas
from scheduler.model.annotations import KNOWN, PREFIX
from scheduler.model.sentence import Sentence
from scheduler.words.effects import Effect
from scheduler.words.findings import Unknown

#: How the sentence about an unknown field begins.
UNKNOWN_FIELD = "unknown field"
_META, _POD_SPEC = "meta.v1.ObjectMeta", "core.v1.PodSpec"
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_ANY_TEMPLATE = "core.v1.Pod"  # a template, and a Pod that another kind wraps
_EFFECTS = {one.value: one for one in Effect}
#: How a field of a type is written for people, where its name alone does not say it.
_PREFIXES: Mapping[str, str] = {"core.v1.Container": "containers[]."}


@dataclass(slots=True)
class Walk:
    """What was found, as (path, problem), and the fields that decide nothing."""

    unknown_fields: list[tuple[str, Sentence]] = field(default_factory=list)
    unknown_keys: list[tuple[str, Sentence]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    effects: dict[str, Effect] = field(default_factory=dict)  # of those
    first: dict[str, str] = field(default_factory=dict)  # field -> its first path


def walk(manifest: Mapping[str, Any]) -> Walk:
    """Return the unknown fields of an object, and the known fields without effect.

    Of Kueue's own kinds the unknown ones are errors, which are raised elsewhere.
    What a controller made of a template has nothing of its own to say. Objects of
    kinds whose fields are not listed are searched for pod templates.
    Cost: O(fields); lists of names and texts are not looked into.
    """
    found = Walk()
    if _is_made(manifest):
        return found
    if sort := _kind_of(manifest):
        _fields(found, manifest, sort, "", ())
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


def _kind_of(value: Mapping[str, Any]) -> str:
    """Return the type of an object whose fields are all known; "" of another."""
    place, kind = value.get("apiVersion"), value.get("kind")
    return (
        _listed(place, kind) if isinstance(place, str) and isinstance(kind, str) else ""
    )


@functools.lru_cache(maxsize=1024)
def _listed(place: str, kind: str) -> str:
    group, _, version = place.rpartition("/")
    found = schemas.named(group, version, kind) or schemas.listed(group, kind)
    return found if group != schemas.KUEUE or _has_unread(found) else ""


def _has_unread(sort: str) -> bool:
    """Return whether a kind of Kueue has a field that is kept and not followed."""
    known = _known(sort)
    own = (of for _, of in known.deeper if not of.startswith(("core.", "meta.")))
    return bool(known.unread) or any(map(_has_unread, own))


def _sort_of(value: Mapping[str, Any]) -> str:
    """Return the type of a wrapped object or of a template; "" for another thing."""
    if kind := _kind_of(value):
        return kind
    spec = value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
        return _ANY_TEMPLATE
    return _POD_SPEC if isinstance(value.get("containers"), list) else ""


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
    found: Walk, holder: Mapping[str, Any], sort: str, path: str, above: tuple[str, ...]
) -> None:
    known, prefix = _known(sort), f"{path}." if path else ""
    if not holder.keys() <= known.names:
        for name in holder:
            if name not in known.names:
                problem = _sentence(str(name), sort, above)
                found.unknown_fields.append((f"{prefix}{name}", problem))
    for name, inner in known.deeper:
        if value := holder.get(name):
            _value(found, value, inner, prefix + name, (*above, sort))
    if not known.unread.isdisjoint(holder):
        for name in known.unread & holder.keys():
            if holder[name] not in _EMPTY:
                _count(found, sort, name, prefix + name)
    if sort == _META:
        _keys(found, holder, path)


def _count(found: Walk, sort: str, name: str, path: str) -> None:
    label = _PREFIXES.get(sort, "") + name
    found.unread[label] += 1
    if label not in found.first:
        found.first[label] = path
        found.effects[label] = _EFFECTS[schemas.fields_of(sort)[name].unread]


class _Known(NamedTuple):
    """The fields of a type: all, those with fields of their own, those without effect."""

    names: frozenset[str]
    deeper: tuple[tuple[str, str], ...]  # name -> type, `*` where there is one per key
    unread: frozenset[str]


@functools.cache
def _known(sort: str) -> _Known:
    fields = schemas.fields_of(sort)
    is_object = {"kind", "metadata"} <= fields.keys()  # its status is not looked into
    return _Known(
        frozenset((*fields, *schemas.also_in(sort))) - {""},
        tuple(
            (name, "*" * one.type.startswith("map ") + of)
            for name, one in fields.items()
            if schemas.fields_of(of := schemas.bare(one.type))
            if name != "status" or not is_object
        ),
        frozenset(name for name, one in fields.items() if one.unread),
    )


def _sentence(name: str, sort: str, above: tuple[str, ...]) -> Sentence:
    """Return the faults of a field, and what was probably meant."""
    kind = _short(sort)
    holder = next((one for one in reversed(above) if name in _known(one).names), "")
    if holder:
        return Unknown.FIELD_ABOVE.said(name=name, kind=kind, holder=_short(holder))
    near = difflib.get_close_matches(name, sorted(_known(sort).names), n=1)
    if near:
        return Unknown.FIELD_NEAR.said(name=name, kind=kind, near=near[0])
    return Unknown.FIELD.said(name=name, kind=kind)


def _short(sort: str) -> str:
    return sort.rpartition(".")[2]


def _keys(found: Walk, metadata: Mapping[str, Any], path: str) -> None:
    for part, key, near in unknown_keys(metadata):
        problem = Unknown.KEY.said(name=key, part=part)
        if near:
            problem = Unknown.KEY_NEAR.said(name=key, part=part, near=near)
        found.unknown_keys.append((f"{path}.{part}.{key}", problem))


# ------------------------------------------------------------------------
# Keys of labels and annotations that a system obeys, and those close to one.


_KUEUE = """admission-gated-by allowed-resource-flavor cluster-queue-name
    component-workload-index concurrent-admission-parent default-queue elastic-job
    ignore is-group-workload job-completions-equal-parallelism job-min-parallelism
    job-owner-gvk job-owner-name job-uid local-queue-name managed
    max-exec-time-seconds multikueue-origin performance-scheduler-class
    pod-group-fast-admission pod-group-name pod-group-pod-index
    pod-group-pod-index-label pod-group-serving pod-group-total-count
    pod-index-label pod-index-offset pod-suspending-parent podset
    podset-group-name podset-preferred-topology podset-required-topology
    podset-slice-required-topology podset-slice-required-topology-constraints
    podset-slice-size podset-topology-spreading podset-unconstrained-topology
    prebuilt-workload-name priority-boost priority-class queue-name
    retriable-in-group role-hash safe-to-forcefully-terminate stopping tas topology
    workload workload-slice-name workload-slice-replacement-for"""
_YUNIKORN = """allow-preemption app-id namespace.guaranteed namespace.max
    namespace.max.cpu namespace.max.memory namespace.maxApps namespace.quota original-pod-info parentqueue placeholder queue
    scheduled-generation schedulingPolicyParameters scheduling-policy-parameters
    task-group-name task-groups user.info username ignore-application update-node-labels"""
#: Groups that are known whole: another key of them is obeyed by nobody.
_GROUPS: Mapping[str, str] = {
    "kueue.x-k8s.io/": _KUEUE,
    "yunikorn.apache.org/": _YUNIKORN,
    "scheduling.x-k8s.io/": "pod-group",
}
#: Our own: another key of ours is refused where timing is read.
_OURS = (*KNOWN, PREFIX + "node-group")
#: How alike a key of another prefix must be to one that is obeyed.
_ALIKE = 0.9


@functools.cache
def _known_keys() -> frozenset[str]:
    theirs = (prefix + name for prefix in _GROUPS for name in _GROUPS[prefix].split())
    return frozenset((*theirs, *_OURS))


def unknown_keys(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (labels or annotations, key, nearest key or "") of keys nobody obeys."""
    for part in ("labels", "annotations"):
        given = metadata.get(part)
        for key in given if isinstance(given, dict) else ():
            if "/" in key and (near := nearest_key(key)) is not None:
                yield part, key, near


@functools.lru_cache(maxsize=4096)
def nearest_key(key: str) -> str | None:
    """Return the key that was meant, "" if none is near; None where nothing is wrong."""
    if key in _known_keys():
        return None
    whole = key.startswith(tuple(_GROUPS))
    alike = 0.6 if whole else _ALIKE
    near = difflib.get_close_matches(key, sorted(_known_keys()), n=1, cutoff=alike)
    if near:
        return near[0]
    return "" if whole else None
