"""What was found in vain is not sought again while its tree is as it was, and is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.kueue.cache.candidates import KnownSearches
from scheduler.engine.kueue.preemption.targets import PreemptionQuestion, Target
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.stage import SearchTally
from scheduler.engine.tick import simulate
from tests.scheduler.kueue.random_runs.run import digest
from tests.scheduler.kueue.rig import Rig

LIBRARY = Path(__file__).parents[3] / "sandbox/scenarios"


class Counted:
    """A preemption strategy that counts its searches."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.searches = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.strategy, name)

    def search(self, question: PreemptionQuestion) -> list[Target]:
        self.searches += 1
        return self.strategy.search(question)


def rig_with_one_who_waits() -> tuple[Rig, Counted]:
    rig = Rig()
    rig.queue("q", 4, within="LowerPriority")
    rig.workload("runs", "q", 4, priority=5)
    rig.run(0)
    rig.workload("waits", "q", 2, priority=1)
    rig.run(1)
    counted = Counted(rig.stage.preemption.strategy)
    rig.stage.preemption.strategy = counted
    return rig, counted


def test_an_attempt_on_the_same_tree_searches_nobody_again():
    rig, counted = rig_with_one_who_waits()
    rig.workload("other", "q", 3, priority=0)
    rig.run(2)
    first = counted.searches
    other = next(key for key in rig.objects if key.name == "other")
    rig.edit(other, active=False)
    rig.edit(other, active=True)
    rig.run(3)
    assert (first, counted.searches) == (1, 1)


def test_another_quota_makes_the_search_be_made_again():
    rig, counted = rig_with_one_who_waits()
    rig.queue("q", 5, within="LowerPriority")
    rig.run(2)
    assert counted.searches == 1


def nominated_twice(first: int, second: int) -> tuple[Any, Any]:
    """Return where the search for a head stopped that asks for so much, then for so much."""
    rig = Rig()
    rig.queue("q", 4, within="LowerPriority", strategy="StrictFIFO")
    rig.workload("runs", "q", 3, priority=5)
    rig.run(0)
    stopped = []
    for at_s, cpu in enumerate((first, second), start=1):
        rig.workload("waits", "q", cpu, priority=1)
        rig.run(at_s)
        [tried] = rig.work("waits").last_assignment.tried_flavors
        stopped.append(tried)
    return stopped[0], stopped[1]


def test_a_nomination_in_vain_on_the_same_tree_is_kept():
    first, second = nominated_twice(2, 2)
    assert second is first


def test_other_podsets_are_nominated_anew():
    first, second = nominated_twice(2, 3)
    assert second is not first


def same_without_what_is_known(say: Callable[[], Any]) -> bool:
    with_known = say()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KnownSearches, "of", lambda *_: None)
        return bool(say() == with_known)


@settings(max_examples=10)
@given(seed=st.integers(20_000, 10**6))
def test_a_random_cluster_says_the_same_without_what_is_known(seed):
    assert same_without_what_is_known(lambda: digest(seed))


#: What comes or ends, one after the other: in "a" or "b", its CPU (0: one ends), priority.
STEPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.integers(0, 3)),
    min_size=4,
    max_size=16,
)


def said_while(steps: list[tuple[str, int, int]]) -> list[Any]:
    """Return what two queues of a cohort decide, and why who waits waits, step by step."""
    rig, said = Rig(), list[Any]()
    for name, strategy in (("a", "StrictFIFO"), ("b", "BestEffortFIFO")):
        policies = {"within": "LowerPriority", "reclaim": "LowerPriority"}
        rig.queue(name, 4, cohort="c", strategy=strategy, **policies)
    for at_s, (queue, cpu, priority) in enumerate(steps):
        running = sorted(rig.stage.admitted())
        if cpu:
            rig.workload(f"w{at_s}", queue, cpu, priority=priority, minimum=1, count=2)
        elif running:
            rig.stage.finish(running[0])
        said.append(rig.run(at_s))
        works = rig.stage.cluster.workloads.values()
        said.append({one.name: repr(one.conditions) for one in works})
    return [*said, rig.stage.preemption.spent]


@given(steps=STEPS)
def test_queues_that_nobody_edits_say_the_same_without_what_is_known(steps):
    assert same_without_what_is_known(lambda: said_while(steps))


class Traced:
    """A preemption strategy that makes each search with a trace, too, and compares."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.compared = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.strategy, name)

    def search(self, question: PreemptionQuestion) -> list[Target]:
        found = self.strategy.search(question)
        trace, again, tally = Trace(), SearchTally(), question.tally
        traced = replace(question, trace=trace, tally=again)
        assert self.strategy.search(traced) == found
        steps = [s for s in trace.steps if s["step"] in ("candidate", "putBack")]
        looked = sum(step["step"] == "candidate" for step in steps)
        simulations = sum(step.get("fits") is not None for step in steps)
        assert (again.looked, again.simulations) == (looked, simulations)
        assert (tally.looked, tally.simulations) == (looked, simulations)
        self.compared += looked > 0
        return found


@pytest.mark.parametrize(
    "name",
    ["classical-borrow-within-cohort", "classical-fill-back", "fair-weights"],
)
def test_the_tally_of_a_search_is_what_its_trace_shows(name):
    world = assemble(read_sources([LIBRARY / name])).world
    traced = Traced(world.kueue.preemption.strategy)
    world.kueue.preemption.strategy = traced
    simulate(world, until_ms=60_000)
    assert traced.compared


def test_a_search_that_is_known_counts_as_often_as_it_is_asked_for():
    rig, counted = rig_with_one_who_waits()
    rig.workload("other", "q", 3, priority=0)
    rig.run(2)
    other = next(key for key in rig.objects if key.name == "other")
    rig.edit(other, active=False)
    rig.edit(other, active=True)
    before = rig.stage.preemption.spent.searches
    rig.run(3)
    assert counted.searches == 1
    assert rig.stage.preemption.spent.searches > before
