"""Run times that manifests hold in their commands and deadlines."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.cli import run
from scheduler.input.manifests.chosen_run_times import ended_work
from scheduler.input.manifests.report import report_of
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.objects import Key, Object
from tests.builders import job, small_cluster
from tests.sandbox.conftest import text_of


def ran(*words: str, **spec):
    """Return the annotations of a Job with this command, read by sleep and deadline."""
    one = job("j", queue="main", cpu=1)
    pod = one["spec"]["template"]["spec"]
    if words:
        pod["containers"][0]["command"] = list(words)
    one["spec"] |= spec
    policy = {"simulation": {"runTimesFrom": "sleep-deadline"}}
    # As kubectl prints it: a word such as 0E0 is a text there.
    given = json.dumps({"kind": "List", "items": [*small_cluster(), one]})
    made = assemble([("w.json", given)], policy=policy)
    return made.world.get(Key("Job", "default", "j")).annotations


@pytest.mark.parametrize(
    ("words", "span"),
    [
        (("sleep", "300"), "300000ms"),
        (("/bin/sleep", "1m", "30s"), "90000ms"),
        (("sh", "-c", "prepare; sleep 2; work && sleep 0.5m"), "32000ms"),
        (("sh", "-c", "(sleep '1h')"), "3600000ms"),
        (("stress-ng", "--cpu", "4", "--timeout", "60s"), "60000ms"),
        (("stress", "-c", "2", "--timeout=2m"), "120000ms"),
    ],
)
def test_a_command_that_sleeps_gives_the_run_time(words, span):
    found = ran(*words)
    assert (found[RUNTIME], found[RUNTIME_SOURCE]) == (span, "its command")


@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "while true; do sleep 5; done"),
        ("sh", "-c", "sleep $SECONDS_TO_WAIT"),
        ("sleep", "infinity"),
        ("python", "train.py", "--sleep", "5"),
        ("sleep", "0"),
    ],
)
def test_a_command_whose_time_is_open_gives_none(words):
    assert RUNTIME not in ran(*words)


@given(st.lists(st.text(max_size=30), max_size=5))
def test_no_command_breaks_the_reading(words):
    found = ran(*(word for word in words if word.isprintable()))
    assert found.get(RUNTIME_SOURCE, "its command") == "its command"


def test_what_serves_takes_no_run_time_from_its_command():
    serving = job("web", queue="main", cpu=1)
    serving["kind"], serving["apiVersion"] = "Deployment", "apps/v1"
    labels = {"app": "web"}
    serving["spec"]["template"]["metadata"] = {"labels": labels}
    serving["spec"] = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": serving["spec"]["template"],
    }
    serving["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    container = serving["spec"]["template"]["spec"]["containers"][0]
    container["command"] = ["sleep", "300"]
    policy = {"simulation": {"runTimesFrom": "sleep"}}
    made = assemble([("w.yaml", text_of(*small_cluster(), serving))], policy=policy)
    found = made.world.get(Key("Deployment", "default", "web"))
    assert RUNTIME not in found.annotations


def test_a_deadline_is_shared_by_the_rounds_of_a_job():
    found = ran(activeDeadlineSeconds=600, completions=4, parallelism=2, suspend=True)
    assert (found[RUNTIME], found[RUNTIME_SOURCE]) == ("300s", "its deadline")


def test_the_report_says_how_many_run_times_were_read():
    one = job("j", queue="main", cpu=1)
    one["spec"]["template"]["spec"]["containers"][0]["command"] = ["sleep", "5"]
    policy = {"simulation": {"runTimesFrom": "sleep"}}
    made = assemble([("w.yaml", text_of(*small_cluster(), one))], policy=policy)
    [found] = report_of(made.loaded, default_runtime="60s").findings
    assert str(found.problem) == "1 Job takes its run time from its command"


def test_strict_refuses_work_without_a_run_time(tmp_path, capsys):
    file = tmp_path / "w.yaml"
    file.write_text(text_of(*small_cluster(), job("j", queue="main", cpu=1)))
    assert run.main([str(file), "--strict"], io.StringIO()) == 2
    assert "1 Job has no run time" in capsys.readouterr().err


@pytest.fixture
def recorded(tmp_path) -> Path:
    """A recording in which trainings took two minutes and tests took twenty seconds."""
    made = [job(f"train-{n}", queue="main", cpu=1, runtime="2m") for n in range(2)]
    made += [job("test-0", queue="main", cpu=1, runtime="20s")]
    (tmp_path / "past.yaml").write_text(text_of(*small_cluster(), *made))
    words = ["--until", "10m", "--record", str(tmp_path / "past.qrec")]
    assert run.main([str(tmp_path / "past.yaml"), *words], io.StringIO()) == 0
    return tmp_path / "past.qrec"


def test_work_takes_the_run_time_of_its_like_in_a_recording(recorded, tmp_path):
    names = ("train-7", "test-3")
    jobs = [job(name, queue="main", cpu=1) for name in names]
    file = tmp_path / "now.yaml"
    file.write_text(text_of(*small_cluster(), *jobs))
    out = io.StringIO()
    words = ["--run-times-from", str(recorded), "--strict"]
    assert run.main([str(file), *words], out) == 0
    said = out.getvalue()
    assert (
        "2 objects of kind Job take their run time from their like in past.qrec" in said
    )
    ends = [line for line in said.splitlines() if "Finish" in line]
    seconds = [float(line.split("s")[0]) for line in ends]
    assert ["test-3" in line for line in ends] == [True, False]
    assert seconds[0] < 40 < 115 < seconds[1] < 140


def test_a_job_and_its_workload_are_one_piece_of_work_that_ended():
    start, end = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
    status = {"startTime": start, "completionTime": end}
    one = Object(
        key=Key("Job", "default", "j"),
        manifest={"metadata": {"uid": "1"}},
        status=status,
    )
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": at}
        for kind, at in (("Admitted", start), ("Finished", end))
    ]
    its = Object(
        key=Key("Workload", "default", "job-j"),
        manifest={"metadata": {"ownerReferences": [{"uid": "1", "name": "j"}]}},
        status={"conditions": conditions},
    )
    assert [found.object.key for found in ended_work([its, one])] == [one.key]
    assert [found.seconds for found in ended_work([its])] == [60.0]


@pytest.mark.parametrize("word", ["slep", "nowhere.qrec"])
def test_what_is_neither_a_file_nor_a_word_is_refused(tmp_path, capsys, word):
    file = tmp_path / "w.yaml"
    file.write_text(text_of(*small_cluster()))
    assert run.main([str(file), "--run-times-from", word], io.StringIO()) == 2
    said = capsys.readouterr().err
    assert "expected a file, or one of annotations, sleep" in said
    assert ("did you mean sleep?" in said) == (word == "slep")


def test_a_file_without_work_that_ended_is_refused(tmp_path, capsys):
    file = tmp_path / "now.yaml"
    file.write_text(text_of(*small_cluster(), job("j", queue="main", cpu=1)))
    assert run.main([str(file), "--run-times-from", str(file)], io.StringIO()) == 2
    assert "expected work that ended, found none" in capsys.readouterr().err
