"""Decision vectors of yunikorn-core: read, run on our partition, compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.manifests import yunikorn as manifests
from scheduler.registry import lookup
from scheduler.yunikorn import resources
from scheduler.yunikorn.objects.model import Application, Ask, Node
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.preemption.candidates import candidates
from scheduler.yunikorn.preemption.snapshot import Snapshot
from scheduler.yunikorn.scheduling import cycle
from scheduler.yunikorn.sorting.queues import children_in_order, share_of

Vector = dict[str, Any]


_MS = 1000
_MAX_CYCLES = 100_000
_IDLE = 2
_EXCLUDED = "node excluded"


def handles(vector: Vector) -> bool:
    """Tell whether this is a vector of yunikorn-core."""
    return "queuesYaml" in vector


def run(vector: Vector) -> list[str]:
    """Return the differences between what is expected and what we decide."""
    expected, actual = vector["expect"], _actual(vector)
    if vector["suite"] == "sort":
        return _compare_sort(expected, actual)
    differences = []
    if vector["suite"] == "nodes":
        differences += _compare_scores(expected["scores"], actual["scores"])
    if "candidates" in expected and expected["candidates"] != actual["candidates"]:
        differences.append(
            f"candidates: expected {expected['candidates']}, got {actual['candidates']}"
        )
    outcomes = [_plain(outcome) for outcome in expected["outcomes"]]
    got = _plain(actual["outcome"])
    if got not in outcomes:
        differences += _nearest(outcomes, got)
    return differences


def show(vector: Vector) -> tuple[object, object]:
    """Return what is expected and what we decide."""
    return vector["expect"], _actual(vector)


def build(vector: Vector, listener: Trace | None = None) -> Partition:
    """Return the partition in the state that the vector starts from."""
    spec = manifests.read_text(vector["queuesYaml"])
    laws = lookup("laws", vector.get("laws", "released"))()
    partition = Partition(spec, laws, listener or Trace())
    partition.now_ms = vector["now"] * _MS
    for data in vector["nodes"]:
        _add_node(partition, data)
    for data in vector["applications"]:
        queue = partition.queue(data["queue"])
        assert queue is not None, data["queue"]
        app = Application(
            id=data["id"],
            queue=queue,
            user=data["user"],
            submit_ms=data["submitTime"] * _MS,
            tags=data["tags"],
        )
        partition.add_application(app)
    shapes: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}
    for data in vector["allocations"]:
        node = partition.nodes.by_name[data["node"]]
        partition.add_allocation(_ask(partition, data, shapes), node)
    for data in vector["asks"]:
        partition.add_ask(_ask(partition, data, shapes))
    return partition


def _add_node(partition: Partition, data: Vector) -> None:
    node = Node(
        data["name"],
        resources.parse_all(data["capacity"]),
        schedulable=data.get("schedulable", True),
    )
    partition.add_node(node)
    if "occupied" in data:
        partition.occupy(node, resources.parse_all(data["occupied"]))


def _ask(partition: Partition, data: Vector, shapes: dict[Any, dict[str, int]]) -> Ask:
    shape = tuple(data["resource"].items())
    if shape not in shapes:
        shapes[shape] = resources.parse_all(data["resource"])
    excluded = frozenset(data.get("excludeNodes") or ())
    return Ask(
        key=data["key"],
        app=partition.apps[data["app"]],
        resource=shapes[shape],
        priority=data["priority"],
        create_ms=data["createTime"] * _MS,
        allow_self=data.get("allowPreemptSelf", True),
        allow_other=data.get("allowPreemptOther", True),
        originator=data.get("originator", False),
        required_node=data.get("requiredNode"),
        predicate=_Excluded(excluded) if excluded else None,
    )


class _Excluded:
    """The predicate of an ask that some nodes refuse."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __call__(self, node: Node, gone: Sequence[Ask] = ()) -> str | None:
        return _EXCLUDED if node.name in self.names else None


