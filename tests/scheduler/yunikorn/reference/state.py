"""A vector's queues, nodes and pods; every sum is taken anew when asked for.

Source: docs/semantics/yunikorn.md#quantities
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

import yaml

from scheduler.model.durations import nanoseconds
from scheduler.model.errors import QuantityError

Res = dict[str, int]
LOWEST = -(2**31)
_UNITS = dict(zip("kMGTPE", (10 ** (3 * n) for n in range(1, 7)), strict=True))
_UNITS |= {f"{u}i": 2 ** (10 * n) for n, u in zip(range(1, 7), "KMGTPE", strict=True)}
_UNITS[""] = 1


def amount(kind: str, text: object) -> int:
    digits, suffix = re.fullmatch(r"(\d+) *([A-Za-z]*)", str(text)).groups()  # type: ignore[union-attr]
    if suffix == "m":
        return int(digits)
    return int(digits) * _UNITS[suffix] * (1000 if kind == "vcore" else 1)


def amounts(texts: dict[str, object] | None) -> Res:
    return {kind: amount(kind, text) for kind, text in (texts or {}).items()}


def given(res: Res) -> Res | None:
    """Return what counts as set: strictly greater than zero."""
    positive = any(v > 0 for v in res.values())
    return res if positive and all(v >= 0 for v in res.values()) else None


def add(a: Res, b: Res, sign: int = 1) -> Res:
    return {k: a.get(k, 0) + sign * b.get(k, 0) for k in {**a, **b}}


def low(a: Res | None, b: Res | None) -> Res | None:
    """Return the component-wise minimum; nil behaves as the other side."""
    if a is None or b is None:
        return b if a is None else a
    return {k: min(a.get(k, b.get(k, 0)), b.get(k, a.get(k, 0))) for k in {**a, **b}}


def fits(limit: Res, want: Res) -> bool:
    return all(v <= max(limit.get(k, 0), 0) for k, v in want.items())


def fits_undefined(limit: Res | None, want: Res) -> bool:
    room = limit or {}
    return all(v <= max(room[k], 0) for k, v in want.items() if k in room)


def fits_actual(limit: Res, want: Res) -> bool:
    return all(v <= limit[k] for k, v in want.items() if k in limit)


class Pod:
    """An ask, or an allocation once it has a node."""

    def __init__(self, data: dict[str, Any], app: App) -> None:
        self.key, self.app = data["key"], app
        self.res = amounts(data["resource"])
        self.priority, self.created = data["priority"], data["createTime"]
        self.opted_in = data.get("allowPreemptSelf", True)
        self.may_preempt = data.get("allowPreemptOther", True)
        self.originator = data.get("originator", False)
        self.required = data.get("requiredNode")
        self.excluded = set(data.get("excludeNodes") or ())
        self.node: Node | None = None
        self.reserved: Node | None = None
        self.triggered = self.preempted = self.gone = False
        self.tried = False


class App:
    """One application."""

    def __init__(self, data: dict[str, Any], queue: Queue) -> None:
        self.id, self.queue, self.submitted = data["id"], queue, data["submitTime"]
        self.pods: list[Pod] = []
        self.requests: list[Pod] = []  # placed ones stay in it

    def ask(self, pod: Pod) -> None:
        """Insert a request. Source: docs/semantics/yunikorn.md#order-of-requests"""

        def better(a: Pod, b: Pod) -> bool:
            return (-a.priority, a.created) < (-b.priority, b.created)

        self.pods.append(pod)
        self.submitted = min(self.submitted, pod.created)
        listed = self.requests
        if not listed or not better(pod, listed[-1]):
            listed.append(pod)
            return
        at = next(i for i, other in enumerate(listed) if not better(other, pod))
        listed.insert(at, pod)

    def asks(self) -> list[Pod]:
        return [p for p in self.requests if p.node is None and not p.gone]

    def running(self) -> list[Pod]:
        return [p for p in self.pods if p.node is not None]

    def pending(self) -> Res:
        return total(self.asks())

    def priority(self) -> int:
        return max((p.priority for p in self.asks()), default=LOWEST)


