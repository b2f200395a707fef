"""A quota is changed. Source: docs/semantics/yunikorn.md#quota-change-preemption"""

from __future__ import annotations

from typing import Any

from scheduler.model.durations import nanoseconds
from scheduler.model.errors import QuantityError
from tests.scheduler.yunikorn.reference.state import Pod, Queue, Res, World, add

HOUR = 3600


def passes(vector: dict[str, Any]) -> list[list[str]]:
    """Return the keys that each pass of a vector takes, sorted."""
    (config,) = (s["yaml"] for s in vector["steps"] if s["op"] == "config")
    before = {q.path: q for q in World(vector).root.walk()}
    world = World({**vector, "queuesYaml": config})
    now_ms = vector["now"] * 1000
    clocks: dict[str, float] = {}
    for queue in world.root.walk():
        old = before.get(queue.path)
        if starts(queue, old):
            clocks[queue.path] = now_ms + delay_ms(queue)
    found = []
    for step in vector["steps"]:
        if step["op"] != "quota":
            continue
        now_ms += step["ms"]
        taken: list[Pod] = []
        for child in world.root.children:
            descend(child, clocks, now_ms, taken)
        for pod in taken:
            world.drop(pod)
        found.append(sorted(pod.key for pod in taken))
    return found


def delay_ms(queue: Queue | None) -> float:
    if queue is None:
        return 0
    try:
        return max(0, nanoseconds(queue.props.get("quota.preemption.delay", "")) / 1e6)
    except QuantityError:
        return 0


def starts(queue: Queue, old: Queue | None) -> bool:
    """Return whether a change of the configuration starts the clock of a queue."""
    if queue.parent is None or not delay_ms(queue) or not over_max(queue):
        return False
    was, new = (old.max if old else None) or {}, queue.max or {}
    if was == new:
        return not delay_ms(old)
    less = [was.get(kind, 0) - new.get(kind, 0) for kind in {**was, **new}]
    return all(value >= 0 for value in less) and any(less)


def over_max(queue: Queue) -> bool:
    used = queue.allocated()
    return any(used[k] > v for k, v in (queue.max or {}).items() if k in used)


def descend(
    queue: Queue, clocks: dict[str, float], now_ms: float, taken: list[Pod]
) -> None:
    if clocks.get(queue.path, now_ms + 1) <= now_ms and over_max(queue):
        del clocks[queue.path]
        take(queue, amount(queue), taken)
        return
    for child in queue.children:
        descend(child, clocks, now_ms, taken)


def amount(queue: Queue) -> Res:
    used = queue.allocated()
    found: Res = {}
    for kind, limit in (queue.max or {}).items():
        over = used.get(kind, 0) - limit
        if over <= 0:
            continue
        spare = []
        for at in queue.route():
            held = at.allocated()
            if at.guaranteed is None and kind in held:
                spare.append(held[kind])
            elif at.guaranteed is not None and kind in at.guaranteed:
                spare.append(at.guaranteed[kind] - held.get(kind, 0))
        least = min(spare, default=0)
        found[kind] = min(over, -least) if least < 0 else over
    return found


def take(queue: Queue, wanted: Res, taken: list[Pod]) -> None:
    if queue.leaf:
        leaf(queue, wanted, taken)
        return
    able = [child for child in queue.children if gives(child)]
    for child in able:
        share: Res = {}
        for kind, value in wanted.items():
            whole = sum(weight(other).get(kind, 0) for other in able)
            part = value * weight(child).get(kind, 0) // whole if whole else 0
            if part > 0:
                share[kind] = part
        if share:
            take(child, share, taken)


def gives(child: Queue) -> bool:
    held = child.allocated()
    if not held:
        return False
    if child.guaranteed is None:
        return True
    return any(held[k] > v for k, v in child.guaranteed.items() if k in held)


def weight(child: Queue) -> Res:
    held = child.allocated()
    if child.guaranteed is None:
        return held
    return {k: abs(v - held.get(k, 0)) for k, v in child.guaranteed.items()}


def leaf(queue: Queue, wanted: Res, taken: list[Pod]) -> None:
    def rank(pod: Pod) -> Any:
        score = 100 * sum(k in wanted for k in pod.res) / len(pod.res)
        score += 2**33 * pod.originator + 2**34 * (not pod.opted_in)
        limit = queue.max or {}
        kinds = [k for k in wanted if k in pod.res and limit.get(k)]
        shares = sorted((pod.res[k] / limit[k] for k in kinds), reverse=True)
        return -score, pod.priority, -(pod.created // HOUR), tuple(shares), pod.key

    pods = [p for app in queue.apps for p in app.running()]
    able = [p for p in pods if not p.required and any(k in wanted for k in p.res)]
    sum_: Res = {}
    for pod in sorted(able, key=rank):
        more = add(sum_, pod.res)
        if all(more.get(kind, 0) <= value for kind, value in wanted.items()):
            sum_ = more
            taken.append(pod)
