"""What YuniKorn keeps beside the objects, and how it takes everything up again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.records.policy import YuniKorn
from scheduler.yunikorn.gang.placeholders import Gang
from scheduler.yunikorn.objects.application import (
    Application,
    Ask,
    State,
)
from scheduler.yunikorn.objects.queue import ROOT
from scheduler.yunikorn.placement import manager as placement
from scheduler.yunikorn.shim.pods import read_task_group
from scheduler.yunikorn.shim.status import reasons_of

if TYPE_CHECKING:
    from scheduler.yunikorn.shim.shim import Shim

_TIMED = (State.STARTING, State.COMPLETING, State.COMPLETED, State.FAILED)


def fingerprint(section: YuniKorn) -> str:
    """Return a short text that changes with the policy's section."""
    data = msgspec.msgpack.encode(section, order="sorted")
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def dump_state(stage: Shim) -> dict[str, Any]:
    """Return the applications that pods left, made queues, gangs and clocks."""
    partition = stage.partition
    now = stage.context.now_ms
    last = stage.last_ms
    stage.gone = {name: None for name in stage.gone if name in partition.apps}
    odd = (partition.apps[name] for name in sorted(_odd(stage)))
    kept: dict[str, Any] = {
        "counter": partition.counter,
        "policy": stage.fingerprint,
        "dirty": partition.dirty,
        "wake": partition.wake_ms,
        "last": last if last is not None and last >= now else None,
        "queues": [list(made) for made in partition.dynamic],
        "apps": [_application(app, left=app.id in stage.gone) for app in odd],
        "gangs": [_gang(app) for _, app in sorted(partition.apps.items()) if app.gang],
        "quota": _quota(stage),
    }
    return {name: value for name, value in kept.items() if value not in (None, [])}


def _odd(stage: Shim) -> set[str]:
    """Return the applications that their pods alone do not tell."""
    return {*stage.gone, *stage.partition.timed}


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
    gang: Gang = app.gang
    holders = [*app.requests, *app.allocations.values()]
    return [
        app.id,
        [dict(group.source) for _, group in sorted(gang.groups.items())],
        gang.style,
        gang.timeout_ms,
        gang.first_ms,
        dict(sorted(gang.used.items())),
        [_holder(ask) for ask in sorted(holders, key=_by_key) if ask.placeholder],
    ]


def _by_key(ask: Ask) -> str:
    return ask.key


def _holder(ask: Ask) -> list[Any]:
    held = ask.reserved_on
    return [
        ask.key,
        ask.group,
        ask.priority,
        ask.create_ms,
        ask.rank,
        ask.node.name if ask.node is not None else None,
        [held.name, ask.reserved_ms] if held is not None else None,
        [ask.triggered, ask.checked_ms, ask.preempted, reasons_of(ask)],
    ]


def _quota(stage: Shim) -> list[Any]:
    return [
        [queue.path, queue.quota_due_ms, queue.quota_ran]
        for queue in stage.partition.root.walk()
        if queue.quota_due_ms is not None or queue.quota_ran
    ]


# -- taking up again


def load_state(stage: Shim, kept: dict[str, Any]) -> None:
    """Take back queues and applications; the rest waits for the objects."""
    partition = stage.partition
    partition.counter = kept.get("counter", 0)
    for path, leaf in kept.get("queues", []):
        _make_queue(stage, path, leaf=leaf)
    for values in kept.get("apps", []):
        _take_application(stage, values)
    for path, due_ms, ran in kept.get("quota", []):
        queue = partition.queue(path)
        if queue is not None:
            queue.quota_due_ms, queue.quota_ran = due_ms, ran
    stage.last_ms = kept.get("last")
    stage.kept = kept.get("gangs", [])
    same = kept.get("policy", stage.fingerprint) == stage.fingerprint
    stage.continues = kept.get("policy") == stage.fingerprint
    stage.clock = (
        kept.get("dirty", True) or not same,
        kept.get("wake") if same else None,
    )


