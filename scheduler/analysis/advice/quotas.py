"""Quotas and limits of ClusterQueues as dimensions; totals as pools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduler.analysis.advice.space import Dimension, Pool
from scheduler.analysis.experiments.document import (
    Change,
    ExperimentError,
    LimitChange,
    ObjectChange,
    QuotaChange,
)
from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Form, RequestProblem, Wanted, expected

Objects = Mapping[Key, Object]
#: Kinds by which nodes come that do not exist yet.
_GROWS = {"NodeGroup", "NodePool"}
#: More values than these of one queue are refused: the step is too small.
MOST_VALUES = 200
_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")
_LIMITS = {"borrowing_limit": "borrowingLimit", "lending_limit": "lendingLimit"}


def queues_of(names: Sequence[str], objects: Objects) -> list[Object]:
    """Return the ClusterQueues of these names, or all, by name."""
    there = {
        key.name: obj for key, obj in objects.items() if key.kind == "ClusterQueue"
    }
    for name in names:
        if name not in there:
            known = ", ".join(sorted(there)) or "none"
            raise ExperimentError(
                Form.NOT_AMONG.said(kind="ClusterQueue", name=repr(name), known=known)
            )
    return [there[name] for name in names or sorted(there)]


def read_path(data: Any, path: str) -> Any:
    """Return what a path such as "spec.levels[0]" leads to; None for nothing."""
    for match in _STEP.finditer(path):
        try:
            data = data[int(match[2]) if match[2] else match[1]]
        except (LookupError, TypeError):
            return None
    return data


def _places(
    names: Sequence[str], flavor: str, resource: str, objects: Objects
) -> Iterator[tuple[Object, str, dict[str, Any]]]:
    """Yield (queue, path, quota) of each queue that has flavor and resource."""
    for queue in queues_of(names, objects):
        found = [
            (f"spec.resourceGroups[{g}].flavors[{f}].resources[{r}]", quota)
            for g, group in enumerate(queue.spec.get("resourceGroups") or ())
            for f, has in enumerate(group.get("flavors") or ())
            for r, quota in enumerate(has.get("resources") or ())
            if has.get("name") == flavor and quota.get("name") == resource
        ]
        if names and not found:
            problem = RequestProblem.NO_QUOTA.said(
                name=queue.key.name, resource=resource, flavor=flavor
            )
            raise ExperimentError(problem)
        for path, quota in found:
            yield queue, path, quota


def nodes_lack(flavor: str, resource: str, objects: Objects) -> bool:
    """Return whether a flavor has nodes and none of them has any of a resource.

    False where no node has the flavor's labels, and where nodes may still come:
    then nothing is known.
    """
    found = objects.get(Key("ResourceFlavor", "", flavor))
    if found is None or any(key.kind in _GROWS for key in objects):
        return False
    wanted = (found.spec.get("nodeLabels") or {}).items()
    nodes = [
        obj
        for key, obj in objects.items()
        if key.kind == "Node" and wanted <= obj.labels.items()
    ]
    return bool(nodes) and not any(_has(node, resource) for node in nodes)


def _has(node: Object, resource: str) -> bool:
    text = (node.status.get("allocatable") or {}).get(resource)
    try:
        return text is not None and amounts.canonical(resource, text) > 0
    except QuantityError:
        return False


def quota(change: QuotaChange, objects: Objects) -> tuple[list[Dimension], list[Pool]]:
    """Return a dimension per queue, and the pool that keeps their total."""
    places = list(_places(change.queues, change.flavor, change.resource, objects))
    if not places:
        problem = RequestProblem.NO_QUEUE_QUOTA.said(
            resource=change.resource, flavor=change.flavor
        )
        raise ExperimentError(problem)
    if nodes_lack(change.flavor, change.resource, objects):
        raise ExperimentError(
            RequestProblem.NO_NODE_OF_FLAVOR.said(
                flavor=change.flavor, resource=change.resource
            )
        )
    step = _amount(change.resource, change.step)
    if step <= 0:
        raise ExperimentError(
            expected(Wanted.ABOVE.said(kind="step", least="0"), change.step)
        )
    have = [
        _amount(change.resource, has.get("nominalQuota") or 0) for *_, has in places
    ]
    found = [
        _nominal(change, queue, path, now, step, sum(have))
        for (queue, path, _), now in zip(places, have, strict=True)
    ]
    if change.total == "free":
        return found, []
    pool = Pool(
        members=tuple(range(len(found))),
        queues=tuple(queue.key.name for queue, *_ in places),
        resource=change.resource,
        lowest=tuple(now / step - d.now for now, d in zip(have, found, strict=True)),
    )
    if change.total == "keep":
        return found, [pool]
    room = (_amount(change.resource, change.total) - sum(have)) // step
    if room < 0:
        problem = RequestProblem.TOTAL.said(total=change.total)
        raise ExperimentError(problem)
    return found, [replace(pool, room=room, exact=False)]


def _nominal(
    change: QuotaChange, queue: Object, path: str, now: int, step: int, total: int
) -> Dimension:
    usual = total if change.total == "keep" else 2 * now
    low = 0 if change.low is None else _amount(change.resource, change.low)
    high = usual if change.high is None else _amount(change.resource, change.high)
    first = -(max(0, now - low) // step)
    last = max(0, high - now) // step
    if last - first > MOST_VALUES:
        problem = RequestProblem.STEPS.said(count=last - first, most=MOST_VALUES)
        raise ExperimentError(problem)
    levels = [now + n * step for n in range(first, last + 1)]
    texts = [amounts.text_of(change.resource, level) for level in levels]
    return _dimension(queue, path, "nominalQuota", change, texts, -first, ordered=True)


def limits(change: LimitChange, objects: Objects, kind: str) -> list[Dimension]:
    """Return a dimension per queue: its limit, null = none."""
    field = _LIMITS[kind]
    found = []
    for queue, path, has in _places(
        change.queues, change.flavor, change.resource, objects
    ):
        given = [has.get(field), *change.values]
        wanted = {_text(change.resource, value): None for value in given}
        values = sorted(wanted, key=lambda text: _order(change.resource, text))
        now = values.index(_text(change.resource, has.get(field)))
        found.append(_dimension(queue, path, field, change, values, now, ordered=True))
    return found


def _dimension(
    queue: Object,
    path: str,
    field: str,
    change: QuotaChange | LimitChange,
    values: Sequence[str | None],
    now: int,
    *,
    ordered: bool,
) -> Dimension:
    name = f"ClusterQueue/{queue.key.name}"
    where = f"{path}.{field}"
    changes = [
        Change()
        if n == now
        else Change(objects=[ObjectChange(object=name, set={where: value})])
        for n, value in enumerate(values)
    ]
    return Dimension(
        object=name,
        field=f"{field} of {change.resource} in {change.flavor}",
        values=tuple(values),
        now=now,
        changes=tuple(changes),
        ordered=ordered,
    )


def _text(resource: str, value: str | float | None) -> str | None:
    return (
        None if value is None else amounts.text_of(resource, _amount(resource, value))
    )


def _order(resource: str, text: str | None) -> float:
    return float("inf") if text is None else _amount(resource, text)


def _amount(resource: str, value: str | float) -> int:
    try:
        return amounts.canonical(resource, value)
    except QuantityError as error:
        raise ExperimentError(error.said) from error
