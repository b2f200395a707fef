"""A group as the autoscaler keeps it: what it says, and its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.autoscaling.group_spec import NodeGroupSpec, template_node
from scheduler.model.spans import NEVER, read_span


class NodeGroup:
    """A group as the autoscaler keeps it: what it says, and its nodes.

    `ordered` has every node that is paid for and since when, `booting` those that
    do not exist yet and when they will be, `ends` when a spot node is taken back,
    `unneeded` since when a node is under-used, `priced_ms` since when its present
    price holds. Virtual milliseconds. No order of these dictionaries means
    anything: a copy has them by name.
    """

    __slots__ = (
        "backoff_ms",
        "backoff_until",
        "booting",
        "delay_ms",
        "ends",
        "failed_ms",
        "made",
        "name",
        "ordered",
        "priced_ms",
        "spec",
        "started",
        "template",
        "unneeded",
    )

    def __init__(
        self, name: str, spec: NodeGroupSpec, state: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.made = int(state.get("made", 0))  # nodes ever: names never repeat
        self.started = bool(state.get("started", False))
        self.priced_ms = int(state.get("priced", 0))
        #: Since nodes did not come: how long it waits, until when, since when.
        backoff: list[int] = list(state.get("backoff", (0, 0, 0)))
        self.backoff_ms, self.backoff_until, self.failed_ms = backoff
        self.ordered: dict[str, int] = dict(state.get("ordered", {}))
        self.booting: dict[str, int] = dict(state.get("booting", {}))
        self.ends: dict[str, int] = dict(state.get("ends", {}))
        self.unneeded: dict[str, int] = dict(state.get("unneeded", {}))
        self.edit(spec)

    def edit(self, spec: NodeGroupSpec) -> None:
        """Take what the group says from now on."""
        self.spec = spec
        self.template = template_node(spec, self.name)
        self.delay_ms = read_span(spec.scale_down_delay).values[0]

    @property
    def size(self) -> int:
        """Return how many nodes it has, those that boot included."""
        return len(self.ordered)

    @property
    def left(self) -> int:
        """Return how many nodes it may still order."""
        return max(0, self.spec.max_nodes - self.size)

    def names(self) -> list[str]:
        """Return its nodes in the order in which they were made."""
        return sorted(self.ordered, key=by_number)

    def costs(self, now_ms: int) -> Iterator[tuple[float, int]]:
        """Yield, per node, the present price and for how long (ms) it was paid."""
        for since in self.ordered.values():
            yield self.spec.price_per_hour, now_ms - max(since, self.priced_ms)

    def boot_ms(self, seed: int, name: str) -> int:
        """Return how long this node takes to boot."""
        delay = read_span(self.spec.boot_time).draw(seed, "boot", name)
        return min(delay, NEVER)

    def forget(self, node: str) -> None:
        """Drop a node that is gone."""
        for kept in (self.ordered, self.booting, self.ends, self.unneeded):
            kept.pop(node, None)

    def state(self) -> dict[str, Any]:
        """Return plain values from which the group is made again."""
        state: dict[str, Any] = {
            "made": self.made,
            "started": self.started,
            "ordered": dict(self.ordered),
            "booting": dict(self.booting),
            "ends": dict(self.ends),
            "unneeded": dict(self.unneeded),
        }
        if self.backoff_ms:
            state["backoff"] = [self.backoff_ms, self.backoff_until, self.failed_ms]
        if self.priced_ms:
            state["priced"] = self.priced_ms
        return state


def by_number(name: str) -> tuple[int, str]:
    """Return a sort key that puts a-2 before a-10."""
    return len(name), name
