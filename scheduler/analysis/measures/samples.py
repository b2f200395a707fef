"""What is looked at tick by tick: capacity, fragmentation, distance from fair."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.analysis.measures.capacity import Capacity, read_capacity, useless
from scheduler.analysis.measures.fairness import share_error
from scheduler.analysis.measures.subjects import Amounts, Ledger
from scheduler.engine.world import World

#: Shares are fair while queues lack no more of the cluster than this.
FAIR_WITHIN = 0.05


def unfair_spans(looks: Iterable[tuple[int, float]], end_ms: int) -> list[int]:
    """Return how long shares were not fair each time, in ms.

    `looks` are (virtual time, share error), in their order; what is seen lasts until
    the next look, and the last until `end_ms`.
    """
    spans: list[int] = []
    since: int | None = None
    for at_ms, error in looks:
        if error > FAIR_WITHIN:
            since = at_ms if since is None else since
        elif since is not None:
            spans.append(at_ms - since)
            since = None
    return spans if since is None else [*spans, end_ms - since]


class Samples:
    """Sums over the ticks of a run. Equal stretches are computed once."""

    def __init__(self, world: World, ledger: Ledger, *, fragments: bool = True) -> None:
        self.world = world
        self.fragments = fragments  # whether anybody asks for `fragmentation`
        self.ledger = ledger
        self.step_ms = world.policy.spec.simulation.tick_ms
        self.begin_ms = self.next_ms = world.context.now_ms
        self.capacity: Amounts = {}  # units x ms
        self.ticks = 0
        self.error = 0.0  # summed over ticks
        self.unfair_since: int | None = None  # the tick since which shares are not fair
        self.unfair: list[int] = []  # ms of each span that is over
        self.waiting_ticks = 0
        self.useless: dict[str, float] = {}  # summed over ticks in which some wait
        self._capacities: Capacity | None = None
        self._nodes = -1
        self._seen: tuple[int, int] | None = None
        self._last: tuple[float, dict[str, float] | None] = (0.0, None)
        self._reads = 0

    @property
    def capacities(self) -> Capacity:
        """Return the capacity, read anew when nodes came or changed."""
        nodes = len(self.world.lifetime.nodes)
        if self._capacities is None or nodes != self._nodes:
            self._capacities, self._nodes = read_capacity(self.world), nodes
            self._reads += 1
        return self._capacities

    @property
    def on_nodes(self) -> bool:
        """Return whether places are nodes, not quota."""
        return self.capacities.on_nodes

    def capacity_changed(self) -> None:
        """Read capacity anew at the next look."""
        self._capacities = None

    def pool(self, queue: str, flavor: str) -> str:
        """Return the name of the pool of quota that a queue takes a flavor from."""
        entitled = self.capacities.queues.get(queue)
        return f"{entitled.group if entitled else ''} {flavor}"

    def until(self, now_ms: int) -> None:
        """Look at every tick before `now_ms` that was not looked at yet."""
        if now_ms <= self.next_ms:
            return
        first_ms = self.next_ms
        ticks = -(-(now_ms - self.next_ms) // self.step_ms)
        self.next_ms += ticks * self.step_ms
        capacities = self.capacities
        for resource, amount in capacities.capacity.items():
            spent = amount * ticks * self.step_ms
            self.capacity[resource] = self.capacity.get(resource, 0) + spent
        self._look()
        error, wasted = self._last
        # Begin or end a span in which shares are not fair.
        if error > FAIR_WITHIN:
            if self.unfair_since is None:
                self.unfair_since = first_ms
        elif self.unfair_since is not None:
            self.unfair.append(first_ms - self.unfair_since)
            self.unfair_since = None
        self.ticks += ticks
        self.error += error * ticks
        if wasted is not None:
            self.waiting_ticks += ticks
            for resource, share in wasted.items():
                self.useless[resource] = self.useless.get(resource, 0.0) + share * ticks

    def unfair_spans(self) -> list[int]:
        """Return how long shares were not fair each time, in ms, to the tick.

        A span begins with what made shares unfair (an arrival, an edit, an end) and
        lasts until every queue is within FAIR_WITHIN again; the last may last on.
        """
        if self.unfair_since is None:
            return self.unfair
        return [*self.unfair, self.next_ms - self.unfair_since]

    def _look(self) -> None:
        ledger, capacities = self.ledger, self.capacities
        state = (ledger.version, self._reads)
        if state == self._seen:
            return
        self._seen = state
        error = share_error(capacities, ledger.using, ledger.asking)
        wasted = None
        if self.fragments and ledger.waiting:
            shapes = {(self._group(queue), shape) for queue, shape in ledger.shapes}
            wasted = useless(capacities, ledger.taken, shapes)
        self._last = error, wasted

    def _group(self, queue: str) -> str:
        entitled = self.capacities.queues.get(queue)
        return "" if self.on_nodes or entitled is None else entitled.group

    def share_error(self) -> float | None:
        """Return the mean distance from fair; None before the first tick."""
        return self.error / self.ticks if self.ticks else None

    def fragmentation(self) -> dict[str, float]:
        """Return the mean useless share per resource, over ticks with a queue."""
        if not self.waiting_ticks:
            return {}
        return {r: total / self.waiting_ticks for r, total in self.useless.items()}