def _make_queue(stage: Shim, path: str, *, leaf: bool) -> None:
    """Make a queue that a rule had made, where its parent still allows it."""
    above, _, name = path.rpartition(".")
    parent = stage.partition.queue(above)
    if parent is not None and not parent.leaf and name not in parent.children:
        stage.partition.make_queue(parent, name, leaf=leaf)


def _take_application(stage: Shim, values: list[Any]) -> None:
    name, path, user, groups, submit, state, since, tags, group, left = values
    partition = stage.partition
    queue = partition.queue(path) if path.startswith(ROOT) else None
    if queue is None or not queue.leaf:
        incoming = placement.Incoming(user=user, groups=tuple(groups), tags=tags)
        queue = placement.place(partition, incoming) or placement.recovery(partition)
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
        partition.timed[app.id] = app
    if left:
        stage.gone[app.id] = None


def take_up(stage: Shim, ask: Ask, kept: dict[str, Any]) -> None:
    """Give a restored pod back what its object remembers of it."""
    app, partition = ask.app, stage.partition
    ask.triggered = kept.get("triggered", False)
    ask.checked_ms = kept.get("checked")
    ask.log = dict.fromkeys(kept.get("log", ()), 0)
    app.submit_ms = min(app.submit_ms, ask.memory.submit_ms)
    if app.slot is not None:
        app.queue.resort(app)
    if kept.get("preempted") and ask.node is not None:
        partition.mark_preempted([ask])
    if "reserved" in kept:
        _reserve(stage, ask, *kept["reserved"])
    told = app.id in stage.gone or app.id in partition.timed
    if not told and app.state is not State.RUNNING:
        placed = ask.node is not None and not ask.placeholder
        app.state = State.RUNNING if placed else State.ACCEPTED
        partition.count_running(app)


def _reserve(stage: Shim, ask: Ask, name: str, at_ms: int) -> None:
    node = stage.partition.nodes.by_name.get(name)
    if node is not None:
        stage.partition.reserve(ask, node, restore=True)
        ask.reserved_ms = at_ms


def finish(stage: Shim) -> None:
    """Take up gangs, now that nodes and pods are there, and the clock."""
    clock, stage.clock = stage.clock, None
    kept, stage.kept = stage.kept, []
    for values in kept:
        app = stage.partition.apps.get(values[0])
        if app is not None:
            _take_gang(stage, app, values)
    _order_nodes(stage)
    if clock is not None:
        stage.partition.dirty, stage.partition.wake_ms = clock
        stage.partition.relook = True


def _order_nodes(stage: Shim) -> None:
    """Put nodes that others use where they stood: restoring has moved them."""
    order = stage.partition.nodes
    for node in list(order):
        score = stage.scores.pop(node.name, None)
        if score is not None:
            order.put_at(node, score)
            stage.voice.displaced.add(node.name)
        elif node.occupied:
            order.move(node)


def _take_gang(stage: Shim, app: Application, values: list[Any]) -> None:
    _, groups, style, timeout, first, used, holders = values
    found = {str(item["name"]): read_task_group(item) for item in groups}
    app.gang = Gang(
        groups=found, style=style, timeout_ms=timeout, first_ms=first, used=dict(used)
    )
    stage.partition.ganged += 1
    for holder in holders:
        _take_holder(stage, app, holder)


def _take_holder(stage: Shim, app: Application, values: list[Any]) -> None:
    key, group, priority, create, rank, name, held, marks = values
    partition = stage.partition
    known = app.gang.groups[group]
    ask = Ask(
        key=key,
        app=app,
        resource=known.resource,
        priority=priority,
        create_ms=create,
        group=group,
        placeholder=True,
        refusal=known.refusal,
    )
    ask.rank = rank
    ask.triggered, ask.checked_ms, ask.preempted, log = marks
    ask.log = dict.fromkeys(log, 0)
    node = partition.nodes.by_name.get(name) if name else None
    if node is not None:
        partition.add_allocation(ask, node, restore=True)
        partition.count_running(app)
    elif name is None:
        partition.add_ask(ask, restore=True)
        if held is not None:
            _reserve(stage, ask, *held)
