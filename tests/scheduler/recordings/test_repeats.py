"""How far two runs of one input are apart, and a run from its recording."""

from __future__ import annotations

import pytest

from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, job, local_queue, node, world_of
from tests.recorded import __main__ as command
from tests.recorded.recording import Recording
from tests.recorded.rerun import DrawnTimes, Repeats, Rerun, use_times

JOB = ("default", "a")
OWNER = "Workload/default/a"


def off_by(*errors: float) -> Rerun:
    return Rerun(
        admissions=1,
        in_order=1,
        evictions=0,
        recorded_evictions=0,
        errors=sorted(errors),
    )


def drawn() -> DrawnTimes:
    """Return the times of a recording that showed three starts of Jobs."""
    queues = [flavor(), cluster_queue("q"), local_queue("q", cluster_queue="q")]
    world = world_of(*queues, node("n"), job("a", queue="q"))
    recording = Recording(
        name="r", start="2026-01-01T00:00:00Z", sources=[], arrivals=[], events=[]
    )
    jobs = {Key(*OWNER.split("/")): "default/a"}
    times = use_times(world, recording, jobs, DrawnTimes)
    assert isinstance(times, DrawnTimes)
    times.samples["job_start"] = [(0, 300), (10, 400), (20, 500)]
    times.steps[JOB, "job_start", 1, 0] = 9000
    return times


def test_a_drawn_step_takes_what_one_of_its_kind_took():
    times = drawn()
    assert {times.draw("job_start", OWNER, n) - 200 for n in range(1, 40)} == {
        300,
        400,
        500,
    }


def test_the_write_of_a_drawn_run_takes_the_usual_time():
    times = drawn()
    assert times.writes.admission(0, JOB) == 200
    assert not times.writes.writes.admissions


@pytest.mark.parametrize(
    ("errors", "shares"),
    [((1.0,), (1.0, 1.0)), ((3.0,), (0.5, 1.0)), ((70.0,), (0.0, 0.0))],
)
def test_a_run_is_held_against_each_two_repeats(errors, shares):
    found = Repeats(4, [1.0, 2.0, 3.0, 4.0], [20.0, 30.0, 40.0, 60.0])
    assert found.at_least(off_by(*errors)) == shares


def test_what_two_repeats_differ_by_is_said_with_its_spread():
    found = Repeats(3, [1.0, 2.0, 3.0], [20.0, 30.0, 40.0])
    assert found.beside(off_by(2.5)) == (
        "3 runs with drawn steps: first admissions of two differ by a median of 2.0 s "
        "(1.0 to 3.0), p90 30.0 s (20.0 to 40.0); 33% of the pairs by a median as "
        "large as this run and the recording, 100% by a p90 as large"
    )


@pytest.mark.parametrize("given", ["1", "0", "-3", "some"])
def test_a_run_that_is_alone_has_none_to_differ_from(given, capsys):
    with pytest.raises(SystemExit):
        command.main(["folder", f"--repeats={given}"])
    assert f"expected a count of 2 or more, got '{given}'" in capsys.readouterr().err
