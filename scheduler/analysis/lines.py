"""One run over time: use, shares, who waits and holds quota by queue; use by node."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from scheduler.engine.kueue.tree.quota import share_of_node
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.sorting.queues import share_of
from scheduler.model.objects import MARK

#: So many instants of a run are told apart; of more ticks, every n-th.
MOST_INSTANTS = 600

#: So many values of nodes are told of a pair; nodes beyond them are counted.
MOST_NODE_VALUES = 40_000

Of = Literal[
    "used",
    "share",
    "waiting",
    "held",
    "node",
    "cohortUsed",
    "cohortWaiting",
    "cohortHeld",
]
#: What is summed up for the cohorts above a queue.
_SUMMED: dict[Of, Of] = {
    "used": "cohortUsed",
    "waiting": "cohortWaiting",
    "held": "cohortHeld",
}


class LineName(NamedTuple):
    """What a line is of: use names a flavor and a resource, the others a queue alone.

    `node` is what pods hold of a resource on a node, whose name stands for the queue's.
    Those of a cohort are sums of the queues below it, and its name stands there.
    The queues of YuniKorn have no flavors, and use and share alone. Without a queue it
    is the sum of all: of use by resource, of workers' queues where there are any.
    """

    of: Of
    queue: str
    flavor: str = ""
    resource: str = ""


class RunLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Values from instants on (ms), each until the next; None is an infinite share."""

    at_ms: list[int]
    values: list[float | None]

    def until(self, at_ms: int) -> RunLine:
        """Return the line up to an instant."""
        count = bisect_right(self.at_ms, at_ms)
        return RunLine(at_ms=self.at_ms[:count], values=self.values[:count])


class PairLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of both sides of a pair. `held` counts workloads with quota."""

    of: Of
    queue: str
    flavor: str
    resource: str
    without: RunLine
    changed: RunLine


class ChangedNodes:
    """Yields nodes with what pods hold there, where that may have changed since.

    Cost: of one kube-scheduler the nodes that changed, else all nodes.
    """

    def __init__(self) -> None:
        self._seen: tuple[int, int] | None = None

    def since(
        self, world: World, known: Iterable[str]
    ) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield nodes that may hold something else; `known` that are gone hold nothing."""
        kube = world.kube
        if kube is None or kube.several:
            yield from self._all(dict(_nodes(world)), known)
            return
        cluster = kube.nodes
        rows = None
        if self._seen is not None and self._seen[0] == cluster.nodes_version:
            rows = cluster.changed_since(self._seen[1])
        if rows is None:
            yield from self._all(dict(_nodes(world)), known)
        else:
            for row in dict.fromkeys(rows):
                info = cluster.node_table.node_infos[row]
                yield info.node.name, info.requested
        self._seen = cluster.nodes_version, cluster.position

    def _all(
        self, there: dict[str, dict[str, int]], known: Iterable[str]
    ) -> Iterator[tuple[str, dict[str, int]]]:
        yield from there.items()
        yield from ((node, {}) for node in [*known] if node not in there)


class Leader(NamedTuple):
    """The queue with the largest weighted share of a run, and how long it was above."""

    share: float | None  # None: infinite, or there are no shares
    queue: str  # "" where nobody has a share
    above_ms: int  # for how long its share was above that of every other queue


