"""Cycles by the text, the clock standing still. Source: docs/semantics/yunikorn.md#scheduling-cycle"""

from __future__ import annotations

from typing import Any

from tests.scheduler.yunikorn.reference.state import (
    App,
    Node,
    Pod,
    Queue,
    Res,
    World,
    fits,
    fits_undefined,
)
from tests.scheduler.yunikorn.reference.victims import (
    NO_HELP,
    REFUSED,
    VictimSearch,
    candidates,
    for_required,
)

NO_QUOTA = "Not enough queue quota"
NO_DAEMON_FIT = "No fit on required node, preemption does not help"
EXHAUSTED = "Preemption max attempts exhausted"
YOUNG = 2
MOST_CYCLES = 400  # a node may be reserved and given back for ever


class Run:
    """One vector, decided."""

    def __init__(self, vector: dict[str, Any]) -> None:
        self.world = World(vector)
        self.trace: list[dict[str, Any]] = []
        self.why: dict[str, set[str]] = {}
        self.victims: list[Pod] = []
        self.attempts = 0  # preemption attempts of this visit of a leaf

    # ---- what is recorded ----

    def record(self, event: str, pod: Pod, **more: Any) -> None:
        self.trace.append({"ev": event, "key": pod.key, **more})

    def refuse(self, pod: Pod, why: str) -> None:
        self.why.setdefault(pod.key, set()).add(why)

    def place(self, pod: Pod, node: Node) -> None:
        self.unreserve(pod)
        self.world.put(pod, node)
        self.record("alloc", pod, node=node.name)

    def reserve(self, pod: Pod, node: Node) -> bool:
        if not fits(node.capacity, pod.res):
            return False
        if pod.reserved is node:
            return True
        daemons = pod.required and all(p.required for p in node.reservations)
        if node.reservations and not daemons:
            return False
        self.unreserve(pod)
        node.reservations.append(pod)
        pod.reserved = node
        self.record("reserve", pod, node=node.name)
        return True

    def unreserve(self, pod: Pod) -> None:
        if pod.reserved is not None:
            pod.reserved.reservations.remove(pod)
            pod.reserved = None

    def preempt(self, pod: Pod, victims: list[Pod]) -> None:
        for victim in victims:
            victim.preempted = True
        pod.triggered = True
        self.victims += victims
        self.record("preempt", pod, victims=[v.key for v in victims])

    # ---- one cycle ----

    def cycle(self) -> None:
        if not self._visit(self.world.root, self._reserved):
            self._visit(self.world.root, self._normal)

    def _visit(self, queue: Queue, leaf: Any) -> bool:
        if queue.leaf:
            return bool(leaf(queue))
        return any(self._visit(child, leaf) for child in queue.in_order())

    def _reserved(self, leaf: Queue) -> bool:
        room = leaf.headroom()
        holders = [a for a in leaf.apps if any(p.reserved for p in a.asks())]
        return any(
            self._reserved_of(app, room) for app in sorted(holders, key=lambda a: a.id)
        )

    def _reserved_of(self, app: App, room: Res | None) -> bool:
        held = [p for p in app.asks() if p.reserved]
        held.sort(key=lambda p: (p.created, p.key))
        held = [p for p in held if fits_undefined(room, p.res)]
        for pod in held:
            node = pod.reserved
            assert node is not None
            if pod.required and not fits(node.available(), pod.res):
                if not pod.triggered:
                    victims = for_required(pod, node)
                    if victims:
                        self.preempt(pod, victims)
                    else:
                        self.refuse(pod, NO_DAEMON_FIT)
            elif self._takes(node, pod):
                self.place(pod, node)
                return True
        return any(not p.required and self._first(p) for p in held)

    def _takes(self, node: Node, pod: Pod) -> bool:
        mine = not node.reservations or pod in node.reservations
        open_ = node.open or pod.required
        able = node.name not in pod.excluded
        return bool(mine and open_ and able and fits(node.available(), pod.res))

    def _first(self, pod: Pod) -> bool:
        for node in self.world.in_order():
            if not node.reservations and self._takes(node, pod):
                self.place(pod, node)
                return True
        return False

    def _normal(self, leaf: Queue) -> bool:
        room, self.attempts = leaf.headroom(), 10
        return any(
            self._request(pod, room) for app in leaf.in_order() for pod in app.asks()
        )

    def _request(self, pod: Pod, room: Res | None) -> bool:
        if not fits_undefined(room, pod.res):
            if self._attempt(pod, nodes_tried=False):
                return True
            self.refuse(pod, NO_QUOTA)
            return False
        if pod.required:
            return self._daemon(pod)
        if self._first(pod):
            return True
        old = self.world.now > pod.created + YOUNG
        if old and pod.reserved is None:
            node = self._tightest(pod)
            if node is not None and node.name not in pod.excluded:
                return self.reserve(pod, node)
        return self._attempt(pod, nodes_tried=True)

    def _daemon(self, pod: Pod) -> bool:
        node = self.world.nodes.get(pod.required)
        if node is None:
            return False
        for other in list(node.reservations):
            if not other.required:
                self.unreserve(other)
        if self._takes(node, pod):
            self.place(pod, node)
            return True
        if pod.reserved is node:
            return False
        self.reserve(pod, node)
        return True

    def _tightest(self, pod: Pod) -> Node | None:
        best: tuple[float, Node] | None = None
        for node in self.world.in_order():
            if node.reservations or not node.open or not fits(node.capacity, pod.res):
                continue
            score = 0.0
            for kind, room in node.available().items():
                want = pod.res.get(kind, 0)
                if room <= 0:
                    continue
                if want <= 0:
                    score += 1.0
                elif room > want:
                    score += (room - want) / room
            if best is None or score < best[0]:
                best = score, node
        return best[1] if best else None

    def _attempt(self, pod: Pod, *, nodes_tried: bool) -> bool:
        world = self.world
        if not world.preemption:
            return False
        if self._barred(pod):
            self.refuse(pod, REFUSED)
            self.refuse(pod, NO_HELP)
            return False
        if not self.attempts:
            self.refuse(pod, EXHAUSTED)
            self.refuse(pod, NO_HELP)
            return False
        self.attempts -= 1
        pod.tried = True
        attempt = VictimSearch(world, pod, nodes_tried)
        found = attempt.run()
        if found is None:
            if attempt.why:
                self.refuse(pod, attempt.why)
            self.refuse(pod, NO_HELP)
            return False
        node, victims = found
        self.preempt(pod, victims)
        for other in [p for p in node.reservations if p is not pod]:
            self.unreserve(other)
        self.reserve(pod, node)
        return True

    def _barred(self, pod: Pod) -> bool:
        ready = pod.created + pod.app.queue.delay()
        waits = self.world.now < ready or pod.tried
        return bool(not pod.may_preempt or pod.triggered or pod.required or waits)

    # ---- until quiet ----

    def until_idle(self, *, first_only: bool) -> None:
        idle, first = 0, self.world.asks[0]
        for _ in range(MOST_CYCLES):
            before = len(self.trace)
            self.cycle()
            if first_only and (first.triggered or first.node is not None):
                return
            if not first_only:
                for victim in self.victims:
                    self.world.drop(victim)
                    self.record("released", victim)
                self.victims.clear()
            idle = idle + 1 if len(self.trace) == before else 0
            if idle == 2:
                return


