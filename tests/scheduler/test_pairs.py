"""A run and the same run with a change, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.explain.fork import fork
from scheduler.analysis.measures.verdict import running_since, verdict
from scheduler.analysis.pairs import PairVerdict, Side, compare_pair, marks
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


@settings(max_examples=10, deadline=None)
@given(worlds(), st.integers(0, 8))
def test_a_verdict_so_far_is_that_of_a_nearer_horizon(
    world: World, amount: int
) -> None:
    told: list[PairVerdict] = []
    compare_pair(world, give(amount), horizon_ms=HORIZON_MS, tell=told.append)
    begin = world.context.now_ms
    assert [one.to_ms for one in told] == marks(begin, begin + HORIZON_MS)
    for far in told:
        near = compare_pair(world, give(amount), horizon_ms=far.to_ms - begin)
        assert far.seeds[0].verdict == near.seeds[0].verdict
        assert far.seeds[0].only_with == near.seeds[0].only_with
        for side, other in (
            (far.seeds[0].without, near.seeds[0].without),
            (far.seeds[0].changed, near.seeds[0].changed),
        ):
            assert side.waiting == other.waiting
            assert side.wait_mean_ms == other.wait_mean_ms
            assert side.share_error == pytest.approx(other.share_error)


def test_a_run_without_the_change_that_is_kept_gives_the_same_verdict() -> None:
    jobs = [job(f"j{n}", queue="main", cpu="3", runtime="20s") for n in range(3)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    run_tick(world)
    kept: dict[int, Side] = {}

    def plain(seed: int, begin: Callable[[], Side]) -> Side:
        return kept.setdefault(seed, kept.get(seed) or begin())

    found = [
        compare_pair(world, give(amount), horizon_ms=HORIZON_MS, plain=plain)
        for amount in (8, 2, 8)
    ]
    fresh = [
        compare_pair(world, give(amount), horizon_ms=HORIZON_MS) for amount in (8, 2)
    ]
    assert found == [*fresh, fresh[0]]
    assert len(kept) == 1
