"""The limits of YuniKorn's queues that hold a pod back, raised by as much as it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, TypeVar

import msgspec

from scheduler.analysis.explain.changes import fork_yunikorn
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Ask
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import ROOT
from scheduler.engine.yunikorn.objects.user_group_limits import own_limit
from scheduler.model.hierarchy import Limit, PartitionSpec, QueueConfig
from scheduler.model.objects import Key
from scheduler.model.policy import Policy
from scheduler.model.sentence import Quantity, Sentence
from scheduler.model.yunikorn.reading import from_plain, to_plain
from scheduler.words.why import IfSubmitted

_Edit = Callable[[QueueConfig], QueueConfig]
_Bounded = TypeVar("_Bounded", QueueConfig, Limit)


class _Raise(NamedTuple):
    queue: str  # its path
    edit: _Edit
    said: Sentence


def raised(world: World, key: Key) -> tuple[Sentence, Policy] | None:
    """Return the policy in which each limit that is short leaves room for a pod, and what it raises.

    Those are the `max` and `maxapplications` of its queue and of those above, and the limits
    of its user and group. None for a pod that none of them holds back, and where one of
    them is of a queue that the configuration does not name. Costs a copy.
    """
    partition = fork_yunikorn(world, "asks").partition
    ask = partition.asks.get(key.path)
    if ask is None:
        return None
    found = list(_raises(partition, ask))
    spec = from_plain(world.policy.spec.yunikorn.queues)
    for one in found:
        root = _edited(spec.root, one.queue.split(".")[1:], one.edit)
        if root is None:
            return None
        spec = replace(spec, root=root)
    if not found:
        return None
    said = reduce(_and, (one.said for one in found))
    return said, _with_queues(world.policy, spec)


def _and(first: Sentence, second: Sentence) -> Sentence:
    return IfSubmitted.BOTH.said(first=first, second=second)


def _with_queues(policy: Policy, spec: PartitionSpec) -> Policy:
    yunikorn = msgspec.structs.replace(policy.spec.yunikorn, queues=to_plain(spec))
    changed = msgspec.structs.replace(policy.spec, yunikorn=yunikorn)
    return msgspec.structs.replace(policy, spec=changed)


def _edited(queue: QueueConfig, path: list[str], edit: _Edit) -> QueueConfig | None:
    """Return a tree in which the queue at a path is edited; None without such a queue."""
    if not path:
        return edit(queue)
    name, *rest = path
    children = list(queue.queues)
    for at, child in enumerate(children):
        if child.name.lower() == name:
            changed = _edited(child, rest, edit)
            if changed is None:
                return None
            children[at] = changed
            return replace(queue, queues=tuple(children))
    return None


def _raises(partition: Partition, ask: Ask) -> Iterator[_Raise]:
    app = ask.app
    for queue in app.queue.route:
        if queue.path == ROOT:
            continue  # its max is what the nodes have
        most = queue.max or {}
        for name, value in ask.needs:
            needed = queue.allocated.get(name, 0) + value
            if name in most and needed > most[name]:
                said = IfSubmitted.MAX.said(
                    queue=queue.path, **_amounts(name, needed, most[name])
                )
                yield _Raise(queue.path, _maximum(name, needed), said)
    full = app.queue.full_for(app)
    if full is not None:
        now = full.max_applications
        said = IfSubmitted.RUNNING.said(
            queue=full.path, value=str(now + 1), now=str(now)
        )
        yield _Raise(full.path, _one_more, said)
    if partition.limits.active:
        yield from _raised_limits(partition, ask)


def _raised_limits(partition: Partition, ask: Ask) -> Iterator[_Raise]:
    """Yield the limits of user and group that are short."""
    for (path, kind, name), most, left in partition.limits.headrooms(ask.app):
        for resource, value in ask.needs:
            if resource in left and value > left[resource]:
                needed = most[resource] - left[resource] + value
                said = IfSubmitted.LIMIT.said(
                    whose=f"{kind} {name}",
                    queue=path,
                    **_amounts(resource, needed, most[resource]),
                )
                yield _Raise(
                    path, _limited(kind, name, _maximum(resource, needed)), said
                )
    full = partition.limits.full_for(ask.app)
    if full is not None:
        (path, kind, name), now = full
        said = IfSubmitted.RUNNING_OF.said(
            whose=f"{kind} {name}", queue=path, value=str(now + 1), now=str(now)
        )
        yield _Raise(path, _limited(kind, name, _one_more), said)


def _amounts(name: str, value: int, now: int) -> dict[str, Quantity]:
    return {"value": Quantity(name, str(value)), "now": Quantity(name, str(now))}


def _one_more(one: _Bounded) -> _Bounded:
    return replace(one, max_applications=one.max_applications + 1)


def _maximum(name: str, amount: int) -> Callable[[_Bounded], _Bounded]:
    def edit(one: _Bounded) -> _Bounded:
        if isinstance(one, QueueConfig):
            return replace(one, max={**(one.max or {}), name: amount})
        return replace(one, max_resources={**(one.max_resources or {}), name: amount})

    return edit


def _limited(kind: str, name: str, edit: Callable[[Limit], Limit]) -> _Edit:
    """Return the edit of the limit of a "user" or "group" of that name, in a queue."""

    def change(queue: QueueConfig) -> QueueConfig:
        found = own_limit(kind, name, queue.limits)
        limits = (edit(one) if one is found else one for one in queue.limits)
        return replace(queue, limits=tuple(limits))

    return change
