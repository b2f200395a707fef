"""`python -m scheduler experiment` on Kueue's own files, and its exit status."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from scheduler.cli import experiment
from tests.builders import job, pod, small_cluster

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "kueue-perf"


INSTANT = {"simulation": {"latencies": None}}
STRATEGIES = Path(__file__).resolve().parents[3] / "docs/examples/three-strategies.yaml"
AGAIN = STRATEGIES.with_name("time-to-fair.yaml")
SLOWER = Path(__file__).resolve().parents[3] / "docs" / "examples" / "slower-cluster"


def write(folder: Path, **spec) -> Path:
    jobs = [job(f"job-{n}", queue="main", cpu=3, runtime="10s") for n in range(3)]
    manifests = [*small_cluster(cpu=4), *jobs]
    (folder / "world.yaml").write_text(yaml.safe_dump_all(manifests))
    document = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "spec": {
            "base": {"files": ["world.yaml"]},
            "seeds": {"count": 2},
            "variants": [{"name": "base", "policy": INSTANT}],
            **spec,
        },
    }
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def run(path: Path, *words: str) -> tuple[int, str]:
    out = io.StringIO()
    return experiment.main([str(path), *words], out), out.getvalue()


def test_assertions_that_hold_are_exit_status_0(tmp_path):
    path = write(tmp_path, assertions=[{"measure": "waitMaxMs", "max": 20_000}])
    assert run(path)[0] == 0


def test_an_assertion_that_fails_is_exit_status_1(tmp_path):
    path = write(tmp_path, assertions=[{"measure": "waitMaxMs", "max": 1}])
    status, said = run(path)
    assert status == 1
    assert "FAIL base: waitMaxMs <= 1: 20000" in said


def test_assertions_are_written_as_junit(tmp_path):
    asserted = [{"measure": "waitMaxMs", "max": 1}, {"measure": "waiting", "max": 0}]
    path, report = write(tmp_path, assertions=asserted), tmp_path / "report.xml"
    assert run(path, "--junit", str(report))[0] == 1
    [suite] = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed = [case.get("name") for case in suite if len(case)]
    assert failed == ["base: waitMaxMs <= 1: 20000"]


def test_files_for_two_stacks_run_under_the_one_that_is_named(tmp_path, capsys):
    path = write(tmp_path)
    (tmp_path / "world.yaml").write_text(for_two_stacks(tmp_path))
    assert run(path)[0] == 2
    assert "give --stack" in capsys.readouterr().err
    assert run(path, "--stack", "kueue")[0] == 0


def test_files_for_two_stacks_run_under_the_one_of_the_document(tmp_path):
    path = write(tmp_path, base={"files": ["world.yaml"], "stack": "kueue"})
    (tmp_path / "world.yaml").write_text(for_two_stacks(tmp_path))
    assert run(path)[0] == 0


def for_two_stacks(folder: Path) -> str:
    """Return the world with a pod of another scheduler."""
    theirs = pod("other", cpu=1)
    theirs["spec"]["schedulerName"] = "yunikorn"
    world = (folder / "world.yaml").read_text()
    return f"{world}---\n{yaml.safe_dump(theirs)}"


def test_the_example_answers_what_a_slower_cluster_changes():
    status, said = run(SLOWER / "experiment.yaml", "--json")
    names = ("usual", "instant", "slow", "long grace period")
    found = [line["measures"] for line in json.loads(said)["lines"]]
    lines = dict(zip(names, found, strict=True))
    preemptions = {name: m["preemptions"]["mean"] for name, m in lines.items()}
    waits = {name: m["waitMeanMs"]["mean"] for name, m in lines.items()}
    assert status == 0
    assert preemptions["instant"] > preemptions["usual"] >= preemptions["slow"]
    assert waits["slow"] > waits["usual"]


def test_bad_input_is_exit_status_2_and_names_file_and_line(tmp_path, capsys):
    assert run(write(tmp_path, horizon="soon"))[0] == 2
    assert "experiment.yaml:" in capsys.readouterr().err


def test_everything_can_be_had_as_json(tmp_path):
    _, said = run(write(tmp_path), "--json")
    [line] = json.loads(said)["lines"]
    assert line["measures"]["finished"]["mean"] == 3


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples are not beside this")
def test_kueues_own_rangespec_is_read_as_it_is(tmp_path):
    path = write(tmp_path, assertions=[{"rangespec": "rangespec.yaml"}])
    (tmp_path / "rangespec.yaml").write_text((SAMPLES / "rangespec.yaml").read_text())
    status, said = run(path)
    assert "cmd.maxWallMs" in said
    assert status == 1  # its classes are not in this world


def test_one_moment_comes_out_differently_under_each_list_of_strategies():
    status, text = run(STRATEGIES)
    assert status == 0, text


def test_how_soon_shares_are_fair_again_differs_between_lists_of_strategies():
    status, text = run(AGAIN)
    assert status == 0, text
