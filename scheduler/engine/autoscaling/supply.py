"""The nodes of groups: ordered, booted, taken away, and paid for.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Protocol

import msgspec

from scheduler.engine.autoscaling.bill import Bill
from scheduler.engine.autoscaling.host import AutoscalingHost
from scheduler.engine.autoscaling.node_group import NodeGroup
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.amounts import is_whole
from scheduler.model.autoscaling.group_spec import (
    GROUP_LABEL,
    NODE_GROUP,
    NodeGroupSpec,
    manifest_of,
)
from scheduler.model.decisions import NodeChange
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import plain

HOUR_MS = 3_600_000
_FIRST_BACKOFF_MS, _LONGEST_BACKOFF_MS = 5 * 60_000, 30 * 60_000
_FORGET_MS = 3 * HOUR_MS
_READY = {
    "type": "Ready",
    "status": "True",
    "reason": "KubeletReady",
    "message": "kubelet is posting ready status",
}


class Numbered(Protocol):
    """What names its nodes by its own name and a number that never repeats."""

    name: str
    made: int


class NodeSupply:
    """Every group by name, its nodes, and what was paid for those that are gone."""

    def __init__(self, context: Context, host: AutoscalingHost) -> None:
        self.context = context
        self.host = host
        self.groups: dict[str, NodeGroup] = {}
        self.bill = Bill()

    def in_order(self) -> Iterator[NodeGroup]:
        """Yield the groups by name."""
        for name in sorted(self.groups):
            yield self.groups[name]

    def cost(self, others: Iterable[tuple[float, int]] = ()) -> float:
        """Return the cost of all nodes so far, from their order to now.

        `others`: price and milliseconds of nodes that are no group's.
        """
        now = self.context.now_ms
        own = (entry for group in self.groups.values() for entry in group.costs(now))
        return self.bill.total(chain(own, others))

    # -- groups ------------------------------------------------------------

    def edit(self, group: NodeGroup, spec: NodeGroupSpec) -> None:
        """Take an edited group; another price holds from now on."""
        now = self.context.now_ms
        if spec.price_per_hour != group.spec.price_per_hour:
            self.bill.add(group.costs(now))
            group.priced_ms = now
        group.edit(spec)

    def drop_group(self, name: str) -> None:
        """Forget a group; its nodes stay and cost nothing from now on."""
        group = self.groups.pop(name, None)
        if group is not None:
            self.bill.add(group.costs(self.context.now_ms))

    def start_groups(self) -> None:
        """Give a new group its first nodes at once; order what an edit asks for."""
        for group in self.in_order():
            least = group.spec.min_nodes
            if not group.started:
                group.started = True
                self._adopt(group)
                for _ in range(max(least, group.spec.nodes or 0) - group.size):
                    self._arrive(group, self.order(group, boots=False))
                self.touch(group)
            for _ in range(least - group.size):
                self.order(group)

    def _adopt(self, group: NodeGroup) -> None:
        """Take the nodes that carry the group's label already; they cost from now on."""
        label = {GROUP_LABEL: group.name}.items()
        for key in sorted(key for key in self.host.objects if key.kind == "Node"):
            if label <= self.host.objects[key].labels.items():
                group.ordered[key.name] = self.context.now_ms
                number = key.name.removeprefix(f"{group.name}-")
                if is_whole(number):
                    group.made = max(group.made, int(number))
                self._may_be_interrupted(group, key.name)

    # -- nodes ---------------------------------------------------------------

    def order(self, group: NodeGroup, *, boots: bool = True) -> str:
        """Order one node; it is paid for from now on."""
        name, now = self.free_name(group), self.context.now_ms
        group.ordered[name] = now
        if boots:
            group.booting[name] = now + group.boot_ms(self.context.seed, name)
        self.touch(group)
        return name

    def free_name(self, of: Numbered) -> str:
        """Return the next name of a group's or pool's nodes that no other node has."""
        while True:
            of.made += 1
            name = f"{of.name}-{of.made}"
            if Key("Node", "", name) not in self.host.objects:
                return name

    def bring_booted(self) -> None:
        """Bring the nodes that have booted, take back the spot nodes whose time is up."""
        now = self.context.now_ms
        for group in self.in_order():
            for _, name in sorted((at, n) for n, at in group.booting.items()):
                if group.booting[name] <= now:
                    self._arrive(group, self._still_free(group, name))
            for name in sorted(n for n, at in group.ends.items() if at <= now):
                self.take_away(group, name, "SpotInterruption", "interrupted")

    def drop_late(self, most_ms: int) -> None:
        """Give up nodes that did not come in time; their groups wait ever longer."""
        now = self.context.now_ms
        for group in self.in_order():
            late = [
                name
                for name in group.names()
                if name in group.booting and group.ordered[name] + most_ms <= now
            ]
            for name in late:
                self.drop_node(name)
            if late:
                self._back_off(group, late, most_ms)

    def _back_off(self, group: NodeGroup, late: list[str], most_ms: int) -> None:
        now = self.context.now_ms
        if now - group.failed_ms >= _FORGET_MS:
            group.backoff_ms = 0
        longer = min(2 * group.backoff_ms, _LONGEST_BACKOFF_MS)
        group.backoff_ms = longer or _FIRST_BACKOFF_MS
        group.backoff_until, group.failed_ms = now + group.backoff_ms, now
        self.emit(
            Key(NODE_GROUP, "", group.name),
            "failed",
            "ScaleUpTimedOut",
            f"{len(late)} nodes of {group.name} did not come in {most_ms / 1000:g} s; "
            f"it does not grow for {group.backoff_ms / 1000:g} s",
        )

    def held(self, group: NodeGroup) -> bool:
        """Return whether the group waits because its nodes did not come."""
        return self.context.now_ms < group.backoff_until

    def _still_free(self, group: NodeGroup, name: str) -> str:
        """Return the node's name, or another if a person has taken it meanwhile."""
        if Key("Node", "", name) not in self.host.objects:
            return name
        free = self.free_name(group)
        group.ordered[free] = group.ordered.pop(name)
        group.booting.pop(name, None)
        return free

    def _arrive(self, group: NodeGroup, name: str) -> None:
        """Put a node that has booted into the cluster."""
        group.booting.pop(name, None)
        self._may_be_interrupted(group, name)
        self.host.put(ready_node(manifest_of(group.spec, group.name, name)))
        self.touch(group)

    def _may_be_interrupted(self, group: NodeGroup, name: str) -> None:
        """Draw when a spot node is taken back."""
        rate = group.spec.spot.interruptions_per_hour if group.spec.spot else 0
        if rate:
            seed, mean = self.context.seed, HOUR_MS / rate
            gap = streams.exponential(seed, "interruption", name, mean=mean)
            group.ends[name] = self.context.now_ms + max(1, round(gap))

    def take_away(
        self, group: NodeGroup, name: str, reason: str, change: str, why: str = ""
    ) -> None:
        """Take a node out of the cluster; its pods are lost as on a failed one."""
        key = Key("Node", "", name)
        sentence = why or f"{name} was taken back by its provider"
        self.emit(key, change, reason, sentence + self._paid_for(group, name))
        self.host.lifetime.lose_node(name, plain(sentence))
        if key in self.host.objects:
            self.host.delete(key)

    def _paid_for(self, group: NodeGroup, name: str) -> str:
        """Return what one node cost, at the price that holds now."""
        price, since = group.spec.price_per_hour, group.ordered[name]
        cost = price * (self.context.now_ms - since) / HOUR_MS
        return f"; it cost {cost:.2f}" if price else ""

    def drop_node(self, name: str) -> None:
        """Pay for a node that is gone, and forget it."""
        now = self.context.now_ms
        for group in self.groups.values():
            if name in group.ordered:
                since = max(group.ordered[name], group.priced_ms)
                self.bill.add([(group.spec.price_per_hour, now - since)])
                group.forget(name)
                self.touch(group)

    # -- what is said of them ------------------------------------------------

    def emit(self, key: Key, change: str, reason: str, message: str) -> None:
        """Note that a node or a group changed, and why."""
        self.context.journal.emit(
            NodeChange(
                at_ms=self.context.now_ms,
                subject=key,
                change=change,
                reason=reason,
                message=message,
            )
        )

    def touch(self, group: NodeGroup) -> None:
        """Note that the group's status or state changed."""
        self.context.journal.touch(Key(NODE_GROUP, "", group.name))


def ready_node(document: Mapping[str, Any]) -> Object:
    """Return the Node of a document with its status, Ready."""
    manifest: dict[str, Any] = msgspec.to_builtins(document)
    status = {**manifest.pop("status"), "conditions": [dict(_READY)]}
    key = Key("Node", "", manifest["metadata"]["name"])
    return Object(key=key, manifest=manifest, status=status)
