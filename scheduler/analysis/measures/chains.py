"""Why a unit comes out otherwise: from what happens to it back to the change.

Two runs of one world are equal up to the change, so each difference has a first place.

1. A node of a chain is a decision that one run makes and the other does not: a start, a
   stop, a restart or an end, of a unit or of a pod of a Workload.
2. What it comes from is an earlier such decision: of who holds, in the other run at that
   instant, what it takes; of the unit itself; else the last one before it.
3. Where there is none, or the change is of the unit, its queue or its node, the chain is
   at its end.

The decision from which one comes depends on it alone, so all chains are one forest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from scheduler.analysis.measures.lives import (
    POLICY,
    STOPS,
    Amounts,
    Life,
    Lives,
    queue_key,
)
from scheduler.model.objects import Key
from scheduler.model.sentence import Items, Named, Quantity, Sentence
from scheduler.words.chains import ChainLink, LinkedBy

Side = Literal["without", "changed"]
Event = Literal["starts", "stops", "restarts", "ends", "change"]


class Link(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A decision that only the run of `side` makes; milliseconds of virtual time.

    `cause` is the place of the link that it comes from, and `how` says in which way; -1:
    it is the change itself. `by` is who preempts. `subject` of the change is what it is of.
    """

    at_ms: int
    side: Side
    event: Event
    subject: str
    queue: str = ""
    place: str = ""
    by: str = ""
    holds: dict[str, int] = {}  # resource -> canonical units
    said: Sentence
    how: Sentence | None = None
    cause: int = -1


class _Node(NamedTuple):
    """A decision of one run that the other lacks, in the order of both."""

    at_ms: int
    order: int
    side: int  # 0: without the change
    key: Key
    event: Event
    place: str
    by: str
    held: Amounts
    reason: str

    @property
    def rank(self) -> tuple[int, int, int, Key]:
        """Return its place among all: causes come before what they lead to."""
        return self.at_ms, self.order, self.side, self.key


