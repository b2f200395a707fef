"""What a preemption costs a job that saves its work now and then."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.measures import Measures, Summary
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Checkpoint, Finish
from tests.builders import job, small_cluster, workload_priority, world_of


def preempted(*, at: str = "7s", **low: str) -> World:
    """A job of 20 s of work is preempted once, for 10 s."""
    return world_of(
        *small_cluster(cpu=4, within="LowerPriority"),
        workload_priority("high", 100),
        job("low", queue="main", cpu=4, runtime="20s", **low),
        job(
            "urgent",
            queue="main",
            cpu=4,
            runtime="10s",
            priority_class="high",
            arrival=at,
        ),
    )


def run(world: World) -> tuple[Summary, list]:
    measures, decisions = Measures(world), []

    def hear(made):
        decisions.extend(made)
        measures.observe(made)

    simulate(world, until_ms=120_000, hear=hear)
    return measures.summary(), decisions


def last_finish(decisions: list) -> int:
    return max(d.at_ms for d in decisions if isinstance(d, Finish))


def test_without_checkpoints_all_work_is_lost():
    found, decisions = run(preempted())
    assert found.work_lost_ms == 7_000
    assert last_finish(decisions) == 37_000


def test_work_up_to_the_last_checkpoint_is_kept():
    found, decisions = run(preempted(checkpoint_every="3s"))
    assert found.work_lost_ms == 1_000
    assert last_finish(decisions) == 31_000
    (kept,) = [d for d in decisions if isinstance(d, Checkpoint)]
    assert (kept.kept_ms, kept.subject.kind) == (6_000, "Workload")


def test_a_restart_takes_its_time_before_work_goes_on():
    found, decisions = run(preempted(checkpoint_every="3s", restart_takes="2s"))
    assert last_finish(decisions) == 33_000
    assert found.restarts == 1


def test_goodput_is_the_share_of_held_quota_that_was_not_lost():
    found, _ = run(preempted())
    assert found.goodput == {"cpu": pytest.approx(30 / 37)}


@settings(max_examples=25, deadline=None)
@given(at=st.integers(1, 19), every=st.integers(1, 30), restart=st.integers(0, 5))
def test_a_copy_in_the_middle_ends_as_the_world_itself(at, every, restart):
    world = preempted(
        at=f"{at}s", checkpoint_every=f"{every}s", restart_takes=f"{restart}s"
    )
    simulate(world, until_ms=at * 1000 + 500)
    again = world.copy()
    simulate(world, until_ms=90_000)
    simulate(again, until_ms=90_000)
    assert again.hash() == world.hash()
    work = world.keys("Workload")
    kept = at - at % every
    ends = world.lifetime.runs[work[0]].kept_ms if work else kept
    assert ends in (0, kept * 1000)
