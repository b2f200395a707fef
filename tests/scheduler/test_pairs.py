"""A run and the same run with a change, side by side."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.explain.fork import fork
from scheduler.analysis.measures.verdict import running_since, verdict
from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import merge
from scheduler.engine.simulation import simulate
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.decisions import Preempt
from scheduler.model.objects import Key, Object
from tests.builders import job, small_cluster, workload_priority, world_of

HORIZON_MS = 60_000
QUEUE = Key("ClusterQueue", "", "main")


def give(amount: int) -> Any:
    """Return what gives the ClusterQueue this many CPUs."""

    def alter(world: World) -> None:
        manifest = world.objects[QUEUE].manifest
        (group,) = manifest["spec"]["resourceGroups"]
        (flavor,) = group["flavors"]
        quota = {"name": "cpu", "nominalQuota": str(amount)}
        flavors = [{**flavor, "resources": [quota]}]
        patch = {"spec": {"resourceGroups": [{**group, "flavors": flavors}]}}
        world.put(Object(key=QUEUE, manifest=merge(manifest, patch)))

    return alter


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Return a small world some ticks old, in which work arrives, runs and waits."""
    within = draw(st.sampled_from(("Never", "LowerPriority")))
    jobs = [
        job(
            f"train-{n}",
            queue="main",
            cpu=str(draw(st.integers(1, 4))),
            priority_class=draw(st.sampled_from(("", "high"))),
            arrival=f"{draw(st.integers(0, 9))}s",
            runtime=draw(st.sampled_from(("3s", "uniform(2s, 20s)", "10m"))),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    queue = small_cluster(cpu="4", within=within)
    world = world_of(*queue, workload_priority("high", 100), *jobs)
    for _ in range(draw(st.integers(0, 6))):
        run_tick(world)
    return world


@settings(max_examples=15, deadline=None)
@given(worlds(), st.integers(0, 8), st.integers(1, 3))
def test_the_verdict_is_that_of_two_runs_of_the_engine(
    world: World, amount: int, seed: int
) -> None:
    before = world.hash()
    runs, preempted = [], []
    for alter in (lambda _: None, give(amount)):
        side = fork(world, seed=seed)
        alter(side)
        until = side.context.now_ms + HORIZON_MS
        run = side.context.journal.take_decisions()
        run += simulate(side, until_ms=until).decisions
        runs.append(run)
        preempted.append(sum(isinstance(one, Preempt) for one in run))
    found = compare_pair(world, give(amount), horizon_ms=HORIZON_MS, seeds=[seed])
    begin = world.context.now_ms
    (one,) = found.seeds
    assert one.verdict == verdict(
        *runs,
        kind="Workload",
        from_ms=begin,
        to_ms=begin + HORIZON_MS,
        since=running_since(world),
    )
    assert found.sums["preemptions"].values == [preempted[1] - preempted[0]]
    assert world.hash() == before


@settings(max_examples=10, deadline=None)
@given(worlds())
def test_a_change_that_changes_nothing_gives_an_empty_verdict(world: World) -> None:
    found = compare_pair(
        world, lambda _: None, horizon_ms=HORIZON_MS, seeds=[world.context.seed, 9]
    )
    assert not found.differs
    for one in found.seeds:
        assert (one.verdict.workloads, one.only_with, one.only_without) == ([], [], [])
    assert {v for one in found.sums.values() for v in one.values} <= {0, None}


def test_what_still_waits_at_the_horizon_counts_from_its_arrival() -> None:
    world = world_of(*small_cluster(cpu="4"), job("big", queue="main", cpu="8"))
    for _ in range(5):
        run_tick(world)
    found = compare_pair(world, give(8), horizon_ms=HORIZON_MS)
    (one,) = found.seeds
    assert [each.start for each in one.verdict.workloads] == ["only"]
    waited = world.context.now_ms + HORIZON_MS
    assert (one.without.waiting, one.without.wait_max_ms) == (1, waited)
    assert one.changed.waiting == 0


def test_seeds_that_agree_are_said_to_and_others_give_an_interval() -> None:
    jobs = [
        job(f"train-{n}", queue="main", cpu="4", runtime="uniform(2s, 30s)")
        for n in range(3)
    ]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    found = compare_pair(world, give(8), horizon_ms=HORIZON_MS, seeds=[1, 2, 3])
    assert found.sums["onlyWith"].same
    waits = found.sums["waitMeanMs"]
    assert (waits.same, len(waits.values), found.same) == (False, 3, False)
    assert waits.interval is not None
    assert waits.interval.mean == pytest.approx(sum(map(float, waits.values)) / 3)


def test_a_subject_that_is_there_on_one_side_alone_is_named() -> None:
    world = world_of(*small_cluster(cpu="4"), job("a", queue="main", runtime="10m"))
    run_tick(world)
    (key,) = [one for one in world.objects if one.kind == "Workload"]
    found = compare_pair(
        world,
        lambda side: side.delete(Key("Job", key.namespace, "a")),
        horizon_ms=5_000,
    )
    assert found.differs
    assert found.seeds[0].only_without == [str(key)]