class Chains:
    """The chains of one pair of runs; each link is made once."""

    def __init__(self, without: Lives, changed: Lives) -> None:
        self.links: list[Link] = []
        self._sides = without, changed
        self._places: dict[tuple[int, int, int, Key], int] = {}
        self._end: int | None = None
        self._own: dict[Key, list[_Node]] = {}
        keys = {*without.units, *changed.units, *without.pods, *changed.pods}
        for key in sorted(keys):
            if found := _apart(key, *map(self._life, self._sides, (key, key))):
                self._own[key] = found
        every = (one for nodes in self._own.values() for one in nodes)
        self._all = sorted(every, key=lambda one: one.rank)
        self._pods: dict[Key, list[Key]] = {}
        for pod, owner in {**without.owners, **changed.owners}.items():
            if pod in self._own:
                self._pods.setdefault(owner, []).append(pod)
        self._change = changed.changed
        # The cohorts whose quota the change lets others have, or takes from them.
        self._changed_cohorts = {
            traits.cohort
            for side in self._sides
            for key, traits in side.traits.items()
            if traits.cohort
            and key.kind == "Workload"
            and not self._change.isdisjoint(
                {key, Key("ClusterQueue", "", traits.queue)}
            )
        }

    def of(self, key: Key, *, gains: bool) -> int | None:
        """Return where the chain of a unit begins; None where no decision differs."""
        own = [*self._own.get(key, ())]
        if not own:
            return None
        bad = 0 if gains else 1
        harm = [
            one
            for one in own
            if (one.event in ("stops", "restarts") and one.side == bad)
            or (one.event in ("starts", "ends") and one.side != bad)
        ]
        stops = [one for one in harm if one.event in ("stops", "restarts")]
        first = (stops or harm or own)[-1]
        return self._link(first)

    # -- one link --------------------------------------------------------

    def _link(self, first: _Node) -> int:
        """Return the place of a decision's link; those that it comes from are made first."""
        path: list[tuple[_Node, LinkedBy]] = []
        node: _Node | None = first
        while node is not None and node.rank not in self._places:
            before, how = self._before(node)
            path.append((node, how))
            node = before
        at = self._ending() if node is None else self._places[node.rank]
        for one, how in reversed(path):
            at = self._add(one, how, at)
        return at

    def _add(self, node: _Node, how: LinkedBy, cause: int) -> int:
        side = self._sides[node.side]
        unit = side.owners.get(node.key, node.key)
        traits = side.traits.get(unit)
        self.links.append(
            Link(
                at_ms=node.at_ms,
                side="changed" if node.side else "without",
                event=node.event,
                subject=str(unit),
                queue="" if traits is None else traits.queue,
                place=node.place,
                by=node.by,
                holds=_by_resource(node.held),
                said=_said(node, unit),
                how=how.said(),
                cause=cause,
            )
        )
        self._places[node.rank] = len(self.links) - 1
        return self._places[node.rank]

    def _ending(self) -> int:
        if self._end is None:
            names = [Named(str(key)) for key in sorted(self._change, key=_telling)]
            what = Items(tuple(names)) if names else ChainLink.NOTHING.said()
            self.links.append(
                Link(
                    at_ms=self._sides[0].from_ms,
                    side="changed",
                    event="change",
                    subject=str(min(self._change, key=_telling, default="")),
                    said=ChainLink.CHANGE.said(what=what),
                )
            )
            self._end = len(self.links) - 1
        return self._end

    # -- where it comes from ---------------------------------------------

    def _before(self, node: _Node) -> tuple[_Node | None, LinkedBy]:
        """Return the decision that this one comes from, and how; None: the change."""
        unit = self._unit(node.key)
        own = self._first_before(node, node.key)
        if own is None and unit in self._change:
            return None, LinkedBy.CHANGED
        if node.event in ("ends", "restarts"):
            return self._of_work(node, unit, own)
        if own is not None and node.event == "starts":
            return own, LinkedBy.ITSELF
        if node.event == "stops" and node.by:
            return self._of_preemption(node, own)
        if self._is_of_change(node, unit):
            return None, LinkedBy.CHANGED
        if node.event == "stops":
            return self._of_work(node, unit, own)
        found = self._holder(node, node.key, 1 - node.side)
        return found or self._of_owner(node, unit)

    def _of_work(
        self, node: _Node, unit: Key, own: _Node | None
    ) -> tuple[_Node | None, LinkedBy]:
        """Return why work ends, is lost or begins again: its own decisions, or its pods'.

        A pod that gets its place at another time, or loses it, explains more than what
        came before that.
        """
        lost = "stops" if node.event == "restarts" else "starts"
        pods = (one for pod in self._pods.get(unit, ()) for one in self._own[pod])
        of_pods = sorted(
            (one for one in pods if one.event == lost), key=lambda one: one.rank
        )
        last = self._last_before(node, of_pods)
        if last is not None and (own is None or own.rank < last.rank):
            return last, LinkedBy.PODS
        return self._otherwise(node, own)

    def _of_owner(self, node: _Node, unit: Key) -> tuple[_Node | None, LinkedBy]:
        """Return what its Workload comes from; without one what came before it at all."""
        own = None
        if unit != node.key:
            own = self._last_before(node, self._own.get(unit, ()))
        return self._otherwise(node, own)

    def _of_preemption(
        self, node: _Node, own: _Node | None
    ) -> tuple[_Node | None, LinkedBy]:
        """Return why one preempts: who takes its room, what befell it, or its victim."""
        by = _key(node.by)
        theirs = self._first_before(node, by)
        if theirs is None and by in self._change:
            return None, LinkedBy.CHANGED
        found = self._holder(node, by, node.side)
        if found is not None:
            return found
        if theirs is not None:
            return theirs, LinkedBy.ITSELF
        return self._otherwise(node, own)

    def _otherwise(
        self, node: _Node, own: _Node | None
    ) -> tuple[_Node | None, LinkedBy]:
        if own is not None:
            return own, LinkedBy.ITSELF
        if POLICY in self._change:
            return None, LinkedBy.POLICY
        if self._cohort_of(self._unit(node.key), node.side) & self._changed_cohorts:
            return None, LinkedBy.CHANGED
        last = self._last_before(node, self._all)
        if last is None:
            return None, LinkedBy.CHANGED
        same = last.at_ms == node.at_ms
        return last, LinkedBy.ORDER if same else LinkedBy.DRAW

    def _cohort_of(self, unit: Key, side: int) -> set[str]:
        """Return the cohort of a Workload, if it has one."""
        traits = self._sides[side].traits.get(unit)
        known = unit.kind == "Workload" and traits is not None and traits.cohort
        return {traits.cohort} if known and traits is not None else set()

    def _is_of_change(self, node: _Node, unit: Key) -> bool:
        """Return whether the change is of its queue, its cohort or its node."""
        traits = self._sides[node.side].traits.get(unit)
        names = {Key("Node", "", node.place)}
        if traits is not None and node.key.kind == "Workload":
            names.add(Key("ClusterQueue", "", traits.queue))
            names.add(Key("Cohort", "", traits.cohort))
        elif traits is not None:  # the queues of YuniKorn above it bound it as well
            parts = traits.queue.split(".")
            names |= {queue_key(".".join(parts[:n])) for n in range(1, len(parts) + 1)}
        return not names.isdisjoint(self._change)

    def _holder(
        self, node: _Node, needy: Key, side: int
    ) -> tuple[_Node, LinkedBy] | None:
        """Return the decision of who holds there, and not in the other run, what one needs."""
        wanted = node.held
        best: tuple[int, tuple[int, int, int, Key], _Node] | None = None
        on_nodes = needy.kind == "Pod"
        for key, nodes in self._own.items():
            if key in (needy, node.key) or (key.kind == "Pod") != on_nodes:
                continue
            before = self._last_before(node, nodes)
            if before is None:
                continue
            here = _holds(self._life(self._sides[side], key), node.at_ms)
            if here is None or _holds(
                self._life(self._sides[1 - side], key), node.at_ms
            ):
                continue
            place, held = here
            if on_nodes and place != node.place:
                continue
            shared = sum(amount for name, amount in held.items() if name in wanted)
            if not shared or (not on_nodes and not self._one_cohort(key, needy)):
                continue
            if best is None or (shared, before.rank) > best[:2]:
                best = shared, before.rank, before
        if best is None:
            return None
        return best[2], LinkedBy.NODE if on_nodes else LinkedBy.QUOTA

    def _one_cohort(self, one: Key, other: Key) -> bool:
        """Return whether two units draw on one quota."""
        found = []
        for key in (one, other):
            traits = self._sides[1].traits.get(key) or self._sides[0].traits.get(key)
            if traits is None:
                return False
            found.append(traits)
        first, second = found
        if first.queue == second.queue:
            return True
        return bool(first.cohort) and first.cohort == second.cohort

    # -- what is known of the runs ---------------------------------------

    def _last_before(self, node: _Node, ordered: Sequence[_Node]) -> _Node | None:
        at = bisect_left(ordered, node.rank, key=lambda one: one.rank)
        return ordered[at - 1] if at else None

    def _first_before(self, node: _Node, key: Key) -> _Node | None:
        """Return the first decision about a unit that differs: those after it come from it."""
        first = next(iter(self._own.get(key, ())), None)
        return first if first is not None and first.rank < node.rank else None

    def _unit(self, key: Key) -> Key:
        return self._sides[1].owners.get(key) or self._sides[0].owners.get(key, key)

    def _life(self, side: Lives, key: Key) -> Life | None:
        return side.units.get(key) or side.pods.get(key)


