"""The preemption strategy in force, with the rules it was given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

from scheduler.engine.kueue.cache.candidates import (
    Borrowers,
    KnownSearches,
    Needed,
    SearchesNow,
)
from scheduler.engine.kueue.cache.proposing import Proposing, Spared
from scheduler.engine.kueue.flavorassigner.assignment import Ranking
from scheduler.engine.kueue.preemption.targets import (
    Placement,
    PreemptionQuestion,
    Requests,
    Target,
    TargetSearch,
)
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.latencies import StepTimes
from scheduler.engine.stage import SearchTally
from scheduler.model import registry
from scheduler.model.decisions import Decision
from scheduler.model.kueue.configuration import Settings
from scheduler.model.kueue.feature_gates import FeatureGates


@registry.extended
class PreemptionStrategy:
    """What a preemption strategy says; it enrols itself and is never made.

    `fair` has the flavors of an assignment compared by shares.
    """

    fair = False

    @staticmethod
    def search(question: PreemptionQuestion) -> list[Target]:
        """Return the workloads to preempt; empty when preemption does not help."""
        raise NotImplementedError

    @staticmethod
    def order(entries: Sequence[Entry], gates: FeatureGates) -> Iterator[Entry]:
        """Yield the entries of a cycle in the order in which they are processed."""
        raise NotImplementedError


class ActivePreemption:
    """Looks the strategy and its rules up once; then only calls.

    `known` are its searches that need not be made again; what is asked for is added
    to the tally, as Kueue searches each time. Under a proposal each search is made.
    """

    def __init__(
        self, settings: Settings, spent: SearchTally, proposing: Proposing | None = None
    ) -> None:
        self.proposing = proposing
        self.strategy: type[PreemptionStrategy] = registry.lookup(
            "preemption", settings.preemption
        )
        self.fair = self.strategy.fair
        self.gates = settings.gates
        self.ranking = Ranking(
            settings.no_candidates_last, settings.preference_as_written
        )
        self.known = KnownSearches()
        self.spent = spent
        self.rules = tuple(
            registry.lookup("fair-strategy", name) for name in settings.strategies
        )

    def target_search(
        self,
        *,
        borrowers: Borrowers | None = None,
        known: SearchesNow | None = None,
        absent: Collection[WorkloadInfo] = (),
        trace: Trace | None = None,
    ) -> TargetSearch:
        """Return the search with everything bound but the question.

        `borrowers` and `known` may be shared by searches on the same state of the
        tree. What is known serves where nobody is absent and nothing is traced.
        """
        proposing = self.proposing
        quiet = trace is None and not absent and proposing is None
        kept = known if quiet else None
        found = borrowers if borrowers is not None else Borrowers()

        def search(
            work: WorkloadInfo,
            queue: ClusterQueue,
            requests: Requests,
            needed: Needed,
            placement: Placement | None = None,
        ) -> list[Target]:
            targets: list[Target]
            answers = None
            if kept is not None and placement is None:
                answers = kept.of(queue.root)
            held = tuple(requests.items())
            asked = (work, work.priority, work.queue_order_us, held, needed)
            if answers is not None and asked in answers:
                targets, tally = answers[asked]
            else:
                tally = SearchTally()
                tally.searches = 1
                question = PreemptionQuestion(
                    work=work,
                    queue=queue,
                    requests=requests,
                    needed=needed,
                    borrowers=found,
                    tally=tally,
                    rules=self.rules,
                    gates=self.gates,
                    absent=absent,
                    placement=placement,
                    trace=trace,
                )
                if proposing is not None:
                    by = proposing.work(work, queue)
                    question.absent = Spared(proposing, by, absent)
                    question.in_order = proposing.victims(by)
                targets = self.strategy.search(question)
                if answers is not None:
                    answers[asked] = targets, tally
            if trace is None:
                self.spent.add(tally)
            return targets

        return search

    def order(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Yield the entries in the order in which they are processed."""
        if self.proposing is None:
            return self.strategy.order(entries, self.gates)
        return self._by_precedence(entries, self.proposing)

    def _by_precedence(
        self, entries: Sequence[Entry], proposing: Proposing
    ) -> Iterator[Entry]:
        places: dict[float, list[Entry]] = {}
        for entry in entries:
            usage = entry.assignment.usage if entry.assignment is not None else {}
            place = proposing.precedence(entry.work, entry.queue, usage)
            places.setdefault(place, []).append(entry)
        for _, together in sorted(places.items()):
            yield from self.strategy.order(together, self.gates)


# ------------------------------------------------------------------------
# When the next admission cycle may begin, and when inadmissible workloads requeue.


#: Cycles in a row that move nothing, after which none would until something does.
QUIET_CYCLES = 2


class Writing(Protocol):
    """How long it takes to write what a cycle decided."""

    def length(self, decided: Sequence[Decision]) -> int:
        """Return how long (ms) all of it takes that the next cycle waits for."""


