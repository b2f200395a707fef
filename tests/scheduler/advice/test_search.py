"""The search finds the best setting of small worlds in a tenth of the runs."""

from __future__ import annotations

import gzip
import json
from typing import Any, NamedTuple

import pytest

from scheduler.analysis.advice.advisor import Advisor, advise
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.goal import Numbers, mean_of
from scheduler.analysis.advice.space import Point
from tests.scheduler.advice.worlds import TABLES, WORLDS, advisor_of


class Table(NamedTuple):
    """Every setting of a world, run before; of the base all that a run measures."""

    advisor: Advisor
    runs: dict[Point, list[Numbers | None]]
    base: list[Numbers]

    def run(self, ask: tuple[Point, int]) -> Numbers | None:
        """The numbers of a run; other seeds have those of the search's, in turn."""
        point, seed = ask
        seeds = self.advisor.seeds
        runs = self.base if point == self.advisor.space.base else self.runs[point]
        return runs[seeds.index(seed) if seed in seeds else seed % len(seeds)]

    def objective(self, point: Point) -> float | None:
        """The objective of a setting that keeps every constraint."""
        goal, space = self.advisor.goal, self.advisor.space
        base, runs = self.complete(space.base), self.complete(point)
        bounds = goal.bounds(base)
        if not runs or any(bound.violation(bound.of(runs)) for bound in bounds):
            return None
        return goal.objective(mean_of(runs), mean_of(base))

    def complete(self, point: Point) -> list[Numbers]:
        found = [run for run in self.runs[point] if run is not None]
        return found if len(found) == len(self.advisor.seeds) else []


def table_of(number: int, **search: Any) -> Table:
    data = json.loads(gzip.decompress((TABLES / f"{number:02}.json.gz").read_bytes()))
    count = len(data["runs"]) * 2
    advisor, files = advisor_of(WORLDS[number], **{"runs": count // 10, **search})
    point = advisor.space.base
    base = [advisor.run(files, (point, seed)) or {} for seed in advisor.seeds]
    runs: dict[Point, list[Numbers | None]] = {
        tuple(map(int, text.split(","))): [
            run and numbers_of(data["measures"], run) for run in found
        ]
        for text, found in data["runs"].items()
    }
    rounded = [{name: round(value, 3) for name, value in run.items()} for run in base]
    return Table(advisor, runs, rounded)


def numbers_of(names: list[str], values: list[float | None]) -> Numbers:
    """What a run had; a measure that it lacked does not exist."""
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if value is not None}


@pytest.mark.parametrize("number", range(len(WORLDS)), ids=lambda n: WORLDS[n].name)
def test_the_best_setting_is_found_in_a_tenth_of_the_runs(number):
    table = table_of(number)
    answer = advise(table.advisor, table.run)
    found = table.objective(tuple(answer.point))
    known = [table.objective(point) for point in table.runs]
    best = min(value for value in known if value is not None)
    assert found is not None
    assert answer.runs <= len(table.runs) * len(table.advisor.seeds) / 10
    assert found <= best + 0.01 * abs(best) + 1e-9


def test_the_same_seed_asks_the_same_questions():
    table = table_of(10)
    answers = [advise(table.advisor, table.run) for _ in range(2)]
    assert answers[0] == answers[1]


def test_a_search_that_was_cut_off_goes_on_from_the_runs_that_are_kept():
    table = table_of(10)
    whole = advise(table.advisor, table.run)
    store: dict[Any, Any] = {}
    rounds, ended = 0, None
    while ended is None:
        rounds += 1
        ended = went_on(table, store)
    assert ended == whole
    assert rounds > 5


def went_on(table: Table, store: dict[Any, Any]) -> AdviceAnswer | None:
    """One round of a search that begins anew with the runs that are kept."""
    questions = table.advisor.questions(store)
    try:
        wanted = next(questions)
    except StopIteration as end:
        answer: AdviceAnswer = end.value
        return answer
    store.update({ask: table.run(ask) for ask in wanted})
    return None


def test_a_table_is_what_the_engine_does():
    table = table_of(8)
    advisor, base = advisor_of(WORLDS[8])
    run = advisor.run(base, (advisor.space.base, advisor.seeds[0]))
    kept = table.runs[advisor.space.base][0]
    assert run is not None
    assert kept is not None
    assert {name: round(run[name], 3) for name in kept} == kept