class Trace:
    """Writes down what a partition decides, in the words of the vectors."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.why: dict[str, set[str]] = {}
        self.victims: list[Ask] = []

    def allocated(self, ask: Ask, node: Node) -> None:
        """Write an allocation."""
        self.events.append({"ev": "alloc", "key": ask.key, "node": node.name})

    def reserved(self, ask: Ask, node: Node) -> None:
        """Write a reservation."""
        self.events.append({"ev": "reserve", "key": ask.key, "node": node.name})

    def unreserved(self, ask: Ask, node: Node) -> None:
        """Leave this out: the vectors do not record it."""

    def attempting(self, ask: Ask) -> None:
        """Leave this out: the vectors do not record it."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Write a preemption."""
        keys = [victim.key for victim in victims]
        self.events.append({"ev": "preempt", "key": ask.key, "victims": keys})
        self.victims.extend(victims)

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Leave this out: no vector has it."""

    def refused(self, ask: Ask, message: str) -> None:
        """Write why an ask got nothing; the vectors leave out what nodes say."""
        if message == _EXCLUDED:
            return
        self.why.setdefault(ask.key, set()).add(message)

    def entered(self, app: Application) -> None:
        """Leave this out: no vector has it."""


def _actual(vector: Vector) -> Any:
    trace = Trace()
    partition = build(vector, trace)
    partition.refresh()
    match vector["suite"]:
        case "sort":
            return _sorted(partition)
        case "nodes":
            return _ordered_nodes(partition)
        case "preemption":
            return _preempted(partition, trace, vector)
        case _:
            return _cycled(partition, trace, vector)


# -- sort and nodes


def _sorted(partition: Partition) -> Vector:
    found: Vector = {"queues": {}, "apps": {}, "requests": {}}
    positional = partition.laws.positional
    for queue in partition.root.walk():
        if not queue.leaf:
            order = children_in_order(queue, positional=positional)
            found["queues"][queue.path] = {
                "order": [child.path for child in order],
                "share": {child.path: share_of(child) for child in order},
                "priority": {child.path: child.published for child in order},
            }
            continue
        apps = list(queue.in_order())
        found["apps"][queue.path] = {
            "order": [app.id for app in apps],
            "priority": {app.id: app.priority for app in apps},
        }
        for app in queue.apps.values():
            if app.requests:
                found["requests"][app.id] = {"order": [r.key for r in app.requests]}
    return found


def _compare_sort(expected: Vector, actual: Vector) -> list[str]:
    differences = []
    for part in ("queues", "apps", "requests"):
        for name, want in expected[part].items():
            got = actual[part].get(name, {"order": []})
            if got["order"] not in want["outcomes"]:
                differences.append(
                    f"{part} {name}: expected one of {want['outcomes']}, "
                    f"got {got['order']}"
                )
            differences += [
                f"{part} {name}: {key} expected {want[key]}, got {got.get(key)}"
                for key in ("share", "priority")
                if key in want and want[key] != got.get(key)
            ]
    return differences


def _ordered_nodes(partition: Partition) -> Vector:
    nodes = partition.nodes
    return {
        "outcome": [node.name for node in nodes],
        "scores": {
            node.name: nodes.sort.score(nodes.used_share(node)) for node in nodes
        },
    }


def _compare_scores(expected: Vector, actual: Vector) -> list[str]:
    """Compare up to the last bits: the real one sums in random order."""
    return [
        f"score of {name}: expected {want}, got {actual.get(name)}"
        for name, want in expected.items()
        if abs(want - actual.get(name, 1e9)) > 1e-12
    ]


# -- cycles


def _preempted(partition: Partition, trace: Trace, vector: Vector) -> Vector:
    first = partition.asks[vector["asks"][0]["key"]]
    snapshot = Snapshot(partition.root.walk(), first.app.queue)
    found = {
        path: sorted(pod.key for pod in pods)
        for path, pods in candidates(snapshot, first).items()
    }
    _run(partition, trace, until=lambda: first.triggered or first.node is not None)
    return {"candidates": found, "outcome": _outcome(first, trace)}


def _outcome(first: Ask, trace: Trace) -> Vector:
    node = first.node or first.reserved_on
    kinds = {event["ev"] for event in trace.events}
    kind = next((k for k in ("alloc", "preempt", "reserve") if k in kinds), "none")
    return {
        "outcome": kind,
        "node": node.name if node else "",
        "victims": [victim.key for victim in trace.victims],
        "trace": trace.events,
        "why": trace.why,
    }


def _cycled(partition: Partition, trace: Trace, vector: Vector) -> Vector:
    gone: list[str] = []

    def confirm() -> bool:
        for victim in trace.victims:
            partition.release(victim)
            trace.events.append({"ev": "released", "key": victim.key})
            gone.append(victim.key)
        trace.victims.clear()
        return False

    asks = [partition.asks[data["key"]] for data in vector["asks"]]
    _run(partition, trace, until=confirm)
    placed = [event for event in trace.events if event["ev"] == "alloc"]
    final = {event["key"]: event["node"] for event in placed}
    pending = sorted(a.key for a in asks if a.node is None and a.key not in gone)
    outcome = {
        "outcome": "done",
        "node": "",
        "victims": [],
        "trace": trace.events,
        "why": trace.why,
        "final": final,
        "pending": pending,
        "gone": sorted(gone),
    }
    return {"outcome": outcome}


def _run(partition: Partition, trace: Trace, until: Any) -> None:
    """Run cycles, the clock standing still, until done or two idle ones."""
    idle = 0
    for _ in range(_MAX_CYCLES):
        before = len(trace.events)
        partition.dirty = True
        cycle.run(partition)
        if until():
            return
        idle = idle + 1 if len(trace.events) == before else 0
        if idle == _IDLE:
            return


def _plain(outcome: Any) -> Any:
    """Return an outcome in one shape: sets sorted, absent parts empty."""
    if not isinstance(outcome, dict):
        return outcome
    why = {key: sorted(texts) for key, texts in outcome["why"].items() if texts}
    return {
        **outcome,
        "why": why,
        "final": outcome.get("final") or {},
        "pending": sorted(outcome.get("pending") or []),
        "gone": sorted(outcome.get("gone") or []),
    }


def _nearest(outcomes: list[Any], got: Any) -> list[str]:
    """Return the differences to the first expected outcome, part by part."""
    want = outcomes[0]
    if not isinstance(want, dict):
        return [f"expected one of {outcomes}, got {got}"]
    many = f" (one of {len(outcomes)})" if len(outcomes) > 1 else ""
    return [
        f"{part}: expected {want[part]}, got {got[part]}{many}"
        for part in want
        if want[part] != got[part]
    ]
