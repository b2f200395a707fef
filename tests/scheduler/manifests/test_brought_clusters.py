"""Lines that bring a cluster write nothing secret, and what they write is read."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from scheduler.assembly import assemble
from scheduler.input.manifests import kinds
from scheduler.input.manifests.dumps.snippet import (
    PACKAGE,
    cluster_line,
    git_lines,
    resources,
    yunikorn_line,
)
from scheduler.model.objects import Key

KUBECTL = """\
#!/bin/sh
# A kubectl that has one pod, and keeps what it is asked.
echo "$*" >> "$ASKED"
case "$1 $2" in
"api-resources --verbs=list") printf 'pods\\nsecrets\\npods.metrics.k8s.io\\nnodes\\n' ;;
"get pods") cat "$PODS" ;;
esac
"""
PODS = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"env":[{"name":"A","value":"hush"}]}
      quotalab.dev/runtime: 7m
    name: p
    namespace: default
  spec:
    containers:
    - env:
      - name: TOKEN
        value: hush
      image: i
      name: c
      resources:
        requests:
          cpu: "1"
    - command:
      - sleep
      envFrom:
      - secretRef:
          name: hush
      image: i
      name: d
    initContainers:
    - envFrom:
      - secretRef:
          name: hush
      image: i
      name: e
kind: List
"""


@pytest.fixture
def brought(tmp_path: Path) -> tuple[str, list[str]]:
    """Run the line with a kubectl of ours; return what it wrote and what it asked."""
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(KUBECTL)
    kubectl.chmod(0o755)
    (tmp_path / "pods.yaml").write_text(PODS)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PODS": str(tmp_path / "pods.yaml"),
        "ASKED": str(tmp_path / "asked"),
    }
    subprocess.run(
        ["sh", "-c", cluster_line()], cwd=tmp_path, env=environment, check=True
    )
    text = gzip.decompress((tmp_path / PACKAGE).read_bytes()).decode()
    return text, (tmp_path / "asked").read_text().splitlines()


def test_no_value_of_an_environment_is_written(brought):
    assert "hush" not in brought[0]


def test_what_is_written_is_read_whole(brought):
    made = assemble([("cluster.yaml", brought[0])])
    pod = made.world.objects[Key("Pod", "default", "p")]
    assert [one["name"] for one in pod.spec["containers"]] == ["c", "d"]
    assert [one["name"] for one in pod.spec["initContainers"]] == ["e"]
    assert pod.annotations["quotalab.dev/runtime"] == "7m"


def test_nothing_is_asked_but_to_read_what_decides(brought):
    asked = brought[1]
    assert all(line.split()[0] in ("get", "api-resources") for line in asked)
    assert [line for line in asked if "secret" in line] == []
    maps = [line for line in asked if "configmaps" in line]
    assert len(maps) == 3
    assert all("metadata.name=" in line for line in maps)


def test_no_kind_that_holds_secrets_is_read():
    assert {"secrets", "configmaps"}.isdisjoint(resources())
    plurals = {kind.plural for kind in kinds.TABLE if kind.level == "simulated"} - {""}
    read = {name.partition(".")[0] for name in resources()}
    ours = {kind.plural for kind in kinds.TABLE if kind.group == "quotalab.dev"}
    assert plurals - ours <= read


def test_a_repository_is_rendered_or_taken_at_a_commit():
    rendered, taken = git_lines("https://git.example/a/b", "c0ffee", "clusters/prod")
    assert rendered.startswith(
        "kubectl kustomize 'https://git.example/a/b//clusters/prod?ref=c0ffee'"
    )
    assert taken.endswith("c0ffee -- clusters/prod")


DUMP = {
    "rmDiagnostics": {},
    "partitions": [],
    "config": {
        "Partitions": [
            {
                "Name": "default",
                "Queues": [
                    {
                        "Name": "root",
                        "SubmitACL": "*",
                        "ChildTemplate": {"Resources": {}},
                        "Queues": [
                            {
                                "Name": "a",
                                "Resources": {"Max": {"vcore": "8"}, "Guaranteed": {}},
                                "Properties": {"application.sort.policy": "fifo"},
                            }
                        ],
                    }
                ],
                "PlacementRules": [{"Name": "provided", "Filter": {"Type": ""}}],
            }
        ],
        "DeadlockDetectionEnabled": False,
    },
    "nodes": [
        {
            "partitionName": "default",
            "nodesInfo": [
                {
                    "nodeID": "n1",
                    "hostName": "n1",
                    "capacity": {"vcore": 8000, "memory": 17179869184, "pods": 110},
                    "schedulable": True,
                }
            ],
        }
    ],
    "applications": [
        {
            "applicationID": "app-1",
            "queueName": "root.a",
            "allocations": [
                {
                    "allocationKey": "6c1a",
                    "resource": {"vcore": 2000, "memory": 1073741824, "pods": 1},
                    "nodeId": "n1",
                    "allocationTags": {
                        "kubernetes.io/meta/namespace": "team",
                        "kubernetes.io/meta/podName": "runs",
                    },
                }
            ],
            "requests": [
                {
                    "allocationKey": "6c1b",
                    "resource": {"vcore": 500},
                    "allocationTags": {
                        "kubernetes.io/meta/namespace": "team",
                        "kubernetes.io/meta/podName": "waits",
                    },
                }
            ],
        }
    ],
}


def test_a_full_state_dump_is_a_world_of_yunikorn():
    made = assemble([("state.json", json.dumps(DUMP))])
    spec = made.world.policy.spec
    assert (made.loaded.errors, spec.stack) == ([], "yunikorn")
    runs = made.world.objects[Key("Pod", "team", "runs")]
    assert runs.spec["nodeName"] == "n1"
    assert runs.spec["containers"][0]["resources"]["requests"]["cpu"] == "2"
    assert Key("Pod", "team", "waits") in made.world.objects
    (partition,) = made.loaded.policy["yunikorn"]["queues"]["partitions"]
    (leaf,) = partition["queues"][0]["queues"]
    assert leaf["resources"] == {"max": {"vcore": "8"}}


def test_the_line_for_yunikorn_reads_its_state():
    assert "fullstatedump" in yunikorn_line()
