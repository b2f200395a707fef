"""A running cluster of 50,000 objects in one List of JSON or YAML, made a sandbox.

Run `./dev bench tests/bench/bench_big_list.py`: seconds of CPU and the most memory
that was held, from the text to the committed sandbox.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
import yaml

from sandbox import actions
from tests.bench.size import sized
from tests.sandbox.conftest import person  # noqa: F401 - a fixture

pytestmark = [pytest.mark.bench, pytest.mark.django_db]

OBJECTS = sized(50_000, 200)
TEAMS = [f"team-{n}" for n in range(20)]
NODES = sized(1000, 20)
RUNNING = 9000
AT = "2026-11-22T02:10:00Z"
MANAGED = [
    {
        "manager": "kube-controller-manager",
        "apiVersion": "batch/v1",
        "time": AT,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}},
    }
]
Item = dict[str, Any]


def item(kind: str, version: str, name: str, team: str = "", **more: Any) -> Item:
    metadata = {
        "name": name,
        "uid": f"{kind}-{team}-{name}-0123456789",
        "creationTimestamp": AT,
        "resourceVersion": "12345",
        "managedFields": MANAGED,
        **({"namespace": team} if team else {}),
        **more.pop("metadata", {}),
    }
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def template() -> Item:
    amounts = {"cpu": "1", "memory": "4Gi"}
    container = {
        "name": "c",
        "image": "registry.example/train:1",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }


def conditions(*names: str, status: str = "True") -> list[Item]:
    return [
        {"type": n, "status": status, "reason": n, "lastTransitionTime": AT}
        for n in names
    ]


def cluster() -> Iterator[Item]:
    kueue = "kueue.x-k8s.io/v1beta2"
    yield item("ResourceFlavor", kueue, "default", spec={})
    for team in TEAMS:
        yield item("Namespace", "v1", team)
        quota = [
            {"name": "cpu", "nominalQuota": "500"},
            {"name": "memory", "nominalQuota": "2000Gi"},
        ]
        group = {
            "coveredResources": ["cpu", "memory"],
            "flavors": [{"name": "default", "resources": quota}],
        }
        spec: Item = {"cohortName": "all", "resourceGroups": [group]}
        yield item("ClusterQueue", kueue, team, spec={**spec, "namespaceSelector": {}})
        yield item("LocalQueue", kueue, "main", team, spec={"clusterQueue": team})
    for n in range(NODES):
        size = {"cpu": "64", "memory": "256Gi", "pods": "110"}
        status = {"allocatable": size, "conditions": conditions("Ready")}
        yield item("Node", "v1", f"n{n}", spec={}, status=status)
    for n in itertools.count():
        yield from job(n, TEAMS[n % len(TEAMS)], runs=n < RUNNING)


def job(number: int, team: str, *, runs: bool) -> Iterator[Item]:
    name = f"job-{number}"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "controller": True}
    owner["uid"] = f"Job-{team}-{name}-0123456789"
    owned = {"ownerReferences": [owner]}
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    spec = {"suspend": not runs, "parallelism": 1, "template": template()}
    known = {"labels": labels, "annotations": {"quotalab.dev/runtime": "1h"}}
    yield item("Job", "batch/v1", name, team, metadata=known, spec=spec)
    part = {"name": "main", "count": 1, "template": template()}
    status: Item = {"conditions": conditions("QuotaReserved", status="False")}
    if runs:
        assigned = {"flavors": {"cpu": "default", "memory": "default"}, "count": 1}
        usage = {"cpu": "1", "memory": "4Gi"}
        assignment = {"name": "main", "resourceUsage": usage, **assigned}
        status = {"conditions": conditions("QuotaReserved", "Admitted", "PodsReady")}
        status["admission"] = {"clusterQueue": team, "podSetAssignments": [assignment]}
    yield item(
        "Workload",
        "kueue.x-k8s.io/v1beta2",
        f"job-{name}-abcde",
        team,
        metadata=owned,
        spec={"active": True, "queueName": "main", "podSets": [part]},
        status=status,
    )
    if runs:
        spec = {**template()["spec"], "nodeName": f"n{number % NODES}"}
        phase = {"phase": "Running", "conditions": conditions("PodScheduled", "Ready")}
        yield item(
            "Pod", "v1", f"{name}-x", team, metadata=owned, spec=spec, status=phase
        )


def text_of(form: str) -> str:
    items = list(itertools.islice(cluster(), OBJECTS))
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=0)
    if form == "json":
        return text
    plain = json.loads(text)  # nothing is shared: kubectl writes no aliases
    written: str = yaml.dump(plain, Dumper=yaml.CSafeDumper)
    return written


def written(form: str) -> str:
    """Return the text, made in a process of its own: what that holds does not count."""
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(text_of, form).result()


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_running_cluster_in_one_list(person, form) -> None:  # noqa: F811 - the fixture
    text = written(form)
    begin, wall = time.process_time(), time.monotonic()
    made = actions.do_create(person, files=[(f"cluster.{form}", text)])
    cpu, wall = time.process_time() - begin, time.monotonic() - wall
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"{form}: {OBJECTS} objects, {len(text) / 1e6:.0f} MB: {cpu:.1f} s of CPU, "
        f"{wall:.1f} s, {most:.0f} MiB, {len(made.findings)} findings\n"
    )
    assert made.sandbox.pk