def total(pods: list[Pod]) -> Res:
    found: Res = {}
    for pod in pods:
        found = add(found, pod.res)
    return found


class Node:
    """One node."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.name, self.capacity = data["name"], amounts(data["capacity"])
        self.occupied = amounts(data.get("occupied"))
        self.open = data.get("schedulable", True)
        self.pods: list[Pod] = []
        self.reservations: list[Pod] = []
        self.seen: Res = {}  # what was available when it last moved in the order

    def available(self) -> Res:
        return add(add(self.capacity, self.occupied, -1), total(self.pods), -1)

    def moved(self) -> None:
        self.seen = self.available()


class Queue:
    """One queue; a leaf when it has no children and is not forced to be a parent."""

    def __init__(
        self, spec: dict[str, Any], parent: Queue | None, root_max: Res
    ) -> None:
        self.name, self.parent = spec["name"].lower(), parent
        self.path = f"{parent.path}.{self.name}" if parent else self.name
        below = spec.get("queues") or []
        self.leaf = parent is not None and not below and not spec.get("parent")
        sizes = spec.get("resources") or {}
        self.guaranteed = given(amounts(sizes.get("guaranteed")))
        self.max = root_max if parent is None else given(amounts(sizes.get("max")))
        self.props = self._properties(spec.get("properties") or {})
        self.children = [Queue(child, self, root_max) for child in below]
        self.apps: list[App] = []

    def _properties(self, own: dict[str, str]) -> dict[str, str]:
        above = dict(self.parent.props) if self.parent else {}
        above.pop("priority.policy", None)
        above.pop("priority.offset", None)
        if above.get("preemption.policy", "").lower() != "disabled":
            above.pop("preemption.policy", None)
        return {**above, **own}

    def route(self) -> list[Queue]:
        """Return this queue .. root."""
        return [self, *(self.parent.route() if self.parent else [])]

    def leaves(self) -> Iterator[Queue]:
        if self.leaf:
            yield self
        for child in self.children:
            yield from child.leaves()

    def walk(self) -> Iterator[Queue]:
        yield self
        for child in self.children:
            yield from child.walk()

    def everyone(self) -> list[App]:
        return [app for leaf in self.leaves() for app in leaf.apps]

    def allocated(self) -> Res:
        used = total([p for app in self.everyone() for p in app.running()])
        return {k: v for k, v in used.items() if v}

    def preempting(self) -> Res:
        apps = self.everyone()
        return total([p for a in apps for p in a.running() if p.preempted])

    def pending(self) -> Res:
        return total([p for app in self.everyone() for p in app.asks()])

    def effective_max(self) -> Res | None:
        limit: Res | None = None
        for queue in self.route():
            limit = low(limit, queue.max)
        return limit

    def headroom(self) -> Res | None:
        room: Res | None = None
        for queue in self.route():
            if queue.max is not None:
                used = queue.allocated()
                room = low(room, {k: v - used.get(k, 0) for k, v in queue.max.items()})
        return room

    def fair_max(self) -> Res:
        found: Res = {}
        for queue in reversed(self.route()):
            found |= queue.max or {}
        return found

    def share(self) -> float:
        top, limit = 0.0, self.fair_max()
        for kind, value in self.allocated().items():
            if self.guaranteed is not None and kind in self.guaranteed:
                whole = self.guaranteed[kind]
            elif kind in limit:
                whole = limit[kind]
            else:
                continue
            share = value / whole if whole > 0 else float(value > 0)
            top = max(top, share)
        return top

    @property
    def offset(self) -> int:
        return int(self.props.get("priority.offset", 0))

    @property
    def priority_fence(self) -> bool:
        return self.props.get("priority.policy", "").lower() == "fence"

    @property
    def policy(self) -> str:
        return self.props.get("preemption.policy", "default").lower()

    def by_priority(self) -> bool:
        return self.props.get("application.sort.priority", "").lower() != "disabled"

    def delay(self) -> float:
        try:
            wanted = nanoseconds(self.props.get("preemption.delay", "30s")) / 1e9
        except QuantityError:
            return 30.0
        return wanted if wanted > 0 else 30.0

    def published(self) -> int:
        """Return its priority as its parent sees it. Source: docs/semantics/yunikorn.md#priorities-of-queues"""
        inner = [a.priority() for a in self.apps] + [
            c.published() for c in self.children
        ]
        raw = max(inner, default=LOWEST)
        if raw == LOWEST:
            return LOWEST
        if self.priority_fence:
            return self.offset
        return max(LOWEST, min(2**31 - 1, raw + self.offset))

    def in_order(self) -> list[Any]:
        """Return child queues, or applications, in the order they are served."""
        return self._applications() if self.leaf else self._queues()

    def _queues(self) -> list[Queue]:
        able = [c for c in self.children if given(c.pending())]

        def compare(a: Queue, b: Queue) -> int:
            priority = b.published() - a.published()
            share = (a.share() > b.share()) - (a.share() < b.share())
            first, then = (priority, share) if self.by_priority() else (share, priority)
            more = add(a.pending(), b.pending(), -1)
            if first or then:
                return first or then
            if given(more):
                return -1
            return 1 if given(add({}, more, -1)) else 0

        return sorted(sorted(able, key=lambda c: c.name), key=cmp_to_key(compare))

    def _applications(self) -> list[App]:
        able = [a for a in self.apps if given(a.pending())]
        fair = self.props.get("application.sort.policy", "").lower() == "fair"

        def shares(app: App) -> list[float]:
            whole = self.guaranteed or {}
            used = total(app.running())
            found = [
                v / whole[k] if whole.get(k) else float(v) for k, v in used.items() if v
            ]
            return sorted(found, reverse=True)

        def key(app: App) -> tuple[Any, ...]:
            second = shares(app) if fair else app.submitted
            pair = [-app.priority(), second]
            return (*(pair if self.by_priority() else pair[::-1]), app.id)

        return sorted(able, key=key)


