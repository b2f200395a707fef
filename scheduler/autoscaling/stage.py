"""The autoscaler as a stage: node groups in, nodes that come and go out.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from scheduler import streams
from scheduler.autoscaling.expanders import GrowthOption, best
from scheduler.autoscaling.node_group import (
    GROUP_LABEL,
    NODE_GROUP,
    NodeGroup,
    manifest_of,
    read_group_spec,
)
from scheduler.autoscaling.packing import (
    Alike,
    alike,
    empty_node,
    fitting,
    pack,
    place,
    space_of,
    suits,
)
from scheduler.autoscaling.shrinking import Emptying, movable, utilisation
from scheduler.decisions import Decision, NodeChange
from scheduler.records.objects import Key, Object
from scheduler.records.pod import Pod
from scheduler.records.policy import Autoscaler, Policy
from scheduler.records.spans import read_span
from scheduler.stage import Context

if TYPE_CHECKING:
    from scheduler.kube.stage import KubeStage

_HOUR_MS = 3_600_000


class NodeLosing(Protocol):
    """What ends the pods of a node that is gone."""

    def lose_node(self, node: str, why: str) -> None:
        """Take every pod off this node."""


class AutoscalingHost(Protocol):
    """What the autoscaler needs of the world that it lives in."""

    objects: dict[Key, Object]
    kube: KubeStage | None

    @property
    def lifetime(self) -> NodeLosing:
        """Return what ends the pods of lost nodes."""

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""


class AutoscalingStage:
    """Orders nodes for pods that find no place, and gives back what is under-used.

    It looks at multiples of its interval, and only after something happened: a
    world at rest costs nothing.
    """

    name = "autoscaling"

    def __init__(self, context: Context, policy: Policy, host: AutoscalingHost) -> None:
        self.context = context
        self.host = host
        given = policy.spec.simulation.autoscaler
        settings = Autoscaler() if isinstance(given, msgspec.UnsetType) else given
        self.settings = settings
        self.interval_ms = read_span(settings.scan_interval).values[0]
        self.after_add_ms = read_span(settings.scale_down_delay_after_add).values[0]
        self.groups: dict[str, NodeGroup] = {}
        self.scan_ms: int | None = None  # when it looks next
        self.added_ms: int | None = None  # when nodes were ordered last
        self.paid = 0.0  # price x hours of nodes that are gone
        self.fresh = False  # a group came or was edited

    # -- the stage's contract --------------------------------------------

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a group; other kinds do not matter."""
        if obj.key.kind != NODE_GROUP:
            return
        spec = read_group_spec(obj.spec)
        known = self.groups.get(obj.key.name)
        if known is not None:
            known.edit(spec)
        else:
            state = obj.state.get(self.name, {})
            self.groups[obj.key.name] = NodeGroup(obj.key.name, spec, state)
        self.fresh = self.fresh or not restore

    def remove(self, key: Key) -> None:
        """Forget a group, whose nodes stay, or a node that is gone."""
        if key.kind == NODE_GROUP and (group := self.groups.pop(key.name, None)):
            for name in list(group.ordered):
                self._settle(group, name)
        elif key.kind == "Node":
            for group in self.groups.values():
                if key.name in group.ordered:
                    self._settle(group, key.name)
        self._look_again()

    def write(self, obj: Object) -> None:
        """Write a group's size, and what a restart needs."""
        group = self.groups.get(obj.key.name) if obj.key.kind == NODE_GROUP else None
        if group is not None:
            obj.state[self.name] = group.state()
            obj.status = {
                "nodes": group.size - len(group.booting),
                "booting": len(group.booting),
                "made": group.made,
            }

    def due(self) -> int | None:
        """Return the next instant at which a node comes, goes, or is thought of."""
        if self.fresh:
            return self.context.now_ms
        dues = [] if self.scan_ms is None else [self.scan_ms]
        for group in self.groups.values():
            dues += group.booting.values()
            dues += group.ends.values()
        return min(dues, default=None)

    def dump_state(self) -> dict[str, Any]:
        """Return when it looks next, and what was paid for nodes that are gone."""
        return {
            "scan": self.scan_ms,
            "added": self.added_ms,
            "paid": self.paid,
            "fresh": self.fresh,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.scan_ms = state.get("scan")
        self.added_ms = state.get("added")
        self.paid = float(state.get("paid", 0.0))
        self.fresh = bool(state.get("fresh", False))

    def owned(self) -> Iterable[Key]:
        """Return the groups."""
        return [Key(NODE_GROUP, "", name) for name in self.groups]

    # -- money -------------------------------------------------------------

    def cost(self) -> float:
        """Return what all nodes cost so far, from their order to now."""
        now = self.context.now_ms
        running = sum(
            (now - since) * group.spec.price_per_hour
            for group in self.groups.values()
            for since in group.ordered.values()
        )
        return self.paid + running / _HOUR_MS

    def _settle(self, group: NodeGroup, node: str) -> None:
        """Pay for a node that is gone, and forget it."""
        lasted = self.context.now_ms - group.ordered.pop(node)
        self.paid += lasted * group.spec.price_per_hour / _HOUR_MS
        for kept in (group.booting, group.ends, group.unneeded):
            kept.pop(node, None)
        self._touch(group)

    # -- one instant -------------------------------------------------------

    def react(self, decision: Decision) -> None:
        """Look again soon: something happened that may ask for nodes, or free them."""
        self._look_again()

    def _look_again(self) -> None:
        soon = self._next_look(self.context.now_ms + 1)
        self.scan_ms = soon if self.scan_ms is None else min(self.scan_ms, soon)

    def _next_look(self, at_ms: int) -> int:
        """Return the first instant from `at_ms` on at which it may look."""
        return -(-at_ms // self.interval_ms) * self.interval_ms

    def advance(self) -> None:
        """Bring the nodes that have booted, take back the spot nodes whose time is up."""
        now = self.context.now_ms
        if self.fresh:
            self.fresh = False
            self._start_groups()
        for group in self._in_order():
            booted = sorted((at, n) for n, at in group.booting.items() if at <= now)
            for _, name in booted:
                self._arrive(group, name)
            for name in sorted(n for n, at in group.ends.items() if at <= now):
                self._take_away(group, name, "SpotInterruption", "interrupted")

    def scan(self) -> None:
        """Look, when it is time: grow for what waits, give back what is not needed."""
        if self.scan_ms is None or self.scan_ms > self.context.now_ms:
            return
        self.scan_ms = None
        kube = self.host.kube
        if kube is None:
            return
        waiting = [*self._waiting(kube)]
        grown = bool(waiting) and self._grow(waiting)
        if not grown and self.settings.scale_down:
            self._shrink(kube)

    def _in_order(self) -> Iterator[NodeGroup]:
        for name in sorted(self.groups):
            yield self.groups[name]

    # -- groups and nodes ----------------------------------------------------

    def _start_groups(self) -> None:
        """Give a new group its first nodes at once; order what an edit asks for."""
        for group in self._in_order():
            first = group.spec.nodes
            if not group.started:
                group.started = True
                self._adopt(group)
                for _ in range(max(group.spec.min_nodes, first or 0) - group.size):
                    self._arrive(group, self._order(group, boots=False))
                self._touch(group)
            for _ in range(group.spec.min_nodes - group.size):
                self._order(group)

    def _adopt(self, group: NodeGroup) -> None:
        """Take the nodes that carry the group's label already; they cost from now on."""
        label = {GROUP_LABEL: group.name}.items()
        for key in sorted(key for key in self.host.objects if key.kind == "Node"):
            if label <= self.host.objects[key].labels.items():
                group.ordered[key.name] = self.context.now_ms
                number = key.name.removeprefix(f"{group.name}-")
                if number.isdecimal():
                    group.made = max(group.made, int(number))
                self._may_be_interrupted(group, key.name)

    def _order(self, group: NodeGroup, *, boots: bool = True) -> str:
        """Order one node; it is paid for from now on."""
        group.made += 1
        name = f"{group.name}-{group.made}"
        now = self.context.now_ms
        group.ordered[name] = now
        if boots:
            group.booting[name] = now + group.boot_ms(self.context.seed, name)
        self._touch(group)
        return name

    def _arrive(self, group: NodeGroup, name: str) -> None:
        """Put a node that has booted into the cluster."""
        group.booting.pop(name, None)
        self._may_be_interrupted(group, name)
        manifest = manifest_of(group.spec, group.name, name)
        status = manifest.pop("status")
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status["conditions"] = [{**ready, "message": "kubelet is posting ready status"}]
        key = Key("Node", "", name)
        plain = msgspec.to_builtins(manifest)
        self.host.put(Object(key=key, manifest=plain, status=status))
        self._touch(group)

    def _may_be_interrupted(self, group: NodeGroup, name: str) -> None:
        """Draw when a spot node is taken back."""
        rate = group.spec.spot.interruptions_per_hour if group.spec.spot else 0
        if rate:
            seed, mean = self.context.seed, _HOUR_MS / rate
            gap = streams.exponential(seed, "interruption", name, mean=mean)
            group.ends[name] = self.context.now_ms + max(1, round(gap))

    def _take_away(
        self, group: NodeGroup, name: str, reason: str, change: str, why: str = ""
    ) -> None:
        """Take a node out of the cluster; its pods are lost as on a failed one."""
        key = Key("Node", "", name)
        sentence = why or f"{name} was taken back by its provider"
        self._emit(key, change, reason, sentence)
        self.host.lifetime.lose_node(name, sentence)
        if key in self.host.objects:
            self.host.delete(key)

    def _emit(self, key: Key, change: str, reason: str, message: str) -> None:
        self.context.journal.emit(
            NodeChange(
                at_ms=self.context.now_ms,
                subject=key,
                change=change,
                reason=reason,
                message=message,
            )
        )

    def _touch(self, group: NodeGroup) -> None:
        self.context.journal.touch(Key(NODE_GROUP, "", group.name))

    # -- growing -------------------------------------------------------------

    def _waiting(self, kube: KubeStage) -> Iterator[Alike]:
        """Yield the pods that found no place and fit neither here nor where nodes boot."""
        pods = [kube.pods[key] for key in sorted(kube.pods) if _waits(kube, key)]
        if not pods:
            return
        infos = kube.nodes.node_infos
        spaces = [space_of(infos[name]) for name in sorted(infos)]
        spaces += [
            empty_node(group.template)
            for group in self._in_order()
            for _ in group.booting
        ]
        for group in alike(pods):
            left = place(group, spaces)
            if left:
                yield Alike(left)

    def _grow(self, waiting: list[Alike]) -> bool:
        """Let the best group grow, if any may; the rest is looked at next time."""
        options = [
            option
            for group in self._in_order()
            if (option := self._option(group, waiting)) is not None
        ]
        if not options:
            return False
        chosen = best(options, self.settings.expanders)
        group, before = chosen.group, chosen.group.size
        for _ in range(chosen.nodes):
            self._order(group)
        self.added_ms = self.context.now_ms
        ways = f"best of {len(options)} by {', '.join(self.settings.expanders)}"
        self._emit(
            Key(NODE_GROUP, "", group.name),
            "ordered",
            "ScaledUpGroup",
            f"{group.name} grows from {before} to {group.size} of at most "
            f"{group.spec.max_nodes} for {chosen.pods} pods"
            + (f": {ways}" if len(options) > 1 else ""),
        )
        self._look_again()
        return True

    def _option(self, group: NodeGroup, waiting: list[Alike]) -> GrowthOption | None:
        """Return what the group would add for the pods that its nodes suit."""
        suited = [one for one in waiting if self.refusal(group, one.first) == ""]
        spaces, placed = pack(suited, group.template, self._left(group))
        if not placed:
            return None
        return GrowthOption(group=group, spaces=spaces, pods=placed)

    def _left(self, group: NodeGroup) -> int:
        return max(0, group.spec.max_nodes - group.size)

    def refusal(self, group: NodeGroup, pod: Pod) -> str:
        """Return why the group does not grow for this pod; "" if it may."""
        if not self._left(group):
            return f"max node group size reached ({group.spec.max_nodes})"
        if not suits(pod, group.template):
            return "its nodes do not match the pod's selector, affinity or tolerations"
        space, one = empty_node(group.template), Alike([pod])
        if not fitting(pod, one.needs, space, 1):
            return "the pod does not fit on an empty node"
        return ""

    def refusals(self, pod: Pod) -> dict[str, str]:
        """Return, by group, why it does not grow for this pod; "" where it may."""
        return {group.name: self.refusal(group, pod) for group in self._in_order()}

    # -- shrinking -------------------------------------------------------------

    def _shrink(self, kube: KubeStage) -> None:
        """Note which nodes are under-used, and give back those that were for long."""
        trial = Emptying(kube.nodes, self.host.objects)
        ready: list[tuple[NodeGroup, str]] = []
        for group in self._in_order():
            found = [
                name
                for name in sorted(group.ordered, key=_number)
                if self._under_used(group, name, kube, trial)
            ]
            self._note_unneeded(group, found)
            ready += self._long_unneeded(group)
        self._give_back(kube, ready)
        self._look_when_due()

    def _under_used(
        self, group: NodeGroup, name: str, kube: KubeStage, trial: Emptying
    ) -> bool:
        info = kube.nodes.node_infos.get(name)
        if info is None or group.size <= group.spec.min_nodes:
            return False
        if utilisation(info) >= group.spec.scale_down_threshold and movable(info):
            return False
        return trial.may_go(info)

    def _note_unneeded(self, group: NodeGroup, found: list[str]) -> None:
        now = self.context.now_ms
        unneeded = {name: group.unneeded.get(name, now) for name in found}
        if unneeded != group.unneeded:
            group.unneeded = unneeded
            self._touch(group)

    def _long_unneeded(self, group: NodeGroup) -> list[tuple[NodeGroup, str]]:
        """Return the nodes that may go now, without going below the minimum."""
        now = self.context.now_ms
        if self.added_ms is not None and now < self.added_ms + self.after_add_ms:
            return []
        due = [
            n for n, since in group.unneeded.items() if since + group.delay_ms <= now
        ]
        return [(group, name) for name in due[: group.size - group.spec.min_nodes]]

    def _give_back(self, kube: KubeStage, ready: list[tuple[NodeGroup, str]]) -> None:
        """Remove empty nodes together, or drain a few; never both at once."""
        infos = kube.nodes.node_infos
        empty = [one for one in ready if not movable(infos[one[1]])]
        if empty:
            for group, name in empty[: self.settings.max_empty_at_once]:
                why = f"{name} was empty for {group.delay_ms / 1000:g} s"
                self._take_away(group, name, "ScaleDownEmpty", "removed", why)
        else:
            for group, name in ready[: self.settings.max_drained_at_once]:
                why = f"{name} was under-used for {group.delay_ms / 1000:g} s"
                self._take_away(group, name, "ScaleDown", "removed", why)

    def _look_when_due(self) -> None:
        """Look again when the next under-used node may go."""
        dues = [
            since + group.delay_ms
            for group in self._in_order()
            for since in group.unneeded.values()
        ]
        if not dues or self.scan_ms is not None:
            return
        at = max(min(dues), self.context.now_ms + 1)
        if self.added_ms is not None:
            at = max(at, self.added_ms + self.after_add_ms)
        self.scan_ms = self._next_look(at)


def _number(name: str) -> tuple[int, str]:
    """Return what sorts a-2 before a-10."""
    return len(name), name


def _waits(kube: KubeStage, key: Key) -> bool:
    """Return whether kube-scheduler found no node for a pod, and holds none for it."""
    if key in kube.nodes.placed:
        return False
    scheduler = kube.responsible(kube.pods[key])
    queued = scheduler.queue.entries.get(key) if scheduler is not None else None
    if queued is None or scheduler is None or key in scheduler.assumed:
        return False
    # Without any node the attempt is an error to kube-scheduler.
    failed = queued.reason == "Unschedulable" or not kube.nodes.node_infos
    return failed and not kube.pods[key].terminating
