"""What YuniKorn keeps beside the objects, and how it is restored."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import Any, NamedTuple

from scheduler.engine.yunikorn.objects.gang_state import GangState, TaskGroup, by_name
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Ended,
    Queue,
    Rejected,
    State,
)
from scheduler.engine.yunikorn.objects.queue_tree import ROOT
from scheduler.engine.yunikorn.placement import rules
from scheduler.engine.yunikorn.placement.rules import Submission
from scheduler.engine.yunikorn.preemption import quota_change
from scheduler.engine.yunikorn.shim.pods import read_task_group
from scheduler.engine.yunikorn.shim.recorder import ShimState, reasons_of
from scheduler.model.hierarchy import QueueConfig, Template
from scheduler.model.yunikorn.resources import Amounts

_TIMED = (State.STARTING, State.COMPLETING, State.COMPLETED, State.FAILED)


def dump_state(shim: ShimState) -> dict[str, Any]:
    """Return the applications that pods left, made queues, gangs and clocks."""
    partition = shim.partition
    now = shim.context.now_ms
    last = shim.last_cycle_ms
    shim.stored_apps = {
        name: None for name in shim.stored_apps if name in partition.apps
    }
    odd = (partition.apps[name] for name in sorted(_to_store(shim)))
    kept: dict[str, Any] = {
        "counter": partition.counter,
        "rejected": [_rejected(one) for one in partition.rejected.values()],
        "ended": [list(astuple(one)) for one in partition.ended],
        "draining": [_drained(queue) for queue in _to_drain(shim)],
        "policy": shim.policy_hash,
        "dirty": partition.dirty,
        "wake": partition.due_ms,
        "last": last if last is not None and last >= now else None,
        "queues": [_made(shim, *made) for made in partition.dynamic],
        "apps": [_application(app, left=app.id in shim.stored_apps) for app in odd],
        "waysBack": dict(sorted(partition.ways_back.items())),
        "gangs": [_gang(app) for _, app in sorted(partition.apps.items()) if app.gang],
        "quota": _quota(shim),
        "allocating": sorted(partition.root.allocating),
        "counted": partition.limits.counted_without_pods(partition.apps),
        "backoff": [
            [app.id, app.backoff_ms]
            for _, app in sorted(partition.apps.items())
            if app.backoff_ms is not None and app.backoff_ms > now
        ],
    }
    return {name: value for name, value in kept.items() if value not in (None, [], {})}


def _ended(
    app: str,
    queue: str,
    user: str,
    groups: list[str],
    state: str,
    submit_ms: int,
    at_ms: int,
    gang: list[tuple[str, int, int, int]],
) -> Ended:
    return Ended(
        app=app,
        queue=queue,
        user=user,
        groups=tuple(groups),
        state=state,
        submit_ms=submit_ms,
        at_ms=at_ms,
        gang=tuple((name, count, new, old) for name, count, new, old in gang),
    )


def _rejected(one: Rejected) -> list[Any]:
    groups = list(one.groups)
    return [one.app, one.queue, one.user, groups, one.at_ms, one.message]


def _to_drain(shim: ShimState) -> Iterator[Queue]:
    """Yield the configured queues that stay without a configuration, parents first."""
    for queue in shim.partition.root.walk():
        if queue.parent is None or not queue.managed:
            continue
        if queue.state == "Draining" or (shim.policy_ends and _holds_apps(queue)):
            yield queue


def _holds_apps(queue: Queue) -> bool:
    return any(leaf.apps for leaf in queue.leaves())


def _drained(queue: Queue) -> list[Any]:
    quota = [queue.guaranteed, queue.max, queue.max_applications]
    return [queue.path, queue.leaf, *quota, queue.own_texts]


def _made(shim: ShimState, path: str, leaf: bool) -> list[Any]:
    """Return a queue that a rule made, with its quota where a namespace set it."""
    queue = shim.partition.queue(path)
    if queue is None or not leaf:
        return [path, leaf]
    template = next((q.template for q in queue.route if q.template), None) or Template()
    own = [queue.guaranteed, queue.max, queue.max_applications]
    usual = [template.guaranteed, template.max, template.max_applications]
    return [path, leaf] if own == usual else [path, leaf, *own]


def _to_store(shim: ShimState) -> set[str]:
    """Return the applications that their pods alone do not describe."""
    return {*shim.stored_apps, *shim.partition.timed_apps}


def _application(app: Application, *, left: bool) -> list[Any]:
    return [
        app.id,
        app.queue.path,
        app.user,
        list(app.groups),
        app.submit_ms,
        str(app.state),
        app.state_ms if app.state in _TIMED else 0,
        dict(app.tags),
        app.tracked_group or None,
        left,
    ]


def _gang(app: Application) -> list[Any]:
    gang = app.gang
    assert gang is not None
    holders = [*app.requests, *app.allocations.values()]
    return [
        app.id,
        [dict(group.source) for group in gang.declared()],
        gang.style,
        gang.timeout_ms,
        gang.first_ms,
        dict(sorted(gang.used.items())),
        [_placeholder(ask) for ask in sorted(holders, key=_by_key) if ask.placeholder],
        gang.origin,
        dict(sorted(gang.replaced.items())),
    ]


def _by_key(ask: Ask) -> str:
    return ask.key


def _placeholder(ask: Ask) -> list[Any]:
    held = ask.reserved_on
    return [
        ask.key,
        ask.group,
        ask.priority,
        ask.create_ms,
        ask.rank,
        ask.node.name if ask.node is not None else None,
        [held.name, ask.reserved_ms] if held is not None else None,
        [
            ask.triggered,
            ask.checked_ms,
            ask.preempted,
            reasons_of(ask),
            *([True] if ask.scale_up else []),
        ],
    ]


class KeptPlaceholder(NamedTuple):
    """A placeholder of a gang as `dump_state` keeps it, with what declared it."""

    name: str
    app: str
    origin: str  # namespace/name of the pod that declared the task groups
    group: TaskGroup
    priority: int
    created_ms: int
    node: str  # "" while it waits
    scale_up: bool  # more nodes would help it


def kept_placeholders(kept: Mapping[str, Any]) -> Iterator[KeptPlaceholder]:
    """Yield the placeholders of what `dump_state` returned, by gang and name.

    Cost: O(placeholders).
    """
    for app, items, _, _, _, _, holders, origin, _ in kept.get("gangs", []):
        groups = by_name(map(read_task_group, items))
        for key, name, priority, created_ms, _, node, _, marks in holders:
            yield KeptPlaceholder(
                name=key,
                app=app,
                origin=origin,
                group=_member(groups[name], key),
                priority=priority,
                created_ms=created_ms,
                node=node or "",
                scale_up=any(marks[4:]),
            )


def _member(group: TaskGroup, key: str) -> TaskGroup:
    """Return which of the groups of one name a placeholder is of, by its number."""
    number = int(key.rpartition("-")[2])
    return next(itertools.islice(group.each(), number, None))


def _quota(shim: ShimState) -> list[Any]:
    """Return the clocks, and the max values that a new policy is compared with."""
    return [
        [queue.path, queue.quota_due_ms, queue.max, queue.properties.quota_delay_ms]
        for queue in shim.partition.root.walk()
        if queue.parent and queue.managed and queue.max
    ]


# -- restoring


def load_state(shim: ShimState, kept: dict[str, Any]) -> None:
    """Restore queues and applications; the rest waits for the objects."""
    partition = shim.partition
    partition.counter = kept.get("counter", 0)
    for path, leaf, *quota in kept.get("queues", []):
        _make_queue(shim, path, leaf=leaf, quota=quota)
    partition.ended = [_ended(*values) for values in kept.get("ended", [])]
    for values in kept.get("draining", []):
        _drain(shim, *values)
    for values in kept.get("rejected", []):
        app, queue, user, groups, at_ms, message = values
        partition.rejected[app] = Rejected(
            app=app,
            queue=queue,
            user=user,
            groups=tuple(groups),
            at_ms=at_ms,
            message=message,
        )
    for values in kept.get("apps", []):
        _restore_application(shim, values)
    partition.ways_back = {
        name: [(at_ms, state) for at_ms, state in entered]
        for name, entered in kept.get("waysBack", {}).items()
    }
    shim.stored_quota = kept.get("quota", [])
    shim.last_cycle_ms = kept.get("last")
    shim.stored_counts = {
        name: kept.get(name, []) for name in ("allocating", "counted", "backoff")
    }
    shim.stored_gangs = kept.get("gangs", [])
    same = kept.get("policy", shim.policy_hash) == shim.policy_hash
    shim.same_policy = kept.get("policy") == shim.policy_hash
    shim.stored_clock = (
        kept.get("dirty", True) or not same,
        kept.get("wake") if same else None,
    )


def _drain(
    shim: ShimState,
    path: str,
    leaf: bool,
    guaranteed: Amounts | None,
    most: Amounts | None,
    applications: int,
    texts: dict[str, str],
) -> None:
    spec = QueueConfig(
        name=path.rpartition(".")[2],
        guaranteed=guaranteed,
        max=most,
        max_applications=applications,
        properties=texts,
    )
    shim.partition.drain(spec, path, leaf=leaf)


def _make_queue(shim: ShimState, path: str, *, leaf: bool, quota: list[Any]) -> None:
    """Make a queue that a rule had made, where its parent still allows it."""
    above, _, name = path.rpartition(".")
    parent = shim.partition.queue(above)
    if parent is not None and not parent.leaf and name not in parent.children:
        made = shim.partition.make_queue(parent, name, leaf=leaf)
        if quota:
            made.guaranteed, made.max, made.max_applications = quota


def _restore_application(shim: ShimState, values: list[Any]) -> None:
    name, path, user, groups, submit, state, since, tags, group, left = values
    partition = shim.partition
    queue = partition.queue(path) if path.startswith(ROOT) else None
    if queue is None or not queue.leaf:
        incoming = Submission(user=user, groups=tuple(groups), tags=tags)
        queue = rules.place(partition, incoming) or rules.recovery(partition)
    app = Application(
        id=name,
        queue=queue,
        user=user,
        groups=tuple(groups),
        submit_ms=submit,
        tags=tags,
    )
    app.tracked_group = group
    app.state, app.state_ms = State(state), since
    partition.add_application(app)
    partition.count_running(app)
    if app.state in _TIMED:
        partition.timed_apps[app.id] = app
    if left:
        shim.stored_apps[app.id] = None


def restore_pod(shim: ShimState, ask: Ask, kept: dict[str, Any]) -> None:
    """Give a restored pod back what is stored with its object."""
    app, partition = ask.app, shim.partition
    ask.triggered = kept.get("triggered", False)
    ask.checked_ms = kept.get("checked")
    ask.log = dict.fromkeys(kept.get("log", ()), 0)
    if kept.get("scaleUp"):
        ask.scale_up = True
        partition.unmarked.pop(ask.key, None)
    assert ask.pod is not None
    app.submit_ms = min(app.submit_ms, ask.pod.submit_ms)
    if app.order_entry is not None:
        app.queue.resort(app)
    if kept.get("preempted") and ask.node is not None:
        partition.mark_preempted([ask])
    if "reserved" in kept:
        _reserve(shim, ask, *kept["reserved"])
    stored = app.id in shim.stored_apps or app.id in partition.timed_apps
    if not stored and app.state is not State.RUNNING:
        placed = ask.node is not None and not ask.placeholder
        app.state = State.RUNNING if placed else State.ACCEPTED
        partition.count_running(app)


def _reserve(shim: ShimState, ask: Ask, name: str, at_ms: int) -> None:
    node = shim.partition.nodes.by_name.get(name)
    if node is not None:
        shim.partition.reserve(ask, node, restore=True)
        ask.reserved_ms = at_ms


def finish_restore(shim: ShimState) -> None:
    """Restore gangs, now that nodes and pods are there, and the clock."""
    clock, shim.stored_clock = shim.stored_clock, None
    kept, shim.stored_gangs = shim.stored_gangs, []
    for values in kept:
        app = shim.partition.apps.get(values[0])
        if app is not None:
            _restore_gang(shim, app, values)
    _restore_counts(shim)
    # Restore the clocks of changed quotas, and start those of a new policy.
    stored, shim.stored_quota = shim.stored_quota, []
    partition = shim.partition
    for path, due_ms, old_max, old_delay_ms in stored:
        queue = partition.queue(path)
        if queue is None:
            continue
        queue.quota_due_ms = due_ms
        if not shim.same_policy:
            quota_change.update_clock(queue, old_max, old_delay_ms, partition.now_ms)
    # Put nodes that others use where they stood: restoring has moved them.
    order = shim.partition.nodes
    for node in list(order):
        score = shim.stored_scores.pop(node.name, None)
        if score is not None:
            order.put_at(node, score)
            shim.recorder.displaced.add(node.name)
        elif node.occupied:
            order.move(node)
    if clock is not None:
        shim.partition.dirty, shim.partition.due_ms = clock
        shim.partition.recheck_all = True


def _restore_counts(shim: ShimState) -> None:
    """Restore which applications count, where their pods do not show it."""
    counts, shim.stored_counts = shim.stored_counts, {}
    partition = shim.partition
    for name in counts.get("allocating", ()):
        if name in partition.apps:
            for queue in partition.apps[name].queue.route:
                queue.allocating.add(name)  # of one that is Completing, too
    for name in counts.get("counted", ()):
        if name in partition.apps:
            partition.limits.count(partition.apps[name])
    for name, until_ms in counts.get("backoff", ()):
        if name in partition.apps:
            partition.apps[name].backoff_ms = until_ms


def _restore_gang(shim: ShimState, app: Application, values: list[Any]) -> None:
    _, items, style, timeout, first, used, holders, origin, replaced = values
    groups = by_name(map(read_task_group, items))
    app.gang = GangState(
        groups=groups,
        style=style,
        timeout_ms=timeout,
        first_ms=first,
        used=dict(used),
        replaced=dict(replaced),
        origin=origin,
    )
    shim.partition.gang_count += 1
    for holder in holders:
        _restore_placeholder(shim, app, groups[holder[1]], holder)
    shim.partition.ask_for_held(app)


def _restore_placeholder(
    shim: ShimState, app: Application, group: TaskGroup, values: list[Any]
) -> None:
    key, _, priority, create, rank, name, held, marks = values
    partition = shim.partition
    own = _member(group, key)
    ask = Ask(
        key=key,
        app=app,
        resource=own.resource,
        priority=priority,
        create_ms=create,
        group=group.name,
        placeholder=True,
        predicate=own.predicate,
    )
    ask.rank = rank
    ask.triggered, ask.checked_ms, ask.preempted, log, *more = marks
    ask.log = dict.fromkeys(log, 0)
    ask.scale_up = any(more)
    node = partition.nodes.by_name.get(name) if name else None
    if node is not None:
        partition.add_allocation(ask, node, restore=True)
    elif name is None:
        partition.add_ask(ask, restore=True)
        if held is not None:
            _reserve(shim, ask, *held)