def _apart(key: Key, without: Life | None, changed: Life | None) -> list[_Node]:
    """Return the decisions about one unit that one run makes and the other does not."""
    sides = [list(_nodes(key, at, life)) for at, life in enumerate((without, changed))]
    names = [
        {(one.at_ms, one.event, one.place, one.by) for one in nodes} for nodes in sides
    ]
    found = [
        one
        for at, nodes in enumerate(sides)
        for one in nodes
        if (one.at_ms, one.event, one.place, one.by) not in names[1 - at]
    ]
    return sorted(found, key=lambda one: one.rank)


def _nodes(key: Key, side: int, life: Life | None) -> Iterator[_Node]:
    if life is None:
        return
    for number, (one, held) in enumerate(zip(life.stretches, life.held, strict=True)):
        order = life.orders[number]
        if one.runs and number and life.stretches[number - 1].end == "starts":
            yield _Node(
                one.from_ms, order, side, key, "starts", one.place, "", held, ""
            )
        if not one.runs or not one.end:
            continue
        event: Event = "ends"
        if one.end in STOPS:
            event = "stops"
        elif one.end == "restarts":
            event = "restarts"
        after = life.orders[number + 1]
        yield _Node(
            one.to_ms, after, side, key, event, one.place, one.by, held, one.reason
        )


def _holds(life: Life | None, at_ms: int) -> tuple[str, Amounts] | None:
    """Return where a unit runs at an instant, after all that was decided in it."""
    for one, held in zip(life.stretches, life.held, strict=True) if life else ():
        if one.runs and one.from_ms <= at_ms and (at_ms < one.to_ms or not one.end):
            return one.place, held
    return None


def _said(node: _Node, unit: Key) -> Sentence:
    amounts = _by_resource(node.held).items()
    what = Items(
        tuple(Quantity(name, str(amount)) for name, amount in amounts), all=True
    )
    who, place = Named(str(unit)), node.place
    match node.event:
        case "starts":
            return ChainLink.STARTS.said(who=who, what=what, place=place)
        case "ends":
            return ChainLink.FINISHES.said(who=who, what=what, place=place)
        case "restarts":
            return ChainLink.RESTARTS.said(who=who)
        case _ if node.by:
            return ChainLink.PREEMPTS.said(by=Named(node.by), who=who, place=place)
        case _:
            return ChainLink.STOPPED.said(who=who, place=place, why=node.reason)


def _by_resource(held: Amounts) -> dict[str, int]:
    found: dict[str, int] = {}
    for (_, resource), amount in held.items():
        if amount:
            found[resource] = found.get(resource, 0) + amount
    return found


def _telling(key: Key) -> tuple[bool, Key]:
    """Order what a change is of: jobs and queues before the Workloads made of them."""
    return key.kind in ("Workload", "Pod"), key


def _key(text: str) -> Key:
    kind, _, rest = text.partition("/")
    namespace, _, name = rest.partition("/")
    return Key(kind, namespace, name)
