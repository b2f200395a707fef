"""Run times that somebody chooses for what comes in."""

from __future__ import annotations

import io
from typing import Any

import pytest
import yaml

from scheduler.cli import run
from scheduler.input.manifests.chosen_run_times import (
    EndedWork,
    RunTimeChoice,
    read_rule,
    size_of,
    take_chosen_run_times,
)
from scheduler.input.manifests.load import load
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.recorded.ended_work import ended_in_files
from tests.builders import job, small_cluster
from tests.sandbox.conftest import text_of

Annotations = dict[str, dict[str, str]]


def chosen(choice: RunTimeChoice, *manifests: dict[str, Any]) -> Annotations:
    loaded = load([("w.yaml", yaml.safe_dump_all(manifests))])
    take_chosen_run_times(loaded, choice)
    return {obj.key.name: dict(obj.annotations) for obj in loaded.objects}


def by_rules(*texts: str) -> RunTimeChoice:
    return RunTimeChoice(rules=[read_rule(text) for text in texts])


def test_the_first_rule_that_matches_counts_and_is_named():
    choice = by_rules("name=train-*,queue=research:lognormal(median 5m, p90 20m)", "9m")
    found = chosen(
        choice, job("train-1", queue="research"), job("train-2", queue="other")
    )
    assert found["train-1"][RUNTIME] == "lognormal(median 5m, p90 20m)"
    assert found["train-2"][RUNTIME] == "9m"
    assert "queue=research" in found["train-1"][RUNTIME_SOURCE]


def test_an_annotation_counts_before_a_rule():
    assert chosen(by_rules("9m"), job("j", runtime="1m"))["j"][RUNTIME] == "1m"


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        ("kind=Job:5m", True),
        ("kind=RayJob:5m", False),
        ("namespace=default:5m", True),
        ("queue=default/main:5m", True),
        ("queue=other/main:5m", False),
        ("label=tier=gold:5m", True),
        ("label=tier=blue:5m", False),
        ("image=reg.example/*:5m", True),
        ("image=other:5m", False),
    ],
)
def test_a_rule_is_about_what_matches_all_its_terms(rule, taken):
    one = job("j", queue="main", cpu=1)
    one["metadata"]["labels"]["tier"] = "gold"
    one["spec"]["template"]["spec"]["containers"][0]["image"] = "reg.example/a:1"
    assert (RUNTIME in chosen(by_rules(rule), one)["j"]) == taken


def test_a_rule_that_matches_nothing_is_said():
    loaded = load([("w.yaml", yaml.safe_dump_all([job("j", queue="main")]))])
    take_chosen_run_times(loaded, by_rules("queue=mian:5m", "queue=main:9m", "1h"))
    assert [one.problem for one in loaded.findings] == [
        "1 object takes its run time from the choice queue=main:9m",
        "no work without a run time matches the choice queue=mian:5m",
    ]


@pytest.mark.parametrize(
    "text", ["five", "queue:5m", "colour=red:5m", "queue=a:soon", "label=gold:5m"]
)
def test_a_rule_that_is_none_is_refused(text):
    with pytest.raises(SchedulerError, match="--run-time"):
        read_rule(text)


def ended(name: str, seconds: float, **given: Any) -> EndedWork:
    manifest = job(name, **given)
    key = Key("Job", manifest["metadata"]["namespace"], name)
    return EndedWork(Object(key=key, manifest=manifest), seconds)


def test_work_of_the_same_size_is_nearer_than_its_family():
    like = [
        ended("train-1", 100, queue="main", cpu=1),
        ended("train-2", 900, queue="main", cpu=8),
    ]
    choice = RunTimeChoice(like=like, like_name="past")
    found = chosen(choice, job("train-3", queue="main", cpu=8))["train-3"]
    assert found[RUNTIME] == "900s"
    assert found[RUNTIME_SOURCE] == ("1 of family default/train of 1 x 8 cpu in past")


def test_labels_that_controllers_write_are_no_likeness():
    past, now = job("a", cpu=1), job("b", cpu=1)
    for one in (past, now):
        one["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "x"}
        one["metadata"]["labels"]["app"] = one["metadata"]["name"]
    past["metadata"]["labels"]["app"] = "b"
    like = [EndedWork(Object(key=Key("Job", "other", "a"), manifest=past), 70.0)]
    found = chosen(RunTimeChoice(like=like, like_name="past"), now)["b"]
    assert found[RUNTIME_SOURCE] == "1 of labels app=b in past"


def test_the_size_of_work_is_its_pods_and_what_one_asks_for():
    obj = Object(key=Key("Job", "d", "j"), manifest=job("j", parallelism=3, cpu=5))
    assert size_of(obj) == "4 x 8 cpu"


TRACE = "; MaxProcs: 8\n" + "".join(
    f"{n} {n} 0 {600 if n % 2 else 60} {4 if n % 2 else 1} -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
    for n in range(1, 9)
)


def test_a_trace_is_a_history_by_size():
    like = ended_in_files([("past.swf", TRACE.encode())])
    choice = RunTimeChoice(like=like, like_name="past.swf")
    found = chosen(
        choice,
        job("wide", queue="queue-1", parallelism=4, cpu=1),
        job("slim", queue="queue-1", cpu=1),
    )
    assert found["wide"][RUNTIME] == "600s"
    assert found["slim"][RUNTIME] == "60s"


def test_a_broken_trace_beside_another_is_refused():
    files = [("past.swf", TRACE.encode()), ("broken.swf", b"; MaxProcs: 8\n1 2 3\n")]
    with pytest.raises(SchedulerError, match="broken"):
        ended_in_files(files)


def test_the_same_seed_draws_the_same_run_times(tmp_path):
    file = tmp_path / "w.yaml"
    jobs = [job(f"j-{n}", queue="main", cpu=1) for n in range(6)]
    file.write_text(text_of(*small_cluster(), *jobs))
    words = ["--run-time", "exp(10m)", "--strict", "--seed"]

    def ends(seed: str) -> list[str]:
        out = io.StringIO()
        assert run.main([str(file), *words, seed], out) == 0
        return [line[:11] for line in out.getvalue().splitlines() if "Finish" in line]

    assert ends("3") == ends("3") != ends("4")
