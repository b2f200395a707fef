"""The state that a vector of yunikorn-core starts from, and what it records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Ask, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.scheduling import cycle
from scheduler.input.manifests import queues_yaml as manifests
from scheduler.model.registry import lookup
from scheduler.model.yunikorn import resources

Vector = dict[str, Any]

MS = 1000
_MAX_CYCLES = 100_000
_IDLE = 2
_EXCLUDED = "node excluded"


class TraceListener:
    """Records what a partition decides, in the words of the vectors."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.why: dict[str, set[str]] = {}
        self.victims: list[Ask] = []
        self.states: dict[str, str] = {}  # application -> the last one
        self.cancelled: list[str] = []  # placeholders given up, not written yet
        self.released: list[Ask] = []  # victims of a changed quota
        self._replaced: Ask | None = None

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """Record an allocation, or which placeholder it replaces."""
        replaced, self._replaced = self._replaced, None
        if replaced is None:
            self.events.append({"ev": "alloc", "key": ask.key, "node": node.name})
        else:
            self.events.append(
                {
                    "ev": "replace",
                    "key": ask.key,
                    "ph": replaced.key,
                    "node": node.name,
                }
            )

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Record a reservation."""
        self.events.append({"ev": "reserve", "key": ask.key, "node": node.name})

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Leave this out: the vectors do not record it."""

    def attempting(self, ask: Ask) -> None:
        """Leave this out: the vectors do not record it."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Record a preemption."""
        keys = [victim.key for victim in victims]
        self.events.append({"ev": "preempt", "key": ask.key, "victims": keys})
        self.victims.extend(victims)

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Keep what was released until it is written with others of its kind."""
        if reason == "Replaced":
            self._replaced = ask
        elif reason == "Cancelled":
            self.cancelled.append(ask.key)
        else:
            self.released.append(ask)

    def refused(self, ask: Ask, message: str) -> None:
        """Record why an ask got nothing; the vectors leave out predicates."""
        if message != _EXCLUDED:
            self.why.setdefault(ask.key, set()).add(message)

    def entered(self, app: Application) -> None:
        """Keep the state; the vectors record the last one."""
        self.states[app.id] = str(app.state)

    def write_cancelled(self, at: int) -> None:
        """Write the placeholders given up as one event, before the others."""
        keys, self.cancelled = sorted(self.cancelled), []
        if keys:
            self.events.insert(at, {"ev": "cancelled", "keys": keys})


def build(vector: Vector, listener: TraceListener | None = None) -> Partition:
    """Return the partition in the state that the vector starts from."""
    spec = manifests.read_text(vector["queuesYaml"])
    laws = lookup("laws", vector.get("laws", "released"))()
    partition = Partition(spec, laws, listener or TraceListener())
    partition.now_ms = vector["now"] * MS
    add_nodes(partition, vector)
    for data in vector["applications"]:
        queue = partition.queue(data["queue"])
        assert queue is not None, data["queue"]
        app = Application(
            id=data["id"],
            queue=queue,
            user=data["user"],
            submit_ms=data["submitTime"] * MS,
            tags=data["tags"],
        )
        partition.add_application(app)
    for data in vector["allocations"]:
        node = partition.nodes.by_name[data["node"]]
        partition.add_allocation(read_ask(partition, data), node)
    for data in vector["asks"]:
        partition.add_ask(read_ask(partition, data))
    return partition


def add_nodes(partition: Partition, vector: Vector) -> None:
    """Add the nodes of a vector, and what other schedulers use of them."""
    for data in vector["nodes"]:
        node = SchedulingNode(
            data["name"],
            parse_all(data["capacity"]),
            schedulable=data.get("schedulable", True),
        )
        partition.add_node(node)
        if "occupied" in data:
            partition.occupy(node, parse_all(data["occupied"]))


def read_ask(partition: Partition, data: Vector) -> Ask:
    """Return the ask or allocation that an item of a vector describes."""
    excluded = frozenset(data.get("excludeNodes") or ())
    return Ask(
        key=data["key"],
        app=partition.apps[data["app"]],
        resource=_amounts(tuple(data["resource"].items())),
        priority=data["priority"],
        create_ms=data["createTime"] * MS,
        allow_self=data.get("allowPreemptSelf", True),
        allow_other=data.get("allowPreemptOther", True),
        originator=data.get("originator", False),
        required_node=data.get("requiredNode"),
        group=data.get("group", ""),
        placeholder=data.get("placeholder", False),
        predicate=_ExcludedNodes(excluded) if excluded else None,
    )


def parse_all(texts: Mapping[str, object]) -> dict[str, int]:
    """Return the amounts of a whole resource mapping; raises QuantityError."""
    return {name: resources.parse(name, text) for name, text in texts.items()}


@functools.lru_cache(maxsize=4096)
def _amounts(texts: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """Return the amounts of a resource; asks of one shape share them."""
    return parse_all(dict(texts))


class _ExcludedNodes:
    """The predicate of an ask that some nodes refuse."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        return _EXCLUDED if node.name in self.names else None


def run_cycles(
    partition: Partition,
    listener: TraceListener,
    until: Callable[[], bool] | None = None,
) -> list[str]:
    """Run cycles, the clock standing still, until done or two idle ones.

    Victims are gone after each cycle unless `until` decides; returns their keys.
    """
    idle = 0
    gone: list[str] = []
    for _ in range(_MAX_CYCLES):
        before = len(listener.events)
        partition.dirty = True
        cycle.run(partition)
        listener.write_cancelled(at=before)
        if until is not None:
            if until():
                break
        else:
            gone += _confirm(partition, listener)
        idle = idle + 1 if len(listener.events) == before else 0
        if idle == _IDLE:
            break
    return gone


def _confirm(partition: Partition, listener: TraceListener) -> list[str]:
    keys = [victim.key for victim in listener.victims]
    for victim in listener.victims:
        partition.release(victim)
        listener.events.append({"ev": "released", "key": victim.key})
    listener.victims.clear()
    return keys
