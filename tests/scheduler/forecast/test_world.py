"""Forecasts of a world: its engine runs many futures of copies."""

from __future__ import annotations

import io

import pytest
import yaml

from scheduler.analysis.forecast.world import forecast
from scheduler.cli.forecast import main
from scheduler.engine.tick import advance
from scheduler.model.errors import SchedulerError
from tests.builders import job, small_cluster, world_of


def busy():
    """Return a world in which six jobs of 60 s ended, one runs, the others wait."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="60s") for n in range(12)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    advance(world, 390_000)
    world.take()
    return world


def test_workloads_of_equal_run_times_start_one_after_another():
    found = forecast(busy(), futures=8, seed=1, horizon_ms=3_600_000)
    middles = sorted(one.p50_ms for one in found.starts)
    assert found.enough
    assert middles == pytest.approx([30_000 + 60_000 * n for n in range(5)], rel=0.15)
    for one in found.starts:
        assert one.p10_ms <= one.p50_ms <= one.p90_ms
        assert [c.chance for c in one.chances] == sorted(c.chance for c in one.chances)


def test_a_forecast_changes_nothing_and_its_seed_gives_it_again():
    world = busy()
    before = world.hash()
    first = forecast(world, futures=3, seed=7, horizon_ms=600_000)
    assert forecast(world, futures=3, seed=7, horizon_ms=600_000) == first
    assert world.hash() == before


def test_what_no_future_reaches_is_beyond_the_horizon():
    found = forecast(busy(), futures=3, seed=1, horizon_ms=45_000)
    assert sum(one.p50_ms is None for one in found.starts) == 4


def test_when_time_is_up_the_futures_that_ended_are_the_answer():
    whole = forecast(busy(), futures=2, seed=1, horizon_ms=600_000)
    instants = []
    forecast(
        busy(),
        futures=2,
        seed=1,
        horizon_ms=600_000,
        go_on=lambda: instants.append(1) is None,
    )
    left = iter([True] * len(instants))  # as many as two futures ask
    short = forecast(
        busy(), futures=9, seed=1, horizon_ms=600_000, go_on=lambda: next(left, False)
    )
    assert (short.asked, short.futures) == (9, 2)
    assert short.starts == whole.starts


def test_no_chance_is_given_beyond_the_horizon():
    found = forecast(busy(), futures=2, seed=1, horizon_ms=120_000)
    for one in found.starts:
        assert [c.within_ms for c in one.chances] == [60_000, 120_000]


def test_no_future_at_all_is_an_error():
    for futures, go_on in ((0, lambda: True), (2, lambda: False)):
        with pytest.raises(SchedulerError, match="future"):
            forecast(busy(), futures=futures, seed=1, horizon_ms=1, go_on=go_on)


def test_a_world_without_kueue_says_so():
    world = world_of(stack="kube")
    with pytest.raises(SchedulerError, match="runs without Kueue"):
        forecast(world, futures=1, seed=1, horizon_ms=1)


def test_the_command_says_when_each_starts(tmp_path):
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="60s") for n in range(3)]
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all([*small_cluster(cpu="4"), *jobs]))
    out = io.StringIO()
    assert main([str(file), "--at", "10s", "--futures", "2"], out) == 0
    lines = out.getvalue().splitlines()
    assert "2 wait; 2 futures" in lines[0]
    assert "not enough history" in lines[0]
    assert len(lines) == 3
