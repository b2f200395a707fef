"""Scale-up: which pods found no place, and which group grows for them.

Source: docs/semantics/capacity.md#estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scheduler.engine.autoscaling import refusals
from scheduler.engine.autoscaling.balancing import shares, similar
from scheduler.engine.autoscaling.bookings import Bookings
from scheduler.engine.autoscaling.expanders import GrowthOption, best
from scheduler.engine.autoscaling.looks import LookTimes
from scheduler.engine.autoscaling.node_group import NodeGroup
from scheduler.engine.autoscaling.packing import (
    Alike,
    NodeSpace,
    alike,
    empty_node,
    fitting,
    left_of,
    pack,
    space_of,
    suits,
)
from scheduler.engine.autoscaling.placing import Placing
from scheduler.engine.autoscaling.priorities import Priorities
from scheduler.engine.autoscaling.supply import NodeSupply
from scheduler.model import streams
from scheduler.model.autoscaling.group_spec import NODE_GROUP
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.policy import Autoscaler


class Growing:
    """Orders nodes for pods that find no place."""

    def __init__(
        self,
        supply: NodeSupply,
        looks: LookTimes,
        settings: Autoscaler,
        bookings: Bookings,
    ) -> None:
        self.bookings = bookings
        #: The nodes that boot for another autoscaler.
        self.others: Callable[[], Iterable[Node]] = tuple
        self.supply = supply
        self.looks = looks
        self.settings = settings
        self.priorities = Priorities(looks.context.journal.complain)

    def grow(self, placing: Placing) -> bool:
        """Let the best group grow, if any may; the rest is looked at next time."""
        waiting = self.waiting(placing)
        options = [
            option
            for group in (self.supply.in_order() if waiting else ())
            if (option := self._option(group, waiting)) is not None
        ]
        if not options:
            if waiting:
                self._wait_for_held()
            return False
        chosen = self.choose(options)
        ways = f"best of {len(options)} by {', '.join(self.settings.expanders)}"
        self.order(chosen, f"{chosen.pods} pods" + (f": {ways}" if options[1:] else ""))
        return True

    def _wait_for_held(self) -> None:
        """Look again when a group that did not get its nodes may grow again."""
        for group in self.supply.in_order():
            if self.supply.held(group):
                self.looks.by(group.backoff_until)

    def choose(self, options: Sequence[GrowthOption]) -> GrowthOption:
        """Return the option that the expanders prefer."""
        context = self.looks.context

        def draw(name: str) -> float:
            return streams.uniform(context.seed, "expander", name, context.now_ms)

        def priority(name: str) -> int | None:
            own = self.supply.groups[name].spec.priority
            return self.priorities.of(name, own)

        return best(options, self.settings.expanders, priority, draw)

    def order(self, chosen: GrowthOption, why: str) -> None:
        """Order the nodes of an option, and say for what."""
        given = shares(self._alike(chosen.group), chosen.nodes)
        for group in {one.name: one for one in given}.values():
            before = group.size
            for _ in range(given.count(group)):
                self.supply.order(group)
            self.supply.emit(
                Key(NODE_GROUP, "", group.name),
                "ordered",
                "ScaledUpGroup",
                f"{group.name} grows from {before} to {group.size} of at most "
                f"{group.spec.max_nodes} for {why}",
            )
        self.looks.added_ms = self.looks.context.now_ms
        self.looks.again()

    def _alike(self, group: NodeGroup) -> list[NodeGroup]:
        """Return the groups that share what this one grows by, itself included."""
        if not self.settings.balance_similar_node_groups:
            return [group]
        others = similar(group, self.supply.in_order())
        return [one for one in others if one is group or not self.supply.held(one)]

    def waiting(self, placing: Placing) -> list[Alike]:
        """Return the pods that found no place and fit neither here nor where nodes boot."""
        pods = placing.waiting()
        return self.seat(pods, self.spaces(placing)) if pods else []

    def seat(self, waiting: Iterable[Pod], spaces: list[NodeSpace]) -> list[Alike]:
        """Take what is booked and what waiting pods will take; return those without a place."""
        self.bookings.take(spaces)
        return left_of(alike(waiting), spaces)

    def spaces(self, placing: Placing, *, booting: bool = True) -> list[NodeSpace]:
        """Return the free resources of each node, booting nodes included."""
        infos = placing.nodes.node_infos
        spaces = [space_of(infos[name]) for name in sorted(infos)]
        if booting:
            for group in self.supply.in_order():
                spaces += [empty_node(group.template) for _ in group.booting]
            spaces += map(empty_node, self.others())
        return spaces

    def _option(self, group: NodeGroup, waiting: list[Alike]) -> GrowthOption | None:
        """Return what the group would add for the pods that its nodes suit."""
        suited = [one for one in waiting if self.refusal(group, one.first) == ""]
        most = sum(one.left for one in self._alike(group))
        spaces, placed = pack(suited, group.template, most)
        if not placed:
            return None
        return GrowthOption(group=group, spaces=spaces, pods=placed)

    def refusal(self, group: NodeGroup, pod: Pod) -> str:
        """Return why the group does not grow for this pod; "" if it may."""
        if self.supply.held(group):
            return refusals.BACKOFF
        if not group.left:
            return f"{refusals.FULL} ({group.spec.max_nodes})"
        if not suits(pod, group.template):
            return refusals.NO_MATCH
        space, one = empty_node(group.template), Alike([pod])
        if not fitting(pod, one.needs, space, 1):
            return refusals.TOO_SMALL
        return ""
