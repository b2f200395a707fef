"""Load shapes as people write them, and as a trace had them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.analysis.load_fit import fit_load, said_of_fit
from scheduler.assembly import InputError, assemble
from scheduler.input.traces import formats
from scheduler.input.traces.formats.swf import read_trace
from scheduler.input.traces.options import NO_OPTIONS
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.durations import milliseconds
from tests.builders import job, local_queue, small_cluster
from tests.sandbox.conftest import text_of

ROOT = Path(__file__).resolve().parents[3]
HOUR = 3_600_000
DAY = 24 * HOUR


def load_of(process: str = "week", **parameters: Any) -> dict[str, Any]:
    one = job("train", queue="main", runtime="lognormal(median 5m, p90 20m)")
    arrival = {"process": process, "parameters": parameters, "object": one}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Load",
        "metadata": {"name": "team"},
        "spec": {"arrivals": [arrival]},
    }


def times(load: dict[str, Any], seed: int = 1) -> list[int]:
    sources = [("q.yaml", text_of(*small_cluster())), ("load.yaml", yaml.dump(load))]
    found = assemble(sources, seed=seed).loaded.objects
    return sorted(
        milliseconds(obj.annotations[ARRIVAL]) for obj in found if obj.key.kind == "Job"
    )


def test_a_weeks_load_comes_in_working_hours_and_rarely_on_weekends():
    found = times(load_of(perDay=100, hours="9-18", outside=0.1, weekend=0.05))
    days = Counter(at // DAY for at in found)
    working = sum(days[day] for day in range(5))
    assert 420 <= working <= 580
    assert days[5] + days[6] < 30
    inside = sum(9 <= at % DAY // HOUR < 18 for at in found)
    assert 0.85 <= inside / len(found) <= 0.95


def test_the_same_seed_gives_the_same_arrivals():
    load = load_of(perDay=20)
    assert times(load, 3) == times(load, 3) != times(load, 4)


def test_before_a_deadline_more_comes():
    deadline = {"at": "fri 17:00", "before": "24h", "times": 5}
    plain = times(load_of(perDay=100))
    pressed = times(load_of(perDay=100, deadlines=[deadline]))

    def late(found: list[int]) -> int:
        return sum(3 * DAY + 17 * HOUR <= at < 4 * DAY + 17 * HOUR for at in found)

    assert 3.5 <= late(pressed) / late(plain) <= 6.5
    rest = (len(pressed) - late(pressed)) / (len(plain) - late(plain))
    assert 0.8 <= rest <= 1.25


def test_what_a_deadline_brings_comes_within_its_time_and_not_after():
    deadline = {"at": "fri 17:30", "before": "90m", "times": 500}
    plain = {"perDay": 24, "hourly": [1.0] * 24, "weekend": 1}
    found = times(load_of(**plain, deadlines=[deadline]))
    at = 4 * DAY + 17 * HOUR + HOUR // 2
    pressed = [one for one in found if at - 2 * HOUR < one < at + HOUR]
    assert 600 <= len(pressed) <= 900
    outside = [one for one in pressed if not at - 3 * HOUR // 2 <= one < at]
    assert len(outside) < 10


def test_more_than_the_most_arrivals_are_refused():
    with pytest.raises(InputError, match="objects of one import"):
        times(load_of(perDay=1_000_000))


def test_no_time_between_arrivals_is_refused():
    with pytest.raises(InputError, match="every: expected at least 1ms"):
        times(load_of("poisson", every="0s", until="1h"))


def test_a_ramp_goes_from_one_to_its_end():
    found = times(load_of(perDay=50, until="4w", ramp={"to": 4, "over": "4w"}))
    weeks = Counter(at // (7 * DAY) for at in found)
    assert 2.0 <= weeks[3] / weeks[0] <= 3.5


def test_bursts_come_together_and_keep_the_mean():
    found = times(load_of(perDay=200, batch={"least": 5, "most": 15, "apart": "2s"}))
    assert 850 <= len(found) <= 1250
    together = sum(b - a == 2_000 for a, b in pairwise(found))
    assert together / len(found) > 0.85


def test_time_zero_is_the_moment_that_begins_says():
    found = times(load_of(perDay=50, begins="sat 0:00", until="24h", weekend=0))
    assert found == []


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"perDay": 5, "hours": "nine to five"}, "hours"),
        ({"perDay": 5, "days": ["monday"]}, "days"),
        ({"perDay": 5, "hourly": [1, 2]}, "hourly"),
        ({"perDay": 5, "deadlines": [{"at": "friday"}]}, "deadlines[0].at"),
        ({"perDay": 5, "deadlines": [{"at": "fri 16:75"}]}, "deadlines[0].at"),
        ({"perDay": 5, "deadlines": [{"at": "fri 24:30"}]}, "deadlines[0].at"),
        ({"perDay": 5, "until": "-1w"}, "until: expected at least 0s"),
        ({"perDay": 5, "ramp": {"to": 2, "over": "soon"}}, "ramp.over"),
        ({"perDay": -5}, "perDay"),
        ({"perDay": 5, "outside": 1.5}, "outside"),
        ({"perDay": 5, "hourly": [-1.0] * 24}, "hourly"),
        ({"perDay": 5, "batch": {"least": 5, "most": 3}}, "batch.most"),
        ({"perday": 5}, "perday"),
        ({}, "perDay"),
    ],
)
def test_a_shape_that_is_none_is_refused_where_it_stands(parameters, said):
    with pytest.raises(InputError) as refused:
        times(load_of(**parameters))
    assert said in str(refused.value)
    assert "load.yaml" in str(refused.value)


def test_run_times_of_a_load_are_drawn_one_by_one():
    sources = [
        ("q.yaml", text_of(*small_cluster())),
        ("load.yaml", yaml.dump(load_of(perDay=30))),
    ]
    (first, *_) = [o for o in assemble(sources).loaded.objects if o.key.kind == "Job"]
    assert first.annotations[RUNTIME].startswith("lognormal")


def trace_text() -> str:
    """A trace of three weeks: small jobs by day, a wide one every night."""
    lines = ["; UnixStartTime: 345600", "; MaxProcs: 64"]  # a Monday
    number = 0
    for day in range(21):
        busy = 40 if day % 7 < 5 else 4
        jobs = [(9 * 3600 + n * 700, 1, 300) for n in range(busy)] + [(3600, 16, 7200)]
        for second, size, run in sorted(jobs):
            number += 1
            at = day * 86400 + second
            lines.append(
                f"{number} {at} 0 {run} {size} -1 -1 {size} -1 -1 1 1 1 1 1 1 -1 -1"
            )
    return "\n".join(lines)


def test_the_load_of_a_trace_is_one_process_per_class():
    found = fit_load(read_trace(trace_text(), "log.swf"), queue="main", weeks=2)
    small, wide = found["spec"]["arrivals"]
    assert small["object"]["spec"]["parallelism"] == 1
    assert small["object"]["metadata"]["annotations"][RUNTIME].startswith(
        "quantiles(300"
    )
    assert wide["object"]["spec"]["parallelism"] == 16
    daily = small["parameters"]["daily"]
    assert min(daily[:5]) > 3 * max(daily[5:])
    hourly = wide["parameters"]["hourly"]
    assert hourly.index(max(hourly)) == 1


def test_a_fitted_load_comes_as_often_as_its_trace():
    load = fit_load(read_trace(trace_text(), "log.swf"), queue="main", weeks=3)
    jobs = 3 * (5 * 41 + 2 * 5)
    assert 0.8 * jobs <= len(times(load)) <= 1.2 * jobs


def test_a_fit_says_what_it_leaves_out_and_assumes():
    lines = [
        f"{n} {n * 100} 0 60 {1 << n % 14} -1 -1 {1 << n % 14} -1 -1 1 1 1 1 1 1 -1 -1"
        for n in range(1, 29)
    ]
    text = "\n".join([*lines, "29 9000 0 -1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1", "no"])
    said = said_of_fit(read_trace(text, "log.swf"))
    assert any("expected 18 numbers (1 x)" in one for one in said)
    assert any("4 jobs of 2 small classes are one class" in one for one in said)
    assert any("began" in one and "Monday" in one for one in said)


def test_a_table_with_dates_is_fitted_to_its_days_and_hours():
    rows = [f"{day},2026-02-{day:02d}T14:30:00Z,60,1" for day in (4, 11, 18, 25)]
    text = "\n".join(["id,submit_time,duration,cpus", *rows])  # Wednesdays
    trace = formats.read(text, "jobs.csv", NO_OPTIONS)
    (arrival,) = fit_load(trace, queue="main")["spec"]["arrivals"]
    daily, hourly = arrival["parameters"]["daily"], arrival["parameters"]["hourly"]
    assert (daily.index(max(daily)), hourly.index(max(hourly))) == (2, 14)
    assert not any("Monday" in one for one in said_of_fit(trace))


def test_the_load_of_the_page_about_loads_comes():
    text = (ROOT / "docs" / "loads.md").read_text()
    example = text.split("```yaml\n")[1].split("```")[0]
    queues = text_of(*small_cluster(), local_queue("research", cluster_queue="main"))
    loaded = assemble([("q.yaml", queues), ("load.yaml", example)]).loaded
    assert loaded.findings == []
    assert sum(obj.key.kind == "Job" for obj in loaded.objects) > 400
