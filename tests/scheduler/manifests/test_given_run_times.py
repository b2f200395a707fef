"""Annotations on a pod template count, and what has no run time is counted in a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.cli.run import main
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.input.manifests.report import report_of
from scheduler.model.annotations import KNOWN, RUNTIME
from tests.builders import job

ROOT = Path(__file__).resolve().parents[3]


def with_template(name: str = "a", **ours: str) -> dict[str, Any]:
    made = job(name, queue="q", cpu=1)
    made["spec"]["template"]["metadata"] = {
        "annotations": {f"quotalab.dev/{key}": value for key, value in ours.items()}
    }
    return made


def loaded(*manifests: dict[str, Any]) -> Loaded:
    return load([("w.yaml", yaml.safe_dump_all(manifests))])


def said(found: Loaded) -> list[str]:
    return [one.problem for one in report_of(found, default_runtime="60s").findings]


def test_an_annotation_on_the_pod_template_is_the_jobs():
    (obj,) = loaded(with_template(runtime="5m")).objects
    assert obj.annotations[RUNTIME] == "5m"


def test_a_template_inside_a_template_gives_its_annotations():
    inner = job("inner", queue="q", cpu=1)["spec"]
    inner["template"]["metadata"] = {"annotations": {RUNTIME: "7m"}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": inner}},
    }
    (obj,) = loaded(cron).objects
    assert obj.annotations[RUNTIME] == "7m"


def test_where_both_have_one_the_objects_counts_and_it_is_said():
    both = with_template(runtime="5m")
    both["metadata"]["annotations"] = {RUNTIME: "1m"}
    found = loaded(both)
    assert found.objects[0].annotations[RUNTIME] == "1m"
    assert "the object's counts" in " ".join(said(found))


def test_an_unknown_annotation_of_ours_on_the_template_is_refused_where_it_stands():
    (error,) = loaded(with_template(runtim="5m")).errors
    assert error.place.field == "spec.template.metadata.annotations"


def test_work_without_a_run_time_is_counted_by_kind_with_what_is_assumed():
    bare = [job(name, queue="q", cpu=1) for name in "abc"]
    found = loaded(*bare, with_template("d", runtime="5m"))
    assert [one[:62] for one in said(found)] == [
        "3 objects of kind Job have no run time, so 60s is assumed for "
    ]


def test_a_sleep_that_is_not_read_is_named():
    sleeping = job("a", queue="q", cpu=1)
    container = sleeping["spec"]["template"]["spec"]["containers"][0]
    container["command"] = ["sh", "-c", "sleep 300"]
    (text,) = said(loaded(sleeping))
    assert text.endswith(
        "(1 of them says it in its command: `simulation.runTimesFrom: sleep` of the "
        "policy reads it)"
    )


def test_a_run_says_what_it_assumed_of_work_that_it_ended(tmp_path, capsys):
    file = tmp_path / "pod.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {nodeName: n, containers: [{name: c, image: i}]}\n"
    )
    assert main([str(file)]) == 0
    assert "1 Pod has no run time, so 60s is assumed" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_what_serves_needs_no_run_time(kind):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    serving = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {}, "template": template},
    }
    assert not any("run time" in one for one in said(loaded(serving)))


def test_the_page_about_annotations_names_all_of_them_and_its_example_is_read():
    text = (ROOT / "docs" / "annotations.md").read_text()
    assert [name for name in KNOWN if f"| `{name}` |" not in text] == []
    found = load([("w.yaml", text.split("```yaml\n")[1].split("```")[0])])
    assert (said(found), len(found.objects)) == ([], 1)
