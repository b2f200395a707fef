"""A twin's what-ifs and forecasts: what runs in the cluster goes on from where it stands."""

from __future__ import annotations

import pytest

from scheduler.analysis.forecast.present import present_of
from scheduler.analysis.forecast.world import forecast
from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.model.annotations import PREFIX
from scheduler.model.decisions import Finish
from scheduler.recorded.twin import beginning
from scheduler.recorded.twin.files import read_files
from scheduler.recorded.twin.going_on import go_on, running_now
from scheduler.recorded.twin.observing import observe
from scheduler.recorded.twin.played import recording_of
from tests.builders import cluster_queue, flavor, job, local_queue, node
from tests.sandbox.conftest import text_of

#: Six jobs one after the other, each of 10 s; the recording is looked at in the fourth.
JOBS, RUNS_S, AT = 6, 10, 52


def played_text():
    jobs = [job(f"j{n}", queue="lq", cpu=2, runtime=f"{RUNS_S}s") for n in range(JOBS)]
    queues = (cluster_queue("cq", cpu=2), local_queue("lq", cluster_queue="cq"))
    return text_of(flavor(), *queues, node("n", cpu=4), *jobs)


@pytest.fixture(scope="module")
def recording():
    return read_files([("a.qrec", recording_of(played(), 90_000))])


@pytest.fixture
def twin(recording):
    """Return the twin's world, and what was seen after it."""
    world, _ = beginning.begin_recording(recording)
    later = []
    for tick, seen in beginning.ticks_of(recording):
        if tick <= AT:
            observe(world, seen, tick=tick, now_ms=1000 * tick)
        else:
            later += seen
    observe(world, [], tick=AT, now_ms=1000 * AT)
    world.take()
    return world, later


def test_a_recording_of_a_played_cluster_knows_nothing_of_what_is_to_come(recording):
    objects = [*recording.standing, *(seen.object for seen in recording.events)]
    notes = [one["metadata"].get("annotations") or {} for one in objects]
    assert [name for one in notes for name in one if name.startswith(PREFIX)] == []


def test_what_runs_in_a_fork_ends_before_the_next_really_did(twin):
    (first, second), (forked, _) = map(ends, (played(), go_on(*twin)))
    assert first <= forked < second


def played():
    return assemble([("all.yaml", played_text())]).world


def ends(world):
    """Return when work ends after the instant: the first and the second time."""
    decisions = simulate(world, until_ms=200_000).decisions
    found = [one.at_ms for one in decisions if isinstance(one, Finish)]
    return [at for at in found if at > 1000 * AT][:2]


def test_a_fork_makes_no_second_pod_for_work_that_has_one(twin):
    world, later = twin
    fork = go_on(world, later)
    simulate(fork, until_ms=1000 * AT)
    pods = {key for key in fork.objects if key.kind == "Pod"}
    assert pods == {key for key in world.objects if key.kind == "Pod"}


def test_a_forecast_of_a_twin_knows_since_when_work_runs(twin):
    world, _ = twin
    present = present_of(running_now(world), continued=False)
    (running,) = [r for r in present.world.lifetime.runs.values() if r.active]
    assert running.ready_ms < 1000 * AT
    assert running.owner in present.known


def test_a_forecast_of_a_twin_has_the_next_start_within_a_run_time(twin):
    world, _ = twin
    found = forecast(running_now(world), futures=5, seed=1, horizon_ms=600_000)
    soonest = min(one.p10_ms for one in found.starts if one.p10_ms is not None)
    assert soonest <= 2 * 1000 * RUNS_S


def test_what_a_forecast_begins_from_is_a_copy(twin):
    world, _ = twin
    before = world.hash()
    running_now(world)
    assert world.hash() == before