def preemption(vector: dict[str, Any]) -> dict[str, Any]:
    """Return candidates and outcome of a vector of the suites preemption and laws."""
    run = Run(vector)
    first = run.world.asks[0]
    pods = candidates(run.world, first)
    found = {path: sorted(p.key for p in ps) for path, ps in pods.items()}
    run.until_idle(first_only=True)
    node = first.node or first.reserved
    kinds = {event["ev"] for event in run.trace}
    kind = next((k for k in ("alloc", "preempt", "reserve") if k in kinds), "none")
    outcome = {
        "outcome": kind,
        "node": node.name if node else "",
        "victims": [v.key for v in run.victims],
        "trace": run.trace,
        "why": run.why,
    }
    return {"candidates": found, "outcome": outcome}


def cycles(vector: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of a vector of the suite cycle."""
    run = Run(vector)
    run.until_idle(first_only=False)
    gone = sorted(e["key"] for e in run.trace if e["ev"] == "released")
    return {
        "outcome": {
            "outcome": "done",
            "node": "",
            "victims": [],
            "trace": run.trace,
            "why": run.why,
            "final": {e["key"]: e["node"] for e in run.trace if e["ev"] == "alloc"},
            "pending": sorted(p.key for p in run.world.asks if not (p.node or p.gone)),
            "gone": gone,
        }
    }


def orders(vector: dict[str, Any]) -> dict[str, Any]:
    """Return the orders of a vector of the suite sort."""
    world = World(vector)
    found: dict[str, Any] = {"queues": {}, "apps": {}, "requests": {}}
    for queue in world.root.walk():
        order = queue.in_order()
        if queue.leaf:
            found["apps"][queue.path] = {
                "order": [app.id for app in order],
                "priority": {app.id: app.priority() for app in order},
            }
            for app in queue.apps:
                if app.asks():
                    keys = [p.key for p in app.asks()]
                    found["requests"][app.id] = {"order": keys}
        else:
            found["queues"][queue.path] = {
                "order": [child.path for child in order],
                "share": {child.path: child.share() for child in order},
                "priority": {child.path: child.published() for child in order},
            }
    return found


def nodes(vector: dict[str, Any]) -> dict[str, Any]:
    """Return order and scores of a vector of the suite nodes."""
    world = World(vector)
    names = [node.name for node in world.in_order()]
    for node in world.nodes.values():
        node.moved()  # scores are given as they would be now
    return {
        "outcome": names,
        "scores": {name: world.score(world.nodes[name]) for name in names},
    }


DECIDE = {"preemption": preemption, "cycle": cycles, "sort": orders, "nodes": nodes}


def decide(vector: dict[str, Any]) -> dict[str, Any]:
    """Return what the text says of a vector, in the shape that replay compares."""
    return DECIDE[vector["suite"]](vector)
