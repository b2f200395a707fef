"""Preemption for guarantees, and for required nodes. Source: docs/semantics/yunikorn.md#preemption-for-guarantees"""

from __future__ import annotations

from typing import Any

from tests.scheduler.yunikorn.reference.state import (
    Node,
    Pod,
    Queue,
    Res,
    World,
    add,
    fits,
    fits_actual,
    fits_undefined,
    low,
)

Found = tuple[Node, list[Pod]]
RETRY, REFUSED = 15, "Preemption preconditions failed"
NO_GUARANTEE = "Preemption queue guarantees check failed"
SHORT = "Preemption helped but short of resources"
NO_HELP = "Preemption does not help"


class Copy:
    """Usage per queue, to be tried on."""

    def __init__(self, world: World, ask: Pod) -> None:
        self.ask, self.home = ask, ask.app.queue
        self.used: dict[str, Res] = {
            q.path: add(q.allocated(), q.preempting(), -1) for q in world.root.walk()
        }

    def change(self, queue: Queue, res: Res, sign: int) -> None:
        for at in queue.route():
            self.used[at.path] = add(self.used[at.path], res, sign)

    def remaining(self, queue: Queue) -> Res | None:
        above = self.remaining(queue.parent) if queue.parent else None
        own = queue.guaranteed
        if own is None:
            return above
        used = self.used[queue.path]
        left = {k: v - used.get(k, 0) for k, v in own.items()}
        if queue is self.home:
            return {**(above or {}), **left}
        if self.home.guaranteed is not None and queue in self.home.route():
            return None  # the name prefix of the real one is not copied
        return low(left, above or None)

    def eligible(self, queue: Queue) -> bool:
        left = self.remaining(queue)
        return left is None or any(v < 0 for k, v in left.items() if k in self.ask.res)


def scope(ask: Pod) -> tuple[Queue, dict[str, int]]:
    p, seen = ask.priority, {}
    queue = ask.app.queue
    for queue in ask.app.queue.route():
        p = queue.offset if queue.priority_fence else p + queue.offset
        seen[queue.path] = p
        limit = queue.effective_max()
        over = not fits_undefined(limit, add(queue.allocated(), ask.res))
        if queue.parent is None or queue.policy == "fence" or over:
            break
    return queue, seen


def candidates(world: World, ask: Pod) -> dict[str, list[Pod]]:
    copy = Copy(world, ask)
    top, seen = scope(ask)
    found: dict[str, list[Pod]] = {}

    def walk(queue: Queue, p: int, fenced: bool) -> None:
        if queue.leaf:
            left = copy.remaining(queue)
            kept = left is not None and all(v >= 0 for v in left.values())
            if queue is ask.app.queue or queue.policy == "disabled" or kept:
                return
            pods = [
                x for app in queue.apps for x in app.running() if may_go(x, p, fenced)
            ]
            if pods:
                found[queue.path] = pods
        for child in queue.children:
            if child.path in seen:
                walk(child, seen[child.path], False)
            elif not child.priority_fence:
                walk(child, p - child.offset, fenced)
            elif child.offset <= p:
                walk(child, p, True)

    def may_go(pod: Pod, p: int, fenced: bool) -> bool:
        shared = any(kind in ask.res for kind in pod.res)
        kept = pod.required or pod.preempted
        return shared and not kept and (fenced or pod.priority <= p)

    walk(top, seen[top.path], False)
    return found


def worth(pod: Pod) -> tuple[Any, ...]:
    return not pod.opted_in, pod.originator, -pod.created, pod.key


