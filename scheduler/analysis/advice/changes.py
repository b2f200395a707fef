"""What the goal says may change, as dimensions over the objects that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from scheduler.analysis.advice import quotas
from scheduler.analysis.advice.space import Dimension, Point, Pool, Space
from scheduler.analysis.experiments.bases import changed, key_of
from scheduler.analysis.experiments.document import (
    AnyField,
    Change,
    ExperimentError,
    FairSharingChange,
    MayChange,
    NodesChange,
    ObjectChange,
    PreemptionChange,
    PriorityChange,
    QueueValues,
)
from scheduler.model.kueue.configuration import DEFAULT_STRATEGIES
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.problems import Form, RequestProblem, Wanted, expected
from scheduler.model.texts.plain_text import write, write_all

Objects = Mapping[Key, Object]
Made = tuple[list[Dimension], list[Pool]]

_FIELD = "spec.search.change"
_WEIGHTS = (0.5, 1, 2, 4)
_STRATEGIES = ("BestEffortFIFO", "StrictFIFO")
_PREEMPTION = {
    "withinClusterQueue": ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
    "reclaimWithinCohort": ("Never", "LowerPriority", "Any"),
    "borrowWithinCohort": ("Never", "LowerPriority"),
}


def space_of(
    changes: Sequence[MayChange], objects: Objects, policy: Mapping[str, Any]
) -> Space:
    """Return the settings. Raises ExperimentError naming what does not exist."""
    dimensions: list[Dimension] = []
    pools: list[Pool] = []
    for n, change in enumerate(changes):
        made, shared = _made(change, objects, policy, f"{_FIELD}[{n}]")
        first = len(dimensions)
        dimensions += made
        for pool in shared:
            members = tuple(first + member for member in pool.members)
            pools.append(replace(pool, members=members))
    _check(dimensions)
    return Space(dimensions=tuple(dimensions), pools=tuple(pools))


def _check(dimensions: Sequence[Dimension]) -> None:
    names = [dimension.name for dimension in dimensions]
    for name in names:
        if names.count(name) > 1:
            raise ExperimentError(Form.NAMED_TWICE.said(name=name), _FIELD)
    if not any(len(dimension.values) > 1 for dimension in dimensions):
        raise ExperimentError(RequestProblem.NOTHING_TO_CHANGE.said(), _FIELD)


def _made(
    change: MayChange, objects: Objects, policy: Mapping[str, Any], field: str
) -> Made:
    given = [name for name in change.__struct_fields__ if getattr(change, name)]
    if len(given) != 1:
        known = ", ".join(change.__struct_encode_fields__)
        found = " and ".join(given) or "none"
        raise ExperimentError(
            expected(Wanted.ONE_OF.said(known=known), given=found), field
        )
    value = getattr(change, given[0])
    try:
        if given[0] == "quota":
            return quotas.quota(value, objects)
        if given[0] in ("borrowing_limit", "lending_limit"):
            return quotas.limits(value, objects, given[0]), []
        if given[0] == "fair_sharing":
            return [_fair_sharing(value, policy)], []
        if given[0] == "field":
            return [_any_field(value, objects, policy)], []
        return list(_OTHERS[given[0]](value, objects)), []
    except ExperimentError as error:
        raise ExperimentError(error.problem, f"{field}.{given[0]}") from error


def dimension(
    key: Key,
    field: str,
    values: Sequence[Any],
    now: Any,
    make: Callable[[Any], Change],
    *,
    ordered: bool = False,
) -> Dimension:
    """Return the dimension with what is there among its values."""
    found = list(values) if now in values else [now, *values]
    if ordered:
        found = _in_order(found, values, now)
    at = found.index(now)
    changes = [Change() if n == at else make(value) for n, value in enumerate(found)]
    return Dimension(
        object=text_of(key),
        field=field,
        values=tuple(found),
        now=at,
        changes=tuple(changes),
        ordered=ordered,
    )


def _in_order(found: list[Any], given: Sequence[Any], now: Any) -> list[Any]:
    """Return numbers by size, and what is no number as it was given.

    Raises ExperimentError where what is there now has no place in that.
    """
    try:
        return sorted(found, key=float)
    except (TypeError, ValueError):
        if now in given:
            return list(given)
        problem = RequestProblem.USAGE_LOST.said(literal=repr(now))
        raise ExperimentError(problem) from None


def text_of(key: Key) -> str:
    """Return the name of an object as documents have it."""
    return "/".join(part for part in key if part)


def _patch(key: Key, *path: str) -> Callable[[Any], Change]:
    def make(value: Any) -> Change:
        patch: Any = value
        for step in reversed(path):
            patch = {step: patch}
        return Change(objects=[ObjectChange(object=text_of(key), patch=patch)])

    return make


def _queues(names: Sequence[str], objects: Objects) -> list[Object]:
    return quotas.queues_of(names, objects)


def _weight(change: QueueValues, objects: Objects) -> Iterator[Dimension]:
    values = [float(value) for value in change.values or _WEIGHTS]
    for queue in _queues(change.queues, objects):
        fair = queue.spec.get("fairSharing") or {}
        now = float(fair.get("weight") or 1.0)
        make = _weighted(queue.key)
        yield dimension(
            queue.key, "fairSharing.weight", values, now, make, ordered=True
        )


def _weighted(key: Key) -> Callable[[Any], Change]:
    patch = _patch(key, "spec", "fairSharing", "weight")
    return lambda value: patch(f"{value:g}")


def _queueing(change: QueueValues, objects: Objects) -> Iterator[Dimension]:
    for queue in _queues(change.queues, objects):
        now = queue.spec.get("queueingStrategy") or _STRATEGIES[0]
        make = _patch(queue.key, "spec", "queueingStrategy")
        yield dimension(
            queue.key, "queueingStrategy", change.values or _STRATEGIES, now, make
        )


def _preemption(change: PreemptionChange, objects: Objects) -> Iterator[Dimension]:
    wanted: dict[str, Sequence[str]] = {
        "withinClusterQueue": change.within_cluster_queue,
        "reclaimWithinCohort": change.reclaim_within_cohort,
        "borrowWithinCohort": change.borrow_within_cohort,
    }
    if not any(wanted.values()):
        wanted = {**_PREEMPTION, "borrowWithinCohort": ()}
    for queue in _queues(change.queues, objects):
        given = queue.spec.get("preemption") or {}
        for field, values in wanted.items():
            path = ["spec", "preemption", field]
            now = given.get(field) or "Never"
            if field == "borrowWithinCohort":
                path.append("policy")
                now = (given.get(field) or {}).get("policy") or "Never"
            _known(values, _PREEMPTION[field])
            if values:
                yield dimension(
                    queue.key,
                    f"preemption.{field}",
                    values,
                    now,
                    _patch(queue.key, *path),
                )


def _known(values: Sequence[str], known: Sequence[str]) -> None:
    for value in values:
        if value not in known:
            raise ExperimentError(
                expected(Wanted.ONE_OF.said(known=", ".join(known)), value)
            )


def _fair_sharing(change: FairSharingChange, policy: Mapping[str, Any]) -> Dimension:
    kueue = policy.get("kueue") or {}
    section = kueue.get("fairSharing")
    on = section is not None and section.get("enable", True)
    now = list((section or {}).get("preemptionStrategies") or DEFAULT_STRATEGIES)
    first, second = DEFAULT_STRATEGIES
    usual = [[], [first], [second], [first, second]]
    return dimension(
        Key("policy", "", ""),
        "kueue.fairSharing",
        change.strategies or usual,
        now if on else [],
        _strategies,
    )


def _strategies(value: list[str]) -> Change:
    if not value:
        return Change(policy={"kueue": {"fairSharing": None}})
    section = {"enable": True, "preemptionStrategies": value}
    return Change(policy={"kueue": {"fairSharing": section}})


def _priority(change: PriorityChange, objects: Objects) -> Iterator[Dimension]:
    for name in change.classes:
        key = Key("WorkloadPriorityClass", "", name)
        now = _there(key, objects).manifest.get("value", 0)
        yield dimension(
            key, "value", change.values, now, _patch(key, "value"), ordered=True
        )


def _nodes(change: NodesChange, objects: Objects) -> Iterator[Dimension]:
    group = sorted(
        (
            o
            for o in objects.values()
            if o.key.kind == "Node" and change.labels.items() <= o.labels.items()
        ),
        key=lambda node: node.key.name,
    )
    if not group:
        raise ExperimentError(RequestProblem.NO_NODES.said(labels=change.labels))
    if change.low < 0 or change.high < change.low or change.step < 1:
        problem = expected(Wanted.LOW_HIGH, given=f"{change.low} to {change.high}")
        raise ExperimentError(problem)
    label = ",".join(f"{k}={v}" for k, v in sorted(change.labels.items()))
    values = range(change.low, change.high + 1, change.step)
    yield dimension(
        Key("Node", "", label),
        "count",
        list(values),
        len(group),
        lambda count: _sized(group, count),
        ordered=True,
    )


def _sized(group: Sequence[Object], count: int) -> Change:
    gone = [
        ObjectChange(object=text_of(node.key), delete=True) for node in group[count:]
    ]
    more = [_copy(group[0], n) for n in range(1, count - len(group) + 1)]
    return Change(objects=[*gone, *more])


def _copy(node: Object, n: int) -> ObjectChange:
    kept = ("labels", "annotations")
    metadata = {k: v for k, v in node.metadata.items() if k in kept}
    labels = dict(metadata.get("labels") or {})
    name = f"{node.key.name}-more-{n}"
    if "kubernetes.io/hostname" in labels:
        labels["kubernetes.io/hostname"] = name
    status = {
        k: node.status[k] for k in ("allocatable", "capacity") if k in node.status
    }
    return ObjectChange(
        create={
            **node.manifest,
            "metadata": {**metadata, "labels": labels, "name": name},
            "status": status,
        }
    )


def _any_field(
    change: AnyField, objects: Objects, policy: Mapping[str, Any]
) -> Dimension:
    if bool(change.policy) == bool(change.object and change.field):
        raise ExperimentError(expected(Wanted.POLICY_OR_OBJECT))
    if change.policy:
        path = change.policy.split(".")
        return dimension(
            Key("policy", "", ""),
            change.policy,
            change.values,
            _read(policy, path),
            lambda value: Change(policy=_nested(path, value)),
            ordered=change.ordered,
        )
    key = key_of(change.object)
    now = quotas.read_path(_there(key, objects).manifest, change.field)
    return dimension(
        key,
        change.field,
        change.values,
        now,
        lambda value: Change(
            objects=[ObjectChange(object=text_of(key), set={change.field: value})]
        ),
        ordered=change.ordered,
    )


def _read(policy: Any, path: Sequence[str]) -> Any:
    for step in path:
        policy = policy.get(step) if isinstance(policy, Mapping) else None
    return policy


def _nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    for step in reversed(path):
        value = {step: value}
    return dict(value)


def _there(key: Key, objects: Objects) -> Object:
    if key not in objects:
        raise ExperimentError(Form.NOT_IN_BASE.said(key=text_of(key)))
    return objects[key]


_OTHERS: dict[str, Callable[[Any, Objects], Iterator[Dimension]]] = {
    "weight": _weight,
    "queueing_strategy": _queueing,
    "preemption": _preemption,
    "priority": _priority,
    "nodes": _nodes,
}


# ------------------------------------------------------------------------
# An answer as manifests that `kubectl apply -f` takes, and as they were.

#: Metadata that says what an object is; the rest is the cluster's.
_METADATA = ("name", "namespace", "labels", "annotations")
_CONFIG = "controller_manager_config.yaml"


def patches_of(
    space: Space, point: Point, objects: Mapping[Key, Object], policy: Mapping[str, Any]
) -> tuple[str, str]:
    """Return (the manifests of what changes, the same as they are now).

    Whole objects, as lists of a spec are replaced as one. Kueue's own
    configuration comes as the ConfigMap that it reads. Deleted and created nodes
    are comments: they are not the API's to make.
    """
    variant = space.variant(point)
    after: list[Any] = []
    before: list[Any] = []
    words: list[str] = []
    for change in variant.objects:
        if change.create or change.delete:
            name = change.object or f"Node/{change.create['metadata']['name']}"
            words.append(f"{'remove' if change.delete else 'add'} {name}")
            continue
        obj = objects[key_of(change.object)]
        before.append(_served(obj.manifest))
        after.append(_served(changed(obj, change)))
    if "kueue" in variant.policy:
        words.append(
            "then: kubectl -n kueue-system rollout restart deployment/kueue-controller-manager"
        )
    if variant.policy:
        after.append(_configuration(merge(policy, variant.policy), variant.policy))
        before.append(_configuration(policy, variant.policy))
    return _text(space.texts(point) + words, after), _text(["as it is"], before)


def _served(manifest: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(manifest)
    metadata = {
        k: v for k, v in data.get("metadata", {}).items() if k in _METADATA and v
    }
    kept = {k: v for k, v in data.items() if k not in ("status", "metadata")}
    head = {"apiVersion": kept.pop("apiVersion"), "kind": kept.pop("kind")}
    return {**head, "metadata": metadata, **kept}


def _configuration(
    policy: Mapping[str, Any], patch: Mapping[str, Any]
) -> dict[str, Any]:
    """Return Kueue's ConfigMap; what is not Kueue's as a Policy of the sandbox."""
    if set(patch) != {"kueue"}:
        spec = {name: policy[name] for name in patch if name in policy}
        return {"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": spec}
    usual = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    document = {**usual, **dict(policy.get("kueue") or {})}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {_CONFIG: write(document)},
    }


def _text(words: list[str], documents: list[Any]) -> str:
    head = "".join(f"# {word}\n" for word in words)
    body = write_all(documents) if documents else ""
    return head + body
