"""docs/deploy/chart gives the manifests of docs/deploy/kubernetes.yaml, and its values count."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from sandbox.process.celery import ANSWERS, EXPERIMENTS, TICKS

DEPLOY = Path(__file__).resolve().parents[2] / "docs" / "deploy"
CHART = DEPLOY / "chart"
HELM = shutil.which("helm")
needs_helm = pytest.mark.skipif(HELM is None, reason="needs helm")
Documents = dict[tuple[str, str], dict[str, Any]]


def named(text: str) -> Documents:
    found = [one for one in yaml.safe_load_all(text) if one]
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def rendered(*words: str) -> Documents:
    done = subprocess.run(
        [str(HELM), "template", "quotalab", str(CHART), "-n", "lab", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return named(done.stdout)


@needs_helm
def test_the_chart_gives_the_plain_manifests():
    assert rendered() == named((DEPLOY / "kubernetes.yaml").read_text())


@needs_helm
def test_a_database_and_a_bus_that_are_there_already_replace_ours():
    words = ("--set", "postgres.enabled=false,postgres.host=db.example")
    words += ("--set", "redis.enabled=false,redis.url=redis://bus.example:6379/0")
    found = rendered(*words)
    assert not {("StatefulSet", "postgres"), ("Deployment", "redis")} & set(found)
    data = found["ConfigMap", "quotalab"]["data"]
    assert data["DATABASE_HOST"] == "db.example"
    assert data["REDIS_URL"] == "redis://bus.example:6379/0"


@needs_helm
def test_a_scaler_adds_workers_by_what_waits_in_the_queues():
    found = rendered("--set", "worker.scaler.enabled=true,worker.scaler.most=9")
    spec = found["ScaledObject", "worker"]["spec"]
    lists = {one["metadata"]["listName"] for one in spec["triggers"]}
    assert lists == {TICKS, ANSWERS, EXPERIMENTS}
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 9)
    assert "replicas" not in found["Deployment", "worker"]["spec"]
    assert ("ScaledObject", "worker") not in rendered()


@needs_helm
def test_more_connections_than_the_database_takes_are_refused():
    with pytest.raises(subprocess.CalledProcessError) as refused:
        rendered("--set", "worker.replicas=26")
    assert "may open 302 connections" in refused.value.stderr
    assert rendered("--set", "worker.replicas=25")


@needs_helm
def test_the_linter_has_nothing_to_say():
    done = subprocess.run(
        [str(HELM), "lint", "--strict", str(CHART)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_who_follows_the_cluster_may_read_what_a_recorder_reads(capsys):
    call_command("record", "--print-role")
    role = yaml.safe_load(capsys.readouterr().out)
    text = (CHART / "templates/follow.yaml").read_text()
    plain = re.sub(r"^\{\{.*\}\}$", "", text, flags=re.MULTILINE)
    found = named(plain.replace("{{ .Release.Namespace }}", "lab"))
    assert found["ClusterRole", "quotalab-reader"]["rules"] == role["rules"]


def test_every_value_is_read_by_a_template():
    templates = "".join(path.read_text() for path in CHART.glob("templates/*"))
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    paths = [
        f"{group}.{name}" if isinstance(part, dict) and part else group
        for group, part in values.items()
        for name in (part if isinstance(part, dict) and part else [""])
    ]
    assert [one for one in paths if f".Values.{one}" not in templates] == []