class VictimSearch:
    """One attempt for one ask: the node and its victims, or why not."""

    def __init__(self, world: World, ask: Pod, nodes_tried: bool) -> None:
        self.world, self.ask, self.nodes_tried = world, ask, nodes_tried
        self.home, self.why = ask.app.queue, ""

    def run(self) -> Found | None:
        ask, world = self.ask, self.world
        pods = [p for ps in candidates(world, ask).values() for p in ps]
        if not self._guaranteed(pods):
            self.why = NO_GUARANTEE
            return None
        chosen = self._node(pods)
        if chosen is None:
            return None
        node, victims, free = chosen
        more = self._more(victims, pods)
        if more is None or not victims + more:
            return None
        trimmed = self._trim(node, victims + more, free)
        return None if trimmed is None else (node, trimmed)

    def _guaranteed(self, pods: list[Pod]) -> bool:
        ask, copy = self.ask, Copy(self.world, self.ask)
        left = copy.remaining(self.home)
        if left and fits_actual(left, ask.res):
            return True
        copy.change(self.home, ask.res, 1)
        for pod in [None, *pods]:
            if pod is not None:
                copy.change(pod.app.queue, pod.res, -1)
                left = copy.remaining(self.home)
                if left and all(left.get(k, 0) >= 0 for k in ask.res):
                    return True
        return False

    def _node(self, pods: list[Pod]) -> tuple[Node, list[Pod], bool] | None:
        plans = []
        for node in self.world.nodes.values():
            if any(self._blocks(other) for other in node.reservations) or not node.open:
                continue
            if not fits(node.capacity, self.ask.res):
                continue
            here = sorted((p for p in pods if p.node is node), key=worth)
            plan = self._victims(node, here)
            if plan is not None:
                plans.append((plan[1], node.name, node, plan[0], here))
        plans.sort(key=lambda x: x[:2])
        best = None
        for at in range(0, len(plans), 10):
            for start, _, node, victims, here in plans[at : at + 10]:
                score = self._score(start, node, victims, here)
                if best is None or score[0] < best[0]:
                    best = (score[0], node, victims[: score[1] + 1], start < 0)
            if best is not None and best[0] < 2**32:
                break
        if best is None or best[0] > 2**35:
            return None
        return best[1], best[2], best[3]

    def _blocks(self, other: Pod) -> bool:
        overdue = self.world.now - other.created > 2 * 3600 + 2
        free = not other.required and not other.triggered
        lesser = other.priority < self.ask.priority
        return other is not self.ask and not (overdue and free and lesser)

    def _score(
        self, start: int, node: Node, victims: list[Pod], here: list[Pod]
    ) -> tuple[int, int]:
        """Return the score, and the index up to which victims go; lower is better."""
        if node.name in self.ask.excluded:
            return 2**36, -1  # the predicates fail however many go
        if start < 0:
            return (2**35 if not here else 0), -1
        score = start + 1
        score += 2**33 * any(p.originator for p in here[: start + 1])
        score += 2**34 * any(not p.opted_in for p in here[: start + 1])
        return score, start

    def _victims(self, node: Node, here: list[Pod]) -> tuple[list[Pod], int] | None:
        ask, free = self.ask, node.available()
        if fits(free, ask.res):
            return None if self.nodes_tried else ([], -1)
        copy, head, tail = Copy(self.world, ask), [], []
        for pod in here:
            if not copy.eligible(pod.app.queue):
                continue
            copy.change(pod.app.queue, pod.res, -1)
            left = copy.remaining(self.home)
            if left is None or not fits_actual(left, pod.res):
                break
            copy.change(self.home, pod.res, 1)
            short = {k: max(v - free.get(k, 0), 0) for k, v in ask.res.items()}
            then = add(free, pod.res)
            after = {k: max(v - then.get(k, 0), 0) for k, v in ask.res.items()}
            if after == short:
                copy.change(pod.app.queue, pod.res, 1)
                copy.change(self.home, pod.res, -1)
                tail.append(pod)
            else:
                free = then
                head.append(pod)
        copy, free, found = Copy(self.world, ask), node.available(), []
        for pod in head + tail:
            if copy.eligible(pod.app.queue):
                copy.change(pod.app.queue, pod.res, -1)
                free = add(free, pod.res)
                found.append(pod)
                if fits(free, ask.res):
                    return found, len(found) - 1
        return None

    def _more(self, victims: list[Pod], pods: list[Pod]) -> list[Pod] | None:
        copy = Copy(self.world, self.ask)
        for pod in victims:
            copy.change(pod.app.queue, pod.res, -1)
        taken: list[Pod] = []
        for pod in sorted((p for p in pods if p not in victims), key=worth):
            if not copy.eligible(pod.app.queue):
                continue
            copy.change(pod.app.queue, pod.res, -1)
            before = copy.remaining(self.home)
            if before is None or not fits_actual(before, pod.res):
                break
            copy.change(self.home, pod.res, 1)
            if copy.remaining(self.home) == before:
                copy.change(pod.app.queue, pod.res, 1)
                copy.change(self.home, pod.res, -1)
                continue
            taken.append(pod)
        left = copy.remaining(self.home)
        if taken and any((left or {}).get(k, 0) < 0 for k in self.ask.res):
            return None
        return taken

    def _trim(self, node: Node, pods: list[Pod], free: bool) -> list[Pod] | None:
        ask, kept, gone = self.ask, [], {}
        for pod in pods:
            if pod.node is not node and not free:
                continue
            if exceeds(ask.res, gone):
                kept.append(pod)
            gone = add(gone, pod.res)
        if exceeds(ask.res, gone):
            self.why = SHORT
            return None
        return kept or None


def exceeds(a: Res, b: Res) -> bool:
    """Strictly greater on the types that are there. Source: docs/semantics/yunikorn.md#combining-and-comparing-resources"""
    if not b:
        return bool(a) and all(v > 0 for v in a.values())
    common = [k for k in a if k in b]
    if any(b[k] > a[k] for k in common):
        return False
    return any(a[k] > b[k] for k in common) or not common


def for_required(ask: Pod, node: Node) -> list[Pod]:
    """Return who leaves a node for a pod that needs it. Source: docs/semantics/yunikorn.md#required-node-preemption"""
    able = [
        p
        for p in node.pods
        if not p.required
        and p.priority <= ask.priority
        and not p.preempted
        and any(k in ask.res for k in p.res)
    ]
    rank = lambda p: (  # noqa: E731
        p.originator, not p.opted_in, p.priority, -p.created,
        sorted(p.res.items()), p.key,
    )  # fmt: skip
    taken: list[Pod] = []
    freed: Res = {}
    for pod in sorted(able, key=rank):
        if all(freed.get(k, 0) >= v for k, v in ask.res.items()):
            break
        taken.append(pod)
        freed = add(freed, pod.res)
    room = add(freed, node.available())
    union = {**room, **ask.res}
    if any(room.get(k, 0) < ask.res.get(k, 0) for k in union):
        return []
    return taken
