"""Why a unit comes out otherwise: from what happens to it back to the change.

Two runs of one world are equal up to the change, so each difference has a first place.

1. A node of a chain is a decision that one run makes and the other does not: a start, a
   stop, a restart or an end, of a unit or of a pod of one.
2. What it comes from is an earlier such decision: of who holds, in the other run at that
   instant, what it takes; of the unit itself; else the last one before it.
3. Where there is none, or the change is of the unit, its queue or its node, the chain is
   at its end.

The decision from which one comes depends on it alone, so all chains are one forest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from scheduler.analysis.measures.lives import POLICY, Lives, queue_key
from scheduler.analysis.measures.units import STOPS, Amounts, Life, is_joined
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


class _Holder(NamedTuple):
    """Who holds in one run alone what another needs.

    `near`: it is of the change, or it comes or goes at the very instant. `lasts`: it
    holds that until the other starts, or the horizon.
    """

    near: bool
    lasts: bool
    by: LinkedBy
    shared: int
    rank: tuple[int, int, int, Key]
    last: _Node | None  # what befell it last; None: it is of the change

    @property
    def explains(self) -> tuple[bool, bool, bool, int, tuple[int, int, int, Key]]:
        """Return how much it explains: the nearest most, room on a node before quota."""
        on_node = self.by == LinkedBy.NODE
        return self.near, self.lasts, on_node, self.shared, self.rank


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
        self._all = _ranked(one for nodes in self._own.values() for one in nodes)
        self._own = {}
        for one in self._all:
            self._own.setdefault(one.key, []).append(one)
        self._pods: dict[Key, list[Key]] = {}
        for pod, owner in {**without.owners, **changed.owners}.items():
            if pod in self._own:
                self._pods.setdefault(owner, []).append(pod)
        self._makers = {**without.makers, **changed.makers}
        self._change = changed.changed | {
            key for key, made in self._makers.items() if made in changed.changed
        }
        self._change |= {
            unit
            for side in self._sides
            for unit, pods in side.members.items()
            if not self._change.isdisjoint(pods)
        }
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
            pods = (one for pod in self._pods.get(key, ()) for one in self._own[pod])
            own = sorted(pods, key=lambda one: one.rank)
        if not own:
            return self._ending() if is_joined(key) and key in self._change else None
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
        unit = self._unit(node.key)
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
            of = self._sides[1].changed
            change = [  # a Job, and not the Workload that is made of it besides
                key for key in of if self._makers.get(key, key) not in of - {key}
            ]
            names = [Named(str(key)) for key in sorted(change, key=_telling)]
            what = Items(tuple(names)) if names else ChainLink.NOTHING.said()
            self.links.append(
                Link(
                    at_ms=self._sides[0].from_ms,
                    side="changed",
                    event="change",
                    subject=str(min(change, key=_telling, default="")),
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
        if node.event in ("ends", "restarts") or is_joined(node.key):
            return self._of_work(node, unit, own)
        if own is not None and node.event == "starts":
            return own, LinkedBy.ITSELF
        if node.event == "stops" and node.by:
            return self._of_preemption(node, own)
        if self._is_of_change(node, unit):
            return None, LinkedBy.CHANGED
        if node.event == "stops":
            return self._of_work(node, unit, own)
        return self._of_start(node, unit)

    def _of_start(self, node: _Node, unit: Key) -> tuple[_Node | None, LinkedBy]:
        """Return why one starts there and then: who is in its way in the other run."""
        other = self._sides[1 - node.side]
        if unit != node.key and not _holds(self._life(other, unit), node.at_ms, None):
            return self._of_owner(node, unit)  # it was not admitted there
        found = (
            one
            for one in self._own[node.key]
            if one.event == "starts" and one.at_ms == node.at_ms and one != node
        )
        elsewhere = next(found, None) if node.key.kind == "Pod" else None
        if elsewhere is not None and self._is_of_change(elsewhere, unit):
            return None, LinkedBy.CHANGED
        held = self._holders(node, node.key, 1 - node.side)
        if elsewhere is not None:
            there = node._replace(place=elsewhere.place)
            held = [*held, *self._holders(there, node.key, node.side)]
        if held:
            last, how = _told(held)
            if last is not None and last.by == str(node.key):  # it made its own room
                return self._of_preemption(last, None)
            return last, how
        if elsewhere is not None and any(key.kind == "Node" for key in self._change):
            return None, LinkedBy.NODES
        return self._of_owner(node, unit)

    def _of_work(
        self, node: _Node, unit: Key, own: _Node | None
    ) -> tuple[_Node | None, LinkedBy]:
        """Return why work ends, is lost or begins again: its own decisions, or its pods'.

        A pod that gets its place at another time, or loses it, explains more than what
        came before that.
        """
        stopped = node.event == "stops" and is_joined(node.key)
        lost = "stops" if stopped or node.event == "restarts" else "starts"
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
        if by in self._change or self._is_of_change(node, by):
            return None, LinkedBy.CHANGED
        theirs = self._first_before(node, by)
        if held := [one for side in (0, 1) for one in self._holders(node, by, side)]:
            return _told(held)
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

    def _holders(self, node: _Node, needy: Key, side: int) -> list[_Holder]:
        """Return who holds there, and not in the other run, what one needs."""
        found = []
        for key in {**self._own, **dict.fromkeys(self._change)}:
            if key in (needy, node.key) or key.kind != needy.kind:
                continue
            before = self._last_before(node, self._own.get(key, ()))
            if before is None and key not in self._change:
                continue
            near = key in self._change or (
                before is not None
                and before[:1] == node[:1]
                and before.side == node.side
            )
            rank = (-1, 0, 0, key) if before is None else before.rank
            place = node.place if needy.kind == "Pod" else None
            by = LinkedBy.QUOTA if place is None else LinkedBy.NODE
            shared = self._shared(node, key, side, place)
            if not shared and place is not None:  # YuniKorn's queues bound pods as well
                by, place = LinkedBy.QUOTA, None
                shared = self._shared(node, key, side, None)
            if shared and (place is not None or self._one_cohort(key, needy)):
                until = self._starts(node, side)
                lasts = bool(_holds(self._life(self._sides[side], key), until, place))
                found.append(_Holder(near, lasts, by, shared, rank, before))
        return found

    def _starts(self, node: _Node, side: int) -> int:
        """Return the last instant before a unit starts in one run, or the horizon."""
        life = self._life(self._sides[side], node.key)
        for one in life.stretches if life else ():
            if one.runs and one.from_ms > node.at_ms:
                return one.from_ms - 1
        return self._sides[side].to_ms

    def _shared(self, node: _Node, key: Key, side: int, place: str | None) -> int:
        """Return how much of what a decision takes another holds in one run alone."""
        here, there = (
            _holds(self._life(one, key), node.at_ms, place)
            for one in (self._sides[side], self._sides[1 - side])
        )
        return sum(
            max(0, amount - there.get(name, 0))
            for name, amount in here.items()
            if name in node.held
        )

    def _one_cohort(self, one: Key, other: Key) -> bool:
        """Return whether two units draw on one quota."""
        found = []
        for key in (one, other):
            traits = self._sides[1].traits.get(key) or self._sides[0].traits.get(key)
            if traits is None:
                return False
            found.append(traits)
        first, second = found
        if one.kind == "Pod":  # without YuniKorn it has no quota
            return bool(first.cohort) and first.queue == second.queue
        if first.queue == second.queue:
            return True
        return bool(first.cohort) and first.cohort == second.cohort

    # -- what is known of the runs ---------------------------------------

    def _last_before(self, node: _Node, ordered: Sequence[_Node]) -> _Node | None:
        at = bisect_left(ordered, node)  # by rank: their first fields, no two alike
        return ordered[at - 1] if at else None

    def _first_before(self, node: _Node, key: Key) -> _Node | None:
        """Return the first decision about a unit that differs: those after it come from it."""
        first = next(iter(self._own.get(key, ())), None)
        return first if first is not None and first.rank < node.rank else None

    def _unit(self, key: Key) -> Key:
        """Return the Workload of a pod; a pod of a gang or an application counts itself."""
        found = self._sides[1].owners.get(key) or self._sides[0].owners.get(key, key)
        return key if is_joined(found) else found

    def _life(self, side: Lives, key: Key) -> Life | None:
        return side.units.get(key) or side.pods.get(key)


def _told(held: Iterable[_Holder]) -> tuple[_Node | None, LinkedBy]:
    """Return what befell who holds most of what is needed, and what it holds."""
    best = max(held, key=lambda one: one.explains)
    return best.last, LinkedBy.CHANGED if best.last is None else best.by


def _apart(key: Key, without: Life | None, changed: Life | None) -> list[_Node]:
    """Return the decisions about one unit that one run makes and the other does not."""
    sides = [list(_nodes(key, at, life)) for at, life in enumerate((without, changed))]
    names = [
        {(one.at_ms, one.event, one.place, one.by) for one in nodes} for nodes in sides
    ]
    return [
        one
        for at, nodes in enumerate(sides)
        for one in nodes
        if (one.at_ms, one.event, one.place, one.by) not in names[1 - at]
    ]


def _ranked(nodes: Iterable[_Node]) -> list[_Node]:
    """Return decisions in the order of both runs: by instant, then by place in it.

    The place counts the decisions that differ alone: those that both runs make, or that
    one run makes more of elsewhere, put no decision before its like of the other run.
    """
    found, counts = [], dict[tuple[int, int], int]()
    # What a gang or an application does comes from what its pods do in the same decision.
    for one in sorted(nodes, key=lambda one: (*one[:3], is_joined(one.key), one.key)):
        number = counts.get((one.at_ms, one.side), 0)
        counts[one.at_ms, one.side] = number + 1
        found.append(one._replace(order=number))
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
        if not one.runs or one.end in ("", "grows"):
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


def _holds(life: Life | None, at_ms: int, place: str | None) -> Amounts:
    """Return what a unit holds at a place, or at any, after all that an instant decides."""
    for one, held in zip(life.stretches, life.held, strict=True) if life else ():
        if one.runs and one.from_ms <= at_ms and (at_ms < one.to_ms or not one.end):
            return held if place in (None, one.place) else {}
    return {}


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