class World:
    """Everything a cycle reads."""

    def __init__(self, vector: dict[str, Any]) -> None:
        config = yaml.safe_load(vector["queuesYaml"])["partitions"][0]
        self.now = vector["now"]
        self.preemption = (config.get("preemption") or {}).get("enabled", True)
        policy = config.get("nodesortpolicy") or {}
        self.packing = policy.get("type") == "binpacking"
        self.weights = policy.get("resourceweights") or {"vcore": 1.0, "memory": 1.0}
        self.nodes = {n["name"]: Node(n) for n in vector["nodes"]}
        whole: Res = {}
        for node in self.nodes.values():
            whole = add(whole, node.capacity)
            node.seen = dict(node.capacity)
        self.root = Queue(config["queues"][0], None, whole)
        paths = {queue.path: queue for queue in self.root.walk()}
        self.apps: dict[str, App] = {}
        for data in vector["applications"]:
            app = self.apps[data["id"]] = App(data, paths[data["queue"].lower()])
            app.queue.apps.append(app)
        for data in vector["allocations"]:
            app = self.apps[data["app"]]
            pod = Pod(data, app)
            app.pods.append(pod)
            app.submitted = min(app.submitted, pod.created)
            self.put(pod, self.nodes[data["node"]])
        self.asks = []
        for data in vector["asks"]:
            pod = Pod(data, self.apps[data["app"]])
            pod.app.ask(pod)
            self.asks.append(pod)

    def put(self, pod: Pod, node: Node) -> None:
        pod.node = node
        node.pods.append(pod)
        node.moved()

    def drop(self, pod: Pod) -> None:
        assert pod.node is not None
        pod.node.pods.remove(pod)
        pod.node.moved()
        pod.node, pod.gone = None, True

    def score(self, node: Node) -> float:
        """Return what the node sorts by. Source: docs/semantics/yunikorn.md#order-of-nodes"""
        used = weights = 0.0
        for kind in sorted(self.weights):
            weight = self.weights[kind]
            if weight and node.capacity.get(kind):
                share = 1.0 - node.seen.get(kind, 0) / node.capacity[kind]
                used, weights = used + share * weight, weights + weight
        share = used / weights if weights else 0.0
        return 1.0 - share if self.packing else share

    def in_order(self) -> list[Node]:
        return sorted(self.nodes.values(), key=lambda n: (self.score(n), n.name))
