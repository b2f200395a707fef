"""Scale-up: which pods found no place, and which group grows for them.

Source: docs/semantics/capacity.md#estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.engine.autoscaling import refusals
from scheduler.engine.autoscaling.bookings import Bookings
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
from scheduler.engine.autoscaling.shrinking import Placing
from scheduler.engine.autoscaling.supply import LookTimes, NodeGroup, NodeSupply
from scheduler.model import streams
from scheduler.model.amounts import whole
from scheduler.model.autoscaling.group_spec import GROUP_LABEL, NODE_GROUP
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.node import CPU, HOSTNAME, MEMORY, REGION, ZONE, Node
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Autoscaler
from scheduler.model.problems import GivenUp, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import Pattern, read_pattern
from scheduler.model.texts.values import read_value


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


# ------------------------------------------------------------------------
# Which of the groups that would help grows.


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthOption:
    """A group, the nodes that it would add, and how many pods they would take."""

    group: NodeGroup
    spaces: list[NodeSpace]
    pods: int

    @property
    def nodes(self) -> int:
        """Return how many nodes the option would add."""
        return len(self.spaces)

    @property
    def waste(self) -> float:
        """Return the share of cpu and of memory that would stay idle, summed."""
        return sum(self._idle(resource) for resource in (CPU, MEMORY))

    @property
    def price(self) -> float:
        """Return the price per hour of the nodes it would add."""
        return self.nodes * self.group.spec.price_per_hour

    def _idle(self, resource: str) -> float:
        whole = sum(space.node.allocatable.get(resource, 0) for space in self.spaces)
        idle = sum(space.free.get(resource, 0) for space in self.spaces)
        return idle / whole if whole else 0.0


#: The priority of each group, and a number drawn from the seed.
Priority = Callable[[str], int | None]
Draw = Callable[[str], float]
#: Of each expander: the least of this is best.
_ORDERS: dict[str, Callable[[GrowthOption], float]] = {
    "least-waste": lambda option: option.waste,
    "price": lambda option: option.price / option.pods,
    "most-pods": lambda option: -option.pods,
    "least-nodes": lambda option: option.nodes,
}


def best(
    options: Sequence[GrowthOption],
    expanders: Sequence[str],
    priority: Priority,
    draw: Draw,
) -> GrowthOption:
    """Return the option that the expanders leave, each asked about the ties before.

    What is left over is decided by name. A group without a priority is out where
    another has one.
    """
    left = sorted(options, key=lambda option: option.group.name)
    for name in expanders:
        if name == "priority":
            left = _highest(left, priority)
            continue
        order = _ORDERS.get(name) or (lambda option: draw(option.group.name))
        least = min(order(option) for option in left)
        left = [option for option in left if order(option) == least]
    return left[0]


def _highest(left: list[GrowthOption], priority: Priority) -> list[GrowthOption]:
    given = {option.group.name: priority(option.group.name) for option in left}
    most = max((one for one in given.values() if one is not None), default=None)
    return [option for option in left if given[option.group.name] == most]


# ------------------------------------------------------------------------
# Groups that are alike but for their zone grow together.


_IGNORED = frozenset(
    {
        GROUP_LABEL,
        HOSTNAME,
        REGION,
        ZONE,
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
    }
)


def similar(group: NodeGroup, groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return the groups whose nodes are equal to this one's, itself included."""
    return [one for one in groups if _alike(one) == _alike(group)]


def _alike(group: NodeGroup) -> tuple[object, ...]:
    node = group.template
    labels = {k: v for k, v in node.labels.items() if k not in _IGNORED}
    return sorted(labels.items()), node.taints, sorted(node.allocatable.items())


def shares(groups: Iterable[NodeGroup], nodes: int) -> list[NodeGroup]:
    """Return the group of each of `nodes` new nodes: always the smallest that may grow."""
    sizes = {one.name: one.size for one in groups}
    by_name = {one.name: one for one in groups}
    given: list[NodeGroup] = []
    for _ in range(nodes):
        able = [n for n, one in by_name.items() if sizes[n] < one.spec.max_nodes]
        if not able:
            break
        least = min(able, key=lambda name: (sizes[name], name))
        sizes[least] += 1
        given.append(by_name[least])
    return given


# ------------------------------------------------------------------------
# The ConfigMap of the priority expander: patterns of names, by priority.


CONFIG_MAP = Key("ConfigMap", "kube-system", "cluster-autoscaler-priority-expander")
_FIELD = "priorities"

Rules = list[tuple[int, list[Pattern]]]


class Priorities:
    """Which groups come first: by the ConfigMap while it is there, else their own."""

    def __init__(self, complain: Callable[[Sentence], None]) -> None:
        self.complain = complain
        self.rules: Rules | None = None
        self.text: str | None = None  # what the rules were read from
        self.outdated = False  # the ConfigMap says something else, not to be read

    def put(self, obj: Object) -> None:
        """Take the ConfigMap; one that cannot be read changes nothing, with a word."""
        if obj.key != CONFIG_MAP:
            return
        data = obj.manifest.get("data") or {}
        try:
            self.rules = read_priorities(data)
        except QuantityError as error:
            self.outdated = True
            self.complain(GivenUp.PRIORITIES.said(key=CONFIG_MAP.path, problem=error))
        else:
            self.text, self.outdated = str(data[_FIELD]), False

    def remove(self, key: Key) -> None:
        """Forget the ConfigMap."""
        if key == CONFIG_MAP:
            self.rules, self.text, self.outdated = None, None, False

    def state(self) -> dict[str, str]:
        """Return the rules that hold where the ConfigMap no longer says them."""
        kept = self.outdated and self.text is not None
        return {_FIELD: self.text or ""} if kept else {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take back `state`."""
        if _FIELD in state:
            self.rules, self.text = read_priorities(state), state[_FIELD]

    def of(self, name: str, own: int) -> int | None:
        """Return a group's priority; None if the ConfigMap names it nowhere."""
        if self.rules is None:
            return own
        return next(
            (
                number
                for number, patterns in self.rules
                if any(pattern.found_in(name) for pattern in patterns)
            ),
            None,
        )


def read_priorities(data: Any) -> Rules:
    """Return the rules, highest first. Raises QuantityError."""
    text = (data or {}).get(_FIELD)
    if not isinstance(text, str | None):
        raise QuantityError(
            expected(Wanted.TEXT, given=f"{text!r:.40}"), f"data.{_FIELD}"
        )
    try:
        found = read_value(text or "", file=CONFIG_MAP.path)
        rules = [
            (whole(number), [read_pattern(str(one)) for one in given])
            for number, given in found.items()
        ]
    except (SchedulerError, AttributeError, TypeError) as error:
        raise QuantityError(
            expected(Wanted.PATTERNS, given=error), f"data.{_FIELD}"
        ) from error
    return sorted(rules, key=lambda rule: -rule[0])
