"""What is written of every kind of work: nothing secret, all that decisions read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler.recorded.qrec.anonymising import Anonymiser
from scheduler.recorded.qrec.frames import slim
from tests.conformance import jobs, vectors
from tests.scheduler.qrec.test_slimming import SECRET, pod

ENV = [{"name": "TOKEN", "value": SECRET}]
TEMPLATE = {"metadata": pod()["metadata"], "spec": pod()["spec"]}
RAY = {
    "headGroupSpec": {"rayStartParams": {"password": SECRET}, "template": TEMPLATE},
    "workerGroupSpecs": [
        {"groupName": "w", "rayStartParams": {"a": SECRET}, "template": TEMPLATE}
    ],
    "gcsFaultToleranceOptions": {"redisPassword": {"value": SECRET}},
    "autoscalerOptions": {"env": ENV},
}
ROLE = {"Worker": {"replicas": 1, "template": TEMPLATE}}
JOB = {"template": TEMPLATE}
SPARK_ROLE = {
    "envVars": {"TOKEN": SECRET},
    "env": ENV,
    "javaOptions": SECRET,
    "secrets": [{"name": SECRET}],
    "configMaps": [{"name": SECRET}],
    "sidecars": [pod()["spec"]["containers"][0]],
}
UNKNOWN = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "t"},
    "spec": {"password": SECRET, "parts": [{"key": SECRET}, {"template": TEMPLATE}]},
}
SECRETIVE: dict[str, Any] = {
    "RayCluster": RAY,
    "RayJob": {
        "entrypoint": SECRET,
        "runtimeEnvYAML": SECRET,
        "metadataOptional": SECRET,
        "rayClusterSpec": RAY,
        "submitterPodTemplate": TEMPLATE,
    },
    "RayService": {"serveConfigV2": SECRET, "rayClusterConfig": RAY},
    "SparkApplication": {
        "arguments": [SECRET],
        "sparkConf": {"password": SECRET},
        "hadoopConf": {"password": SECRET},
        "mainApplicationFile": SECRET,
        "deps": {"jars": [SECRET]},
        "driver": SPARK_ROLE,
        "executor": SPARK_ROLE,
    },
    "TrainJob": {
        "trainer": {"env": ENV, "args": [SECRET], "command": [SECRET], "numNodes": 1},
        "initializer": {"dataset": {"env": ENV, "storageUri": SECRET}},
        "podTemplateOverrides": [{"spec": {"volumes": [{"secret": SECRET}]}}],
    },
    "PyTorchJob": {"pytorchReplicaSpecs": ROLE, "other": SECRET},
    "MPIJob": {"mpiReplicaSpecs": ROLE, "sshAuthMountPath": SECRET},
    "JobSet": {
        "replicatedJobs": [{"name": "r", "template": {"spec": JOB}}],
        "coordinator": {"other": SECRET},
    },
    "ClusterTrainingRuntime": {
        "mlPolicy": {"numNodes": 1, "mpi": {"sshAuthMountPath": SECRET}},
        "template": {"spec": {"replicatedJobs": [{"template": {"spec": JOB}}]}},
    },
    "CronJob": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}},
    "StatefulSet": {
        "template": TEMPLATE,
        "volumeClaimTemplates": [{"metadata": pod()["metadata"]}],
    },
    "LeaderWorkerSet": {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}},
    "AppWrapper": {
        "components": [
            {
                "template": {"kind": "RayJob", "spec": {"entrypoint": SECRET}},
                "annotations": {"a": SECRET},
            },
            {"template": UNKNOWN, "podSets": [{"path": "template.spec.parts[1]"}]},
        ]
    },
}


@pytest.mark.parametrize("kind", SECRETIVE)
def test_no_secret_of_any_kind_of_work_is_written(kind: str) -> None:
    status = {
        "message": SECRET,
        "conditions": [{"type": "Failed", "status": "True", "message": SECRET}],
        "applicationState": {"state": "FAILED", "errorMessage": SECRET},
        "containerStatuses": [{"state": {"terminated": {"message": SECRET}}}],
    }
    metadata = pod()["metadata"]
    given = {"kind": kind, "metadata": metadata, "spec": SECRETIVE[kind]}
    assert SECRET not in json.dumps(slim({**given, "status": status}))


def test_a_template_within_a_kind_that_is_not_known_stays_at_its_place() -> None:
    wrapper = {"kind": "AppWrapper", "metadata": {"name": "a"}}
    found = slim({**wrapper, "spec": SECRETIVE["AppWrapper"]})
    component = found["spec"]["components"][1]["template"]
    assert component["metadata"] == {"name": "t"}
    containers = component["spec"]["parts"][1]["template"]["spec"]["containers"]
    assert containers[0]["resources"] == {"requests": {"cpu": "1"}}


JOBS = Path(__file__).parents[2] / "vectors" / "kueue" / "jobs.jsonl.gz"


@pytest.mark.parametrize("vector", list(vectors(JOBS)), ids=lambda vector: vector["id"])
def test_a_slim_job_becomes_the_same_workload(vector: Any) -> None:
    written = {**vector, "objects": [slim(one) for one in vector["objects"]]}
    # A message of a job's own may quote what it was given, so it is not written.
    said = "message: expected"
    assert [one for one in jobs.run(written) if not one.startswith(said)] == []


@pytest.mark.parametrize("vector", list(vectors(JOBS)), ids=lambda vector: vector["id"])
def test_an_anonymous_job_becomes_the_same_workload(vector: Any) -> None:
    an = Anonymiser(b"k" * 32)
    mapped = [an.manifest(slim(one)) for one in vector["objects"]]
    before = jobs.outcome_of(vector)["workloads"]
    after = jobs.outcome_of({**vector, "objects": mapped})["workloads"]
    assert list(shapes(after)) == list(shapes(before))


def shapes(workloads: list[Any]) -> Iterator[Any]:
    """Yield what no name takes part in."""
    for one in workloads:
        sets = [(s["count"], s["requests"]) for s in one["podSets"]]
        yield one["priority"], sets
