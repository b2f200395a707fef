"""Trace files: jobs come at their times, and nothing is left out in silence."""

from __future__ import annotations

import gzip

import pytest

from scheduler.assembly import Assembled, InputError, assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import simulate
from scheduler.input.manifests.report import report_of
from scheduler.input.traces.formats.swf import read_trace
from scheduler.model.decisions import Finish
from scheduler.model.objects import Key

HEADER = "; MaxProcs: 16\n; Queue: 1 [fast Q]\n"
QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: default}
spec: {clusterQueue: cluster}
"""
SCENARIO = """
apiVersion: quotalab.dev/v1
kind: Scenario
metadata: {name: few}
spec:
  title: {en: few}
  summary: {en: few}
  arrivals:
    - {process: swf, parameters: {file: t.swf, queue: batch, most: 1}}
"""


def line(number: int, **given: float) -> str:
    """Return a line of the format: what is not given is unknown."""
    known = {"submit": 0, "run": 60, "size": 1, "status": 1, **given}
    at = {"submit": 1, "run": 3, "size": 4, "limit": 8, "status": 10}
    at |= {"user": 11, "queue": 14}
    values = [number, *[-1] * 17]
    for name, value in known.items():
        values[at[name]] = value
    return " ".join(map(str, values)) + "\n"


def taken(*lines: str, beside: str = "") -> Assembled:
    return assemble([("t.swf", HEADER + "".join(lines)), ("q.yaml", beside)])


def warnings(made: Assembled) -> str:
    return "\n".join(map(str, made.loaded.findings))


def job(made: Assembled, name: str) -> dict:
    return made.world.objects[Key("Job", "default", name)].manifest


def test_a_trace_alone_gets_queues_of_its_machine_and_runs():
    made = taken(line(1, size=16, run=60), line(2, submit=5, run=30))
    outcome = simulate(made.world, until_ms=300_000)
    first, second = (d for d in outcome.decisions if isinstance(d, Finish))
    assert first.subject.name.startswith("job-t-1-")
    assert first.at_ms >= 60_000
    assert second.at_ms >= first.at_ms + 30_000
    assert "made ClusterQueue trace of 16 cpu" in warnings(made)


def test_user_limit_size_and_queue_of_a_line_become_those_of_the_job():
    made = taken(line(7, size=3, limit=90, user=4, queue=1), beside=QUEUE % "fast-q")
    manifest = job(made, "t-7")
    assert manifest["spec"]["parallelism"] == 3
    assert manifest["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "fast-q",
        "kueue.x-k8s.io/max-exec-time-seconds": "90",
        "user": "user-4",
    }


def test_jobs_go_to_a_queue_that_is_there_when_none_has_their_queues_name():
    made = taken(line(1, queue=1), beside=QUEUE % "batch")
    labels = job(made, "t-1")["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "batch"
    assert "the jobs go to LocalQueue default/batch" in warnings(made)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (line(2, run=-1), "run time (field 4) is unknown"),
        (line(2, submit=-1), "submit time (field 2) is unknown"),
        (line(2, status=3), "one attempt of a job"),
        ("2 0 nan\n", "expected 18 numbers"),
    ],
)
def test_a_line_that_is_left_out_is_counted_with_its_reason(bad, reason):
    report = report_of(taken(line(1), bad, bad).loaded)
    (group,) = [g for g in report.findings if reason in g.problem]
    assert (group.count, [p.line for p in group.places]) == (2, [4, 5])
    assert report.files[-1].refused == 2


def test_whatever_is_said_of_a_trace_has_its_code():
    lines = line(1, size=0, limit=90), line(2, run=-1), line(3, submit=-1)
    made = taken(*lines, "2 0 nan\n", beside=QUEUE % "batch")
    report = report_of(made.loaded)
    assert [one.problem for one in report.findings if not one.said.code] == []
    assert {one.said.text for one in report.findings} == {
        one.problem for one in report.findings
    }


def test_a_file_without_any_line_of_the_format_is_an_error():
    with pytest.raises(InputError, match=r"t\.swf:3: .*expected 18 numbers"):
        taken("hello\n")


def test_what_a_scenario_cuts_off_and_leaves_out_is_reported():
    lines = line(9, run=-1) + line(1) + line(2) + line(3)
    made = assemble(
        [("s.yaml", SCENARIO), ("q.yaml", QUEUE % "batch"), ("t.swf", lines)]
    )
    said = warnings(made)
    assert "t.swf:1: job 9 of the trace is left out" in said
    assert "t.swf:3: from this line on 2 of 3 jobs of the trace are left out" in said


AGAIN = "    - {process: swf, parameters: {file: %s, queue: batch}}\n"


def test_several_traces_of_a_scenario_bring_all_their_jobs():
    scenario = SCENARIO + AGAIN % "t.swf" + AGAIN % "u.swf"
    files = [("s.yaml", scenario), ("q.yaml", QUEUE % "batch"), ("t.swf", line(1))]
    made = assemble([*files, ("u.swf", line(1, submit=5) + line(1, submit=7))])
    jobs = [key.name for key in made.world.objects if key.kind == "Job"]
    assert sorted(jobs) == ["swf-1", "swf-1-2", "swf-1-3", "swf-1-4"]


def test_a_packed_trace_is_read_by_the_command(tmp_path):
    path = tmp_path / "t.swf.gz"
    path.write_bytes(gzip.compress(line(1).encode()))
    assert read_sources([path]) == [("t.swf", line(1))]


def test_columns_after_those_of_the_format_are_said_and_not_used():
    line = "1 10 0 60 1 -1 -1 1 120 -1 1 1 1 -1 1 -1 -1 -1"
    trace = read_trace(f"{line} 7 x\n; in between\n{line}", "t.swf")
    assert len(trace.jobs) == 2
    assert [str(one) for one in trace.said] == [
        "1 line has more than 18 columns; those after them are not used"
    ]
