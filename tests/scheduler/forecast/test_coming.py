"""Arrivals of a world that go on as they came."""

from __future__ import annotations

from random import Random

from scheduler.analysis.forecast.arrivals import HOUR_MS, QueueArrivals, fit
from scheduler.analysis.forecast.world import forecast
from scheduler.engine.tick import advance
from tests.builders import job, small_cluster, world_of

WEEK_MS = 168 * HOUR_MS


def stream(minutes, *, every_s=60, **fields):
    """Return a world to which a job came every minute, as of so many minutes."""
    jobs = [
        job(f"train-{n}", queue="main", cpu="1", arrival=f"{n * every_s}s", **fields)
        for n in range(minutes * 60 // every_s + 1)
    ]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    advance(world, minutes * 60_000)
    world.take()
    return world


def test_a_queue_goes_on_at_the_rate_of_its_past():
    world = stream(30, runtime="30s")
    now = world.context.now_ms
    coming = fit(world)
    counts = [
        sum(1 for _ in coming.future(Random(seed), now + 30 * 60_000))
        for seed in range(40)
    ]
    assert 27 <= sum(counts) / len(counts) <= 33


def test_an_hour_of_the_week_has_its_own_rate():
    rates = [0.0] * 168
    rates[5] = 6.0
    queue = QueueArrivals([()], rates, 0)
    times = [at for at, _ in queue.future(Random(1), 0, 3 * WEEK_MS)]
    assert times
    assert {at // HOUR_MS % 168 for at in times} == {5}


def test_what_a_world_knows_to_come_is_not_doubled():
    jobs = [job(f"a-{n}", queue="main", cpu="1", arrival=f"{n}m") for n in range(60)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    advance(world, 30 * 60_000)
    first = next(fit(world).future(Random(1), WEEK_MS))
    assert first[0] > 59 * 60_000


def test_arrivals_that_go_on_make_it_later_never_sooner():
    """The last of a queue that is overtaken by arrivals of higher priority."""
    jobs = [
        job(f"hot-{n}", queue="main", cpu="4", arrival=f"{n * 60}s", runtime="50s")
        for n in range(12)
    ]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    advance(world, 11 * 60_000 + 5_000)
    world.take()
    options = {"futures": 6, "seed": 1, "horizon_ms": 600_000}
    known = forecast(world, **options)
    gone_on = forecast(world, continued=True, **options)
    assert (known.arrivals, known.came) == ("known", 0)
    assert (gone_on.arrivals, gone_on.came) == ("continued", 11)
    for one, other in zip(known.starts, gone_on.starts, strict=True):
        assert one.p50_ms <= (other.p50_ms or 10**9)


def test_too_few_arrivals_are_not_enough_history():
    world = stream(3, runtime="1s")
    found = forecast(world, continued=True, futures=1, seed=1, horizon_ms=1000)
    assert not found.enough
