"""Scale-down: nodes that were under-used for long go again.

Source: docs/semantics/capacity.md#scale-down.
"""

from __future__ import annotations

from scheduler.engine.autoscaling.bookings import Bookings
from scheduler.engine.autoscaling.looks import LookTimes
from scheduler.engine.autoscaling.node_group import NodeGroup, by_number
from scheduler.engine.autoscaling.placing import Placing
from scheduler.engine.autoscaling.shrinking import Emptying, movable, utilisation
from scheduler.engine.autoscaling.supply import NodeSupply
from scheduler.model.policy import Autoscaler

Due = list[tuple[NodeGroup, str]]


class GivingBack:
    """Notes which nodes are under-used, and gives back those that were for long."""

    def __init__(
        self,
        supply: NodeSupply,
        looks: LookTimes,
        settings: Autoscaler,
        bookings: Bookings,
    ) -> None:
        self.bookings = bookings
        self.supply = supply
        self.looks = looks
        self.settings = settings

    def look(self, placing: Placing) -> None:
        """Note what is under-used, and give back what is due."""
        trial = Emptying(placing.nodes, self.supply.host.objects)
        booked = self.bookings.take([*trial.spaces.values()])
        due: Due = []
        for group in self.supply.in_order():
            found = [
                name
                for name in group.names()
                if name not in booked and _under_used(group, name, placing, trial)
            ]
            self._note_unneeded(group, found)
            due += self._long_unneeded(group)
        self._give_back(placing, due)
        self.looks.when_due(
            since + group.delay_ms
            for group in self.supply.in_order()
            for since in group.unneeded.values()
        )

    def _note_unneeded(self, group: NodeGroup, found: list[str]) -> None:
        now = self.looks.context.now_ms
        unneeded = {name: group.unneeded.get(name, now) for name in found}
        if unneeded != group.unneeded:
            group.unneeded = unneeded
            self.supply.touch(group)

    def _long_unneeded(self, group: NodeGroup) -> Due:
        """Return the nodes that may go now, without going below the minimum."""
        now = self.looks.context.now_ms
        if self.looks.just_added:
            return []
        due = [n for n, at in group.unneeded.items() if at + group.delay_ms <= now]
        due.sort(key=by_number)
        return [(group, name) for name in due[: group.size - group.spec.min_nodes]]

    def _give_back(self, placing: Placing, due: Due) -> None:
        """Remove empty nodes together, or drain a few; never both at once."""
        infos = placing.nodes.node_infos
        empty = [one for one in due if not movable(infos[one[1]])]
        if empty:
            for group, name in empty[: self.settings.max_empty_at_once]:
                why = f"{name} was empty for {group.delay_ms / 1000:g} s"
                self.supply.take_away(group, name, "ScaleDownEmpty", "removed", why)
        else:
            for group, name in due[: self.settings.max_drained_at_once]:
                why = f"{name} was under-used for {group.delay_ms / 1000:g} s"
                self.supply.take_away(group, name, "ScaleDown", "removed", why)


def _under_used(group: NodeGroup, name: str, placing: Placing, trial: Emptying) -> bool:
    info = placing.nodes.node_infos.get(name)
    if info is None or group.size <= group.spec.min_nodes:
        return False
    if utilisation(info) >= group.spec.scale_down_threshold and movable(info):
        return False
    return trial.may_go(info)
