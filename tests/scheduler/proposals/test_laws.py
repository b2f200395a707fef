"""What each policy of the documents promises, on clusters that Hypothesis draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Preempt
from tests import invariants
from tests.builders import (
    Manifest,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
    world_of,
)

HORIZON_S = 3_600
SIXTH = Path(__file__).parent / "sixth"
# No shrinking: a world is small already, and each try is a run.
some = settings(max_examples=40, phases=(Phase.explicit, Phase.generate))
QUEUES = ("a", "b")


@pytest.fixture(autouse=True)
def sixth(enrol):
    enrol(SIXTH)


class Drawn(NamedTuple):
    """A job: when it comes, what it asks, and how long it takes (s)."""

    queue: str
    at: int
    cpu: int
    takes: int
    urgent: bool


def jobs(queues: tuple[str, ...] = QUEUES) -> st.SearchStrategy[list[Drawn]]:
    one = st.builds(
        Drawn,
        st.sampled_from(queues),
        st.integers(0, 600),
        st.integers(1, 4),
        st.integers(1, 900),
        st.booleans(),
    )
    return st.lists(one, min_size=3, max_size=12)


def opened(drawn: list[Drawn], name: str, given: dict[str, Any], **queue: Any) -> World:
    """Return two queues of 4 CPUs under one cohort, with a proposal."""
    cohort = {} if queue.pop("alone", False) else {"cohort": "all"}
    manifests: list[Manifest] = [flavor(), workload_priority("urgent", 100)]
    for each in QUEUES:
        manifests.append(cluster_queue(each, **cohort, **queue))
        manifests.append(local_queue(each, cluster_queue=each))
    for n, one in enumerate(drawn):
        manifests.append(
            job(
                f"j{n}",
                queue=one.queue,
                cpu=one.cpu,
                arrival=f"{one.at}s",
                runtime=f"{one.takes}s",
                priority_class="urgent" if one.urgent else "",
            )
        )
    simulation = {"proposal": {"name": name, "settings": given}}
    return world_of(*manifests, simulation=simulation)


def policy_of(world: World) -> Any:
    assert world.kueue is not None
    assert world.kueue.cluster.proposing is not None
    return world.kueue.cluster.proposing.policy


def decisions(world: World, until_s: int = HORIZON_S) -> list[Any]:
    made = simulate(world, until_ms=until_s * 1000).decisions
    invariants.check(world)
    return made


@some
@given(jobs(), st.integers(1, 300))
def test_nobody_is_preempted_before_the_minimum_run_time(drawn, least):
    given = {"preempt": f"{least}s", "reclaim": f"{least}s"}
    world = opened(
        drawn, "MinimumRunTime", given, within="LowerPriority", reclaim="Any"
    )
    since = {}
    for one in decisions(world):
        if isinstance(one, Admit):
            since[one.subject] = one.at_ms
        if isinstance(one, Preempt):
            assert one.at_ms - since[one.subject] >= least * 1000


@some
@given(drawn=jobs(), within=st.integers(10, 600))
def test_nobody_is_preempted_twice_within_the_time_of_the_sixth(drawn, within):
    """The policy that a newcomer writes by the documents alone."""
    given = {"within": f"{within}s"}
    world = opened(drawn, "NotTwice", given, within="LowerPriority", reclaim="Any")
    last: dict[Any, int] = {}
    for one in decisions(world):
        if isinstance(one, Preempt):
            before = last.get(one.subject)
            assert before is None or one.at_ms - before >= within * 1000
            last[one.subject] = one.at_ms


@some
@given(jobs(), st.integers(1, 300))
def test_a_minimum_run_time_of_nothing_decides_as_the_release(drawn, seed):
    given = {"preempt": "0s", "reclaim": "0s"}
    queue = {"within": "LowerPriority", "reclaim": "Any"}
    ours = decisions(opened(drawn, "MinimumRunTime", given, **queue))
    theirs = decisions(opened(drawn, "WorkLost", {"resource": "none"}, **queue))
    assert ours == theirs


@some
@given(st.permutations([40, 70, 100]), st.integers(101, 130))
def test_the_victim_is_the_one_that_loses_the_least(begins, at):
    """Three hold all, each since another time; a fourth needs one of them."""
    running = [Drawn("a", begin, 2, 900, False) for begin in begins]
    world = opened(
        [*running, Drawn("a", at, 2, 60, True)],
        "WorkLost",
        {},
        alone=True,
        within="LowerPriority",
        cpu=6,
    )
    [victim] = {
        one.subject.name for one in decisions(world, at + 1) if isinstance(one, Preempt)
    }
    assert victim.startswith(f"job-j{begins.index(100)}-")


#: Without the memory of who took from whom, one of them is back after 70 s.
TAKEN_BACK = [
    Drawn("b", 210, 3, 300, False),
    Drawn("b", 0, 3, 850, False),
    Drawn("b", 200, 4, 450, False),
    Drawn("a", 210, 2, 800, False),
    Drawn("b", 0, 4, 900, False),
    Drawn("a", 10, 4, 900, False),
]


@some
@given(jobs(), st.integers(60, 7200), st.integers(30, 300))
@example(TAKEN_BACK, 60, 120)
def test_shares_over_time_are_never_negative_and_nobody_takes_turns_faster_than_the_margin(
    drawn, half_life, margin
):
    given = {"halfLife": f"{half_life}s", "margin": f"{margin}s"}
    world = opened(drawn, "UsedOverTime", given, reclaim="Any")
    last: dict[Any, int] = {}
    queue_of = {f"job-j{n}": one.queue for n, one in enumerate(drawn)}

    def home(key: Any) -> str:
        return queue_of[key.name.rpartition("-")[0]]

    for one in decisions(world):
        if isinstance(one, Preempt):
            pair = home(one.by), home(one.subject)
            back = last.get(pair[::-1])
            assert back is None or one.at_ms - back >= margin * 1000
            last[pair] = one.at_ms
    shares = [policy_of(world).share(name, HORIZON_S * 1000) for name in QUEUES]
    assert min(shares) >= 0


@some
@given(jobs(), st.integers(1, 900), st.sampled_from((0.0, 0.25, 1.0)))
def test_a_budget_and_what_the_next_period_lends_are_never_exceeded(
    drawn, seconds, borrow
):
    """Periods of 10 minutes; run times are stated, so that nothing overruns."""
    given = {
        "resource": "cpu",
        "period": "10m",
        "borrow": borrow,
        "budgets": {"a": seconds / 3600},
    }
    world = opened(drawn, "WeeklyBudget", given, alone=True)
    held = dict.fromkeys(range(HORIZON_S // 600 + 1), 0.0)
    asks = {f"job-j{n}": (one.cpu, one.queue) for n, one in enumerate(drawn)}
    for one in decisions(world):
        if isinstance(one, Admit):
            cpu, queue = asks[one.subject.name.rpartition("-")[0]]
            takes = drawn[int(one.subject.name.split("-")[1][1:])].takes
            for at in range(one.at_ms // 1000, one.at_ms // 1000 + takes):
                if queue == "a" and at < HORIZON_S:
                    held[at // 600] += cpu
    total = owed = 0.0
    for used in held.values():
        assert used <= seconds * (1 + borrow) - owed + 1e-6
        owed = max(0.0, used + owed - seconds)
        total += used
    assert total <= len(held) * seconds + borrow * seconds


@some
@given(drawn=jobs(("a",)))
def test_a_reservation_is_never_delayed_by_those_who_pass(drawn):
    plain = [one._replace(urgent=False) for one in drawn]
    world = opened(plain, "EasyBackfill", {}, alone=True, strategy="StrictFIFO")
    policy, reserved = policy_of(world), {}
    reserve = policy.reservation

    def noting(first, queue, now_ms):
        found = reserve(first, queue, now_ms)
        earliest = min(found.at_ms, reserved.get(first.name, found.at_ms))
        reserved[first.name] = earliest
        return found

    policy.reservation = noting
    for one in decisions(world, 20_000):
        if isinstance(one, Admit):
            name = f"{one.subject.namespace}/{one.subject.name}"
            assert one.at_ms <= reserved.get(name, one.at_ms)


def test_somebody_passes_the_head_who_ends_before_it_can_start():
    drawn = [
        Drawn("a", 0, 3, 100, False),
        Drawn("a", 1, 4, 10, False),  # waits for the first
        Drawn("a", 2, 1, 90, False),  # ends before
        Drawn("a", 3, 1, 99, False),  # would not
    ]
    world = opened(drawn, "EasyBackfill", {}, alone=True, strategy="StrictFIFO")
    admitted = {
        one.subject.name.split("-")[1]: one.at_ms
        for one in decisions(world)
        if isinstance(one, Admit)
    }
    assert admitted == {"j0": 0, "j2": 2_000, "j1": 100_000, "j3": 110_000}