class RunLines:
    """Follows a world from where it stands to a horizon, where `look` is called.

    Values are those at the ends of ticks. Cost of a look: O(quota of all queues + nodes).
    """

    def __init__(self, world: World, until_ms: int) -> None:
        self._begin = world.context.now_ms
        tick_ms = world.policy.spec.simulation.tick_ms
        ticks = -(-(until_ms - self._begin) // tick_ms)
        self._step = tick_ms * max(1, -(-ticks // MOST_INSTANTS))
        self._seen: dict[str, tuple[object, ...]] = {}
        self._held: dict[str, dict[str, int]] = {}  # node -> what pods hold
        self._nodes = ChangedNodes()
        self._queues: tuple[int, int] | None = None  # of Kueue, when looked at last
        #: Queue below cohorts -> these, and its values that their sums contain.
        self._parts: dict[str, tuple[tuple[str, ...], Mapping[LineName, float]]] = {}
        self._lines: dict[LineName, RunLine] = {}
        self._shares: dict[str, float] = {}
        self._peak = (0.0, "")
        self._ahead, self._since = "", self._begin  # who is above all others now
        self._above: dict[str, int] = {}
        self._look(world, self._begin)

    def look(self, world: World) -> None:
        """Take what holds now."""
        passed = world.context.now_ms - self._begin
        self._look(world, self._begin + self._step * max(1, -(-passed // self._step)))

    def line(self, name: LineName) -> RunLine:
        """Return the line of a name; an empty one where the run has no such line."""
        return self._lines.get(name) or RunLine(at_ms=[], values=[])

    @property
    def names(self) -> set[LineName]:
        """Return the names that have a line."""
        return set(self._lines)

    def leader(self, now_ms: int) -> Leader:
        """Return the queue with the largest share up to an instant."""
        share, queue = self._peak
        above = self._above.get(queue, 0)
        if queue and queue == self._ahead:
            above += now_ms - self._since
        return Leader(share if queue and math.isfinite(share) else None, queue, above)

    def _look(self, world: World, at_ms: int) -> None:
        if self._queues_changed(world):
            self._look_at_queues(world, at_ms)
        for node, held in self._nodes.since(world, self._held):
            before = self._held.get(node, {})
            if before == held:
                continue
            self._held[node] = dict(held)
            for resource in {**before, **held}:
                line = LineName("node", node, "", resource)
                self._note(line, at_ms, held.get(resource, 0))

    def _queues_changed(self, world: World) -> bool:
        """Return whether a queue may have changed since; with worker clusters always."""
        kueue = world.kueue
        if kueue is None or world.multikueue is not None or kueue.life.touched_queues:
            return True
        before, self._queues = self._queues, (id(kueue), kueue.life.queue_changes)
        return before != self._queues

    def _look_at_queues(self, world: World, at_ms: int) -> None:
        moved = changed = False
        there = set[str]()
        for queue, state in _states(world):
            name = queue.path if isinstance(queue, Queue) else queue.name
            there.add(name)
            if self._seen.get(name) == state:
                continue
            self._seen[name], changed = state, True
            share = _share(queue)
            if self._shares.get(name) != share:
                self._shares[name], moved = share, True
            values = dict(_values(name, queue, share))
            for line, value in values.items():
                self._note(line, at_ms, value)
            self._sum_up(name, _cohorts_above(queue), values, at_ms)
        for name in self._seen.keys() - there:
            del self._seen[name]
            self._sum_up(name, (), {}, at_ms)
            changed = True
        if changed:
            for line, value in _sums(world).items():
                self._note(line, at_ms, value)
        if moved:
            self._rank(world.context.now_ms)

    def _sum_up(
        self,
        queue: str,
        cohorts: tuple[str, ...],
        values: Mapping[LineName, float],
        at_ms: int,
    ) -> None:
        """Note what a queue's change, move or end does to the cohorts above it."""
        changes: dict[LineName, float] = defaultdict(float)
        before = self._parts.pop(queue, None)
        if cohorts:
            self._parts[queue] = cohorts, values
        for part, sign in ((before, -1), ((cohorts, values), 1)):
            above, amounts = part or ((), {})
            for line, value in amounts.items():
                if line.of in _SUMMED:
                    for cohort in above:
                        name = LineName(_SUMMED[line.of], cohort, *line[2:])
                        changes[name] += sign * value
        for line, by in changes.items():
            if not by:
                continue
            known = self.line(line).values
            self._note(line, at_ms, (known[-1] or 0 if known else 0) + by)

    def _note(self, name: LineName, at_ms: int, value: float) -> None:
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = RunLine(at_ms=[], values=[])
        known = value if math.isfinite(value) else None
        if line.at_ms and line.at_ms[-1] == at_ms:  # a later instant of that tick
            line.at_ms.pop()
            line.values.pop()
        if not line.values or line.values[-1] != known:
            line.at_ms.append(at_ms)
            line.values.append(known)

    def _rank(self, now_ms: int) -> None:
        ordered = sorted(((share, name) for name, share in self._shares.items()))[-2:]
        if not ordered:
            return
        self._peak = max(self._peak, ordered[-1]) if ordered[-1][0] else self._peak
        alone = len(ordered) == 1 or ordered[0][0] < ordered[-1][0]
        ahead = ordered[-1][1] if alone and ordered[-1][0] else ""
        if ahead != self._ahead:
            before = self._above.get(self._ahead, 0)
            self._above[self._ahead] = before + now_ms - self._since
            self._ahead, self._since = ahead, now_ms


class Differing(NamedTuple):
    """The lines in which two runs differ, and how many nodes beyond them do."""

    lines: list[PairLine]
    nodes_left_out: int


NONE = Differing([], 0)


def differing(without: RunLines, changed: RunLines, until_ms: int) -> Differing:
    """Return the lines in which two runs differ up to an instant: by queue, by node.

    A queue or cohort that differs has all of its lines, also those that are equal: what
    is shown of it is of one instant. Of nodes whole ones, by name, until
    `MOST_NODE_VALUES` are told.
    """
    found: list[PairLine] = []
    left: set[str] = set()
    told = 0
    sides = {
        name: (without.line(name).until(until_ms), changed.line(name).until(until_ms))
        for name in without.names | changed.names
    }
    whole = {
        (name.of in _SUMMED.values(), name.queue)
        for name, (one, other) in sides.items()
        if name.of != "node" and name.queue and one != other
    }
    for name in sorted(sides, key=lambda one: (one.of == "node", one[1:], one)):
        one, other = sides[name]
        shown = (name.of in _SUMMED.values(), name.queue) in whole
        if one == other and (name.of == "node" or not shown):
            continue
        if name.of == "node":
            if told > MOST_NODE_VALUES and found[-1].queue != name.queue:
                left.add(name.queue)
                continue
            told += len(one.values) + len(other.values)
        found.append(PairLine(**name._asdict(), without=one, changed=other))
    return Differing(found, len(left))


def _nodes(world: World) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each node with what pods hold on it, in Kubernetes' names."""
    kube = world.kube
    if kube is not None:
        for name, info in kube.nodes.node_infos.items():
            yield name, kube.used_on(name)[0] if kube.several else info.requested
    elif world.yunikorn is not None:
        partition = world.yunikorn.partition
        for name in partition.nodes.by_name:
            yield name, partition.used_on(name)[0]


def _states(world: World) -> Iterator[tuple[ClusterQueue | Queue, tuple[object, ...]]]:
    """Yield each queue with what all of its values hang on."""
    if world.kueue is not None:
        cohorts: dict[Cohort | None, tuple[str, ...]] = {}
        for queue in world.kueue.cluster.forest.queues.values():
            usage = tuple(node.usage for node in queue.resource_nodes.values())
            held = len(queue.admitted.workloads)
            above = cohorts.get(queue.parent)
            if above is None:
                above = cohorts[queue.parent] = _cohorts_above(queue)
            yield queue, (above, usage, _waiting(queue), held)
    elif world.yunikorn is not None:
        for leaf in world.yunikorn.partition.root.leaves():
            yield leaf, tuple(sorted(leaf.allocated.items()))


def _cohorts_above(queue: ClusterQueue | Queue) -> tuple[str, ...]:
    """Return the names of the cohorts above a ClusterQueue, nearest first."""
    names, cohort = [], None if isinstance(queue, Queue) else queue.parent
    while cohort is not None:
        names.append(cohort.name)
        cohort = cohort.parent
    return tuple(names)


def _sums(world: World) -> Counter[LineName]:
    queues = list(world.kueue.cluster.forest.queues.values()) if world.kueue else []
    workers = [queue for queue in queues if MARK in queue.name]
    found: Counter[LineName] = Counter()
    if queues:
        found[LineName("waiting", "")] = sum(map(_waiting, queues))
        held = sum(len(queue.admitted.workloads) for queue in queues)
        found[LineName("held", "")] = held
    used = Counter[str]()
    for queue in workers or queues:
        for (_, resource), node in queue.resource_nodes.items():
            used[resource] += node.usage
    found.update({LineName("used", "", "", name): n for name, n in used.items()})
    return found


def _waiting(queue: ClusterQueue) -> int:
    return queue.pending.pending_active + queue.pending.pending_inadmissible


def _share(queue: ClusterQueue | Queue) -> float:
    if isinstance(queue, Queue):
        return share_of(queue)
    share = share_of_node(queue).value
    return share if math.isinf(share) else math.ceil(share)  # as the status has it


def _values(
    name: str, queue: ClusterQueue | Queue, share: float
) -> Iterator[tuple[LineName, float]]:
    yield LineName("share", name), share
    if isinstance(queue, Queue):
        for resource, amount in queue.allocated.items():
            yield LineName("used", name, "", resource), amount
        return
    yield LineName("waiting", name), _waiting(queue)
    yield LineName("held", name), len(queue.admitted.workloads)
    for (flavor, resource), node in queue.resource_nodes.items():
        yield LineName("used", name, flavor, resource), node.usage
