"""From a goal to an answer: space, search and proof as one series of questions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from scheduler.analysis.advice.answer import AdviceAnswer, answer_of, to_set
from scheduler.analysis.advice.changes import patches_of, space_of
from scheduler.analysis.advice.goal import Goal, Numbers
from scheduler.analysis.advice.ledger import Ask, Known, RunLedger
from scheduler.analysis.advice.proof import Proof, most_runs
from scheduler.analysis.advice.search import Search
from scheduler.analysis.advice.space import Point, Space
from scheduler.analysis.experiments.bases import RunBase
from scheduler.analysis.experiments.document import (
    MOST_RUNS,
    ExperimentError,
    ExperimentSpec,
    SearchSpec,
    Variant,
    seeds_of,
)
from scheduler.analysis.experiments.runs import Plan, plan_times, run
from scheduler.analysis.measures import flat
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Form, RequestProblem, Wanted, expected

_HOUR_MS = 3_600_000
#: Making an answer smaller may take half as many runs as its search, and these at least.
LEAST_SHRINKING = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisor:
    """What a search of one goal needs, made once."""

    spec: ExperimentSpec
    search: SearchSpec
    goal: Goal
    space: Space
    objects: dict[Key, Object]
    policy: dict[str, object]
    seeds: tuple[int, ...]
    held_out: tuple[int, ...]
    horizon_ms: int
    limit_ms: int

    @classmethod
    def of(cls, spec: ExperimentSpec, base: RunBase) -> Advisor:
        """Return the advisor of an experiment whose search has `change`.

        Raises ExperimentError naming the field. Cost: one world.
        """
        search = spec.search
        if search is None or not search.change:
            problem = Form.FOUND_NOTHING.said(wanted=Wanted.TO_CHANGE)
            raise ExperimentError(problem, "spec.search.change")
        seeds = tuple(seeds_of(spec, base.seed()))
        _check(search, seeds)
        world = base.world(Variant(name="base"), seeds[0])
        objects = dict(world.objects)
        policy = world.policy.document()["spec"]
        horizon_ms, limit_ms = plan_times(spec, base)
        return cls(
            spec=spec,
            search=search,
            goal=Goal.of(spec),
            space=space_of(search.change, objects, policy),
            objects=objects,
            policy=policy,
            seeds=seeds,
            held_out=_held_out(search, seeds),
            horizon_ms=horizon_ms,
            limit_ms=limit_ms,
        )

    def questions(
        self, store: Known, *, stop: int | None = None
    ) -> Generator[list[Ask], None, AdviceAnswer]:
        """Yield the runs that are needed; they are put into `store` meanwhile.

        `stop` ends the search after so many runs: what was found is proven.
        """
        ledger = RunLedger(
            space=self.space, goal=self.goal, seeds=self.seeds, store=store
        )
        most = max(self.search.runs, len(self.seeds))
        search = Search(spec=self.search, ledger=ledger, most=most, stop=stop)
        yield from search.steps()
        proof = self.proof(ledger)
        yield from proof.steps()
        to_patch = (self.space, to_set(proof), self.objects, self.policy)
        patches, undo = patches_of(*to_patch)
        return answer_of(search, proof, patches=patches, undo=undo)

    def proof(self, ledger: RunLedger) -> Proof:
        """Return the proof of what a search came to, before its first run."""
        return Proof(
            ledger=ledger,
            point=ledger.best(),
            held_out=self.held_out,
            tolerance=self.search.tolerance,
            shrinking=max(LEAST_SHRINKING, self.search.runs // 2),
        )

    def most_runs(self) -> int:
        """Return how many runs there may be in all, about."""
        count, seeds = self.space.count(), len(self.seeds)
        most = min(count * seeds, max(self.search.runs, seeds))
        dimensions = len(self.space.dimensions)
        return most + most_runs(count, dimensions, seeds, self.held_out)

    def plan_of(self, point: Point) -> Plan:
        """Return a plan of this one setting."""
        return Plan(
            variants=[self.space.variant(point)],
            seeds=list(self.seeds),
            horizon_ms=self.horizon_ms,
            limit_ms=self.limit_ms,
        )

    def run(self, base: RunBase, ask: Ask) -> Numbers | None:
        """Run a setting with a seed; None when it cannot be, as the API would say."""
        point, seed = ask
        try:
            result = run(base, self.plan_of(point), 0, seed)
        except SchedulerError:
            if point == self.space.base:
                raise
            return None
        return derived(flat(result.summary), self.horizon_ms)


def derived(numbers: Numbers, horizon_ms: int) -> dict[str, float]:
    """Return the numbers of a run, with the rates that constraints name."""
    hours = horizon_ms / _HOUR_MS
    rates = {
        f"{name}PerHour": numbers[name] / hours
        for name in ("preemptions", "evictions")
        if name in numbers and hours > 0
    }
    return {**numbers, **rates}


def advise(
    advisor: Advisor,
    run_one: Callable[[Ask], Numbers | None],
    *,
    hear: Callable[[int], None] = lambda _: None,
) -> AdviceAnswer:
    """Return the answer, running one run after the other; `hear` gets their number."""
    store: Known = {}
    questions = advisor.questions(store)
    while True:
        try:
            wanted = next(questions)
        except StopIteration as end:
            answer: AdviceAnswer = end.value
            return answer
        for ask in wanted:
            store[ask] = run_one(ask)
            hear(len(store))


def _check(search: SearchSpec, seeds: Sequence[int]) -> None:
    if not len(seeds) <= search.runs <= MOST_RUNS:
        problem = expected(
            Wanted.RUNS.said(least=len(seeds), most=MOST_RUNS), given=search.runs
        )
        raise ExperimentError(problem, "spec.search.runs")
    if not 0 <= search.tolerance <= 1:
        problem = expected(
            Wanted.RANGE.said(least="0", most="1"), given=search.tolerance
        )
        raise ExperimentError(problem, "spec.search.tolerance")
    if search.axes or search.samples:
        problem = Form.GOT_BOTH.said(wanted=Wanted.AXES_OR_CHANGE)
        raise ExperimentError(problem, "spec.search")


def _held_out(search: SearchSpec, seeds: Sequence[int]) -> tuple[int, ...]:
    given = search.held_out
    found = tuple(range(given.start, given.start + given.count))
    if not 1 <= given.count <= MOST_RUNS or given.start < 0:
        problem = expected(
            Wanted.COUNTED.said(least="1", most=MOST_RUNS, kind="seeds"),
            given=given.count,
        )
        raise ExperimentError(problem, "spec.search.heldOut")
    if both := sorted(set(found) & set(seeds)):
        problem = RequestProblem.USED_SEEDS.said(given=both[0])
        raise ExperimentError(problem, "spec.search.heldOut")
    return found