class CyclePace:
    """The clock of the admission cycles, and one timer per tree to be requeued."""

    def __init__(self, steps: StepTimes | None, *, batches: bool = True) -> None:
        self.steps = steps
        self.paced = steps is not None and steps.takes_time("scheduling_cycle")
        takes = steps is not None and steps.takes_time("reactivation")
        self.collects = batches and takes
        #: With it a cycle decides at its begin, and lasts while it is written.
        self.writing: Writing | None = None
        self.begins_ms = 0  # no cycle begins before
        self.ends_ms: int | None = None  # of the cycle that is under way
        self.quiet = 0
        self.requeues: dict[str, tuple[int, str]] = {}  # tree -> when, for which queue

    def note_change(self) -> None:
        """Note that something changed: cycles may decide anew."""
        self.quiet = 0

    def begin_anyway(self) -> None:
        """Let a cycle begin after cycles that moved nothing: it has something else."""
        if self.quiet >= QUIET_CYCLES:
            self.quiet = 0

    @property
    def asks_for_heads(self) -> bool:
        """Return whether a cycle may begin by itself, if there is a head to try."""
        return self.paced and self.ends_ms is None and self.quiet < QUIET_CYCLES

    def due(self, now_ms: int, *, heads: bool) -> int | None:
        """Return the next instant (ms) with a cycle or a re-activation, or None."""
        due = self.ends_ms
        if heads and self.asks_for_heads:
            due = max(now_ms, self.begins_ms)
        for at, _ in self.requeues.values():
            if due is None or at < due:
                due = at
        return due

    def begin(self, now_ms: int, cycle: int) -> None:
        """Begin cycle number `cycle`, unless one is under way or none may begin."""
        if self.steps is not None and self.may_begin(now_ms):
            length = self.steps.draw("scheduling_cycle", "", cycle)
            self.ends_ms = now_ms + max(1, length)

    def may_begin(self, now_ms: int) -> bool:
        """Return whether a cycle that has heads begins now."""
        rested = self.quiet < QUIET_CYCLES and self.begins_ms <= now_ms
        return self.ends_ms is None and rested

    def write(
        self, now_ms: int, writing: Writing, decided: Sequence[Decision], *, moved: bool
    ) -> None:
        """Let the cycle that decided this last until all of it is written."""
        self.ends_ms = now_ms + max(1, writing.length(decided))
        self.quiet = 0 if moved else self.quiet + 1

    def written(self, now_ms: int) -> None:
        """Note that all is written: the next cycle may begin."""
        self.ends_ms, self.begins_ms = None, now_ms

    def resume(self, now_ms: int, cycle: int) -> None:
        """Go on with a cycle that waited for pods: only its admission takes time."""
        if self.steps is not None and self.ends_ms is None:
            self.ends_ms = now_ms + max(1, self.steps.draw("admission", "", cycle))

    def over(self, now_ms: int) -> bool:
        """Return whether the cycle under way ends by now: it decides at its end."""
        return self.ends_ms is not None and self.ends_ms <= now_ms

    def end(self, now_ms: int, cycle: int, *, admitted: bool, moved: bool) -> None:
        """Note that cycle number `cycle` is over, and what came of it."""
        self.ends_ms, self.begins_ms = None, now_ms
        if admitted and self.steps is not None:
            self.begins_ms += self.steps.draw("admission", "", cycle)
        self.quiet = 0 if moved else self.quiet + 1

    def request_requeue(self, tree: str, queue: str, now_ms: int) -> None:
        """Requeue the inadmissible Workloads of a tree after a delay, once for all requests."""
        if tree not in self.requeues and self.steps is not None:
            delay = self.steps.draw("reactivation", tree, now_ms)
            self.requeues[tree] = now_ms + delay, queue

    def due_requeues(self, now_ms: int) -> list[str]:
        """Return whose trees are to be requeued by now, and forget them."""
        if not self.requeues:
            return []
        due = sorted(tree for tree, (at, _) in self.requeues.items() if at <= now_ms)
        return [self.requeues.pop(tree)[1] for tree in due]

    def dump(self) -> dict[str, Any]:
        """Return plain values; nothing when cycles take no time."""
        kept: dict[str, Any] = {}
        if self.paced:
            kept["pace"] = [self.begins_ms, self.ends_ms, self.quiet]
        if self.requeues:
            kept["wakes"] = {t: list(self.requeues[t]) for t in sorted(self.requeues)}
        return kept

    def load(self, kept: dict[str, Any]) -> None:
        """Restore the state that `dump` returned."""
        pace = kept.get("pace") or (0, None, 0)
        self.begins_ms, self.ends_ms, self.quiet = pace
        wakes = kept.get("wakes") or {}
        self.requeues = {tree: (at, queue) for tree, (at, queue) in wakes.items()}
