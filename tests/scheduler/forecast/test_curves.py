"""Shares and utilisation along futures: taken on the way, and no future differs for it."""

from __future__ import annotations

import pytest

from scheduler.analysis.forecast.present import (
    MOST_QUEUES,
    POINTS,
    bands_of,
    curves_of,
    future_of,
    instants,
    level_of,
    played,
    present_of,
    random_of,
    starts_in,
    waiting,
)
from scheduler.analysis.forecast.world import forecast
from scheduler.engine.kueue.tree.quota import share_of_node
from scheduler.engine.tick import advance
from scheduler.model.objects import Key, Object
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    small_cluster,
    world_of,
)

HORIZON_MS = 600_000


def two_teams(weight=None):
    """Return a world in which one of two ClusterQueues borrows what the other has."""
    busy = cluster_queue("busy", cohort="all", cpu=4, weight=weight)
    queues = [busy, cluster_queue("quiet", cohort="all", cpu=4)]
    jobs = [job(f"train-{n}", queue="main", cpu="2", runtime="60s") for n in range(20)]
    main = local_queue("main", cluster_queue="busy")
    world = world_of(flavor(), *queues, main, *jobs)
    advance(world, 150_000)
    world.take()
    return world


def futures(world, *numbers):
    present = present_of(world, continued=False)
    for number in numbers:
        copy = future_of(present, random_of(present, number, 1), HORIZON_MS)
        yield present, copy


@pytest.mark.parametrize("number", range(4))
def test_workloads_start_when_they_would_in_a_future_that_nobody_looks_at(number):
    world = two_teams()
    wanted, until = waiting(world), world.context.now_ms + HORIZON_MS
    ((_, copy),) = futures(world, number)
    looked_at = played(copy, wanted, HORIZON_MS, lambda _: None)
    ((_, copy),) = futures(world, number)
    assert looked_at.starts == starts_in(copy, wanted, until, lambda _: None)


def test_each_level_is_where_the_world_stands_at_its_instant():
    world = two_teams()
    wanted = waiting(world)
    ((_, copy),) = futures(world, 0)
    found = played(copy, wanted, HORIZON_MS, lambda _: None)
    for place, at in enumerate(instants(HORIZON_MS)[: len(found.levels)]):
        ((_, other),) = futures(world, 0)
        starts_in(other, [], world.context.now_ms + at, lambda _: None)
        assert level_of(other, curves_of(world)) == found.levels[place]


def test_a_band_begins_with_what_is_now_and_ends_with_the_first_future_that_ends():
    world = two_teams()
    found = forecast(world, futures=5, seed=1, horizon_ms=HORIZON_MS).curves
    (busy, quiet, cpu) = found.bands
    assert [(one.of, one.name) for one in found.bands] == [
        ("share", "busy"),
        ("share", "quiet"),
        ("utilisation", "cpu"),
    ]
    now = share_of_node(world.kueue.cluster.forest.queues["busy"]).value
    assert busy.p10[0] == busy.p50[0] == busy.p90[0] == now > 0
    assert set(quiet.p90) == {0.0}
    assert cpu.p50[0] == 100.0
    assert found.at_ms[0] == 0
    assert found.at_ms[-1] >= HORIZON_MS // 12
    for one in found.bands:
        assert len(one.p10) == len(one.p50) == len(one.p90) == len(found.at_ms)
        for low, middle, high in zip(one.p10, one.p50, one.p90, strict=True):
            assert low <= middle <= high


def test_an_infinite_share_is_none():
    found = forecast(two_teams(weight="0"), futures=3, seed=1, horizon_ms=HORIZON_MS)
    assert found.curves.bands[0].p50[0] is None


def test_what_runs_out_of_futures_has_no_bands():
    world = world_of(*small_cluster(cpu="4"))
    assert bands_of(curves_of(world), [], HORIZON_MS).bands == []


def test_a_horizon_is_looked_at_closer_at_its_begin():
    found = instants(3_600_000)
    assert (found[0], found[1], found[-1], len(found)) == (
        0,
        1000,
        3_600_000,
        POINTS + 1,
    )
    assert instants(1) == [0, 1]


def test_of_more_queues_than_are_followed_the_first_have_shares_and_all_are_used():
    queues = [cluster_queue(f"q{n:03d}", cpu=1) for n in range(MOST_QUEUES + 5)]
    world = world_of(flavor(), *queues)
    world.freshen()
    assert [one.of for one in curves_of(world)] == ["share"] * MOST_QUEUES + [
        "utilisation"
    ]


def test_a_queue_that_is_gone_has_no_share_and_one_that_comes_is_not_followed():
    world = two_teams()
    curves = curves_of(world)
    for key in [*world.keys("Job"), *world.keys("Workload")]:
        if key in world.objects:
            world.delete(key)  # in use it would stay
    world.delete(Key("ClusterQueue", "", "busy"))
    assert Key("ClusterQueue", "", "busy") not in world.objects
    key = Key("ClusterQueue", "", "anew")
    world.put(Object(key=key, manifest=cluster_queue("anew", cpu=4)))
    world.freshen()
    assert len(level_of(world, curves)) == len(curves)
    assert level_of(world, curves)[0] == 0.0
