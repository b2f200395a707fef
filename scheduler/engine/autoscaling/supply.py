"""The nodes of groups: ordered, booted, taken away, and paid for.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from scheduler.engine.autoscaling.bill import Bill
from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.volumes.known import waits
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.amounts import is_whole
from scheduler.model.autoscaling.group_spec import (
    GROUP_LABEL,
    NODE_GROUP,
    NodeGroupSpec,
    manifest_of,
    template_node,
)
from scheduler.model.decisions import NodeChange
from scheduler.model.durations import NEVER, read_span
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Autoscaler
from scheduler.model.sentence import Sentence, plain
from scheduler.model.storage.claims import ONCE_POD

if TYPE_CHECKING:
    from scheduler.engine.kube.stage import KubeStage
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.yunikorn.stage import YunikornStage


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


# ------------------------------------------------------------------------
# A group as the autoscaler keeps it: what it says, and its nodes.


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
        """Return how many nodes the group may still order."""
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


# ------------------------------------------------------------------------
# Pods that wait for a volume or a device, which no further node brings.


def held_back(cluster: ClusterCache, pod: Pod) -> bool:
    """Return whether a pod waits for its claims, so that no group grows for it.

    Devices come with ResourceSlices, which a node that is ordered does not have.
    """
    volumes = (source.key(pod.namespace, pod.name) for source in pod.shape.claims)
    return any(_lacks_volume(cluster, key) for key in volumes) or any(
        key not in cluster.devices.allocated for key in cluster.devices.claim_keys(pod)
    )


def _lacks_volume(cluster: ClusterCache, key: Key) -> bool:
    known = cluster.volumes
    claim = known.claims.get(key)
    if claim is None or (ONCE_POD in claim.modes and key in cluster.claim_users):
        return True
    return key not in known.bound and not waits(known, claim)


# ------------------------------------------------------------------------
# When the autoscaler looks: at multiples of its interval after something happened.


class LookTimes:
    """The next look, and when nodes were ordered last; virtual milliseconds."""

    def __init__(self, context: Context, settings: Autoscaler) -> None:
        self.context = context
        self.interval_ms = read_span(settings.scan_interval).values[0]
        self.after_add_ms = read_span(settings.scale_down_delay_after_add).values[0]
        self.provision_ms = read_span(settings.max_node_provision_time).values[0]
        self.scan_ms: int | None = None
        self.added_ms: int | None = None

    @property
    def due(self) -> bool:
        """Return whether it is time to look."""
        return self.scan_ms is not None and self.scan_ms <= self.context.now_ms

    @property
    def just_added(self) -> bool:
        """Return whether nodes were ordered so lately that none is given back."""
        if self.added_ms is None:
            return False
        return self.context.now_ms < self.added_ms + self.after_add_ms

    def again(self) -> None:
        """Look at the next instant that is after now."""
        soon = self._first_from(self.context.now_ms + 1)
        self.scan_ms = soon if self.scan_ms is None else min(self.scan_ms, soon)

    def by(self, at_ms: int) -> None:
        """Look at the first instant from then on that is after now."""
        at = self._first_from(max(at_ms, self.context.now_ms + 1))
        self.scan_ms = at if self.scan_ms is None else min(self.scan_ms, at)

    def when_due(self, dues: Iterable[int]) -> None:
        """Look when the first of these nodes may go, unless a look comes anyway."""
        first = min(dues, default=None)
        if first is None or self.scan_ms is not None:
            return
        at = max(first, self.context.now_ms + 1)
        if self.added_ms is not None:
            at = max(at, self.added_ms + self.after_add_ms)
        self.scan_ms = self._first_from(at)

    def _first_from(self, at_ms: int) -> int:
        """Return the first instant from `at_ms` on at which it may look."""
        return -(-at_ms // self.interval_ms) * self.interval_ms

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"scan": self.scan_ms, "added": self.added_ms}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take back `state`."""
        self.scan_ms = state.get("scan")
        self.added_ms = state.get("added")


# ------------------------------------------------------------------------
# What the autoscaler needs of the world that it lives in.


class NodeLosing(Protocol):
    """What ends the pods of a node that is gone."""

    def lose_node(self, node: str, why: Sentence) -> None:
        """Take every pod off this node."""


class AutoscalingHost(Protocol):
    """A world, as the autoscaler sees it."""

    objects: dict[Key, Object]
    kube: KubeStage | None
    kueue: KueueStage | None
    yunikorn: YunikornStage | None

    @property
    def lifetime(self) -> NodeLosing:
        """Return the stage that ends the pods of lost nodes."""

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""
