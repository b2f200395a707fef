"""LIST of 10,000 pods, as a client of Kubernetes reads it and as kubectl prints it.

Pods of nobody, and pods of a Job, which are shown under the names, owners and labels
that its controller gives them.

Run `./dev bench tests/bench/bench_pod_list.py`: seconds of CPU an answer, and its size.
"""

from __future__ import annotations

import sys
import time

import pytest
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Sandbox
from tests.bench.size import sized
from tests.builders import job, pod
from tests.sandbox.conftest import person, text_of  # noqa: F401 - a fixture

pytestmark = [pytest.mark.bench, pytest.mark.django_db]

PODS = sized(10_000, 20)
ACCEPTED = {
    "objects": "application/json",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "protobuf": "application/vnd.kubernetes.protobuf",
}


def _read(made: Sandbox, what: str) -> None:
    """Read the list in each encoding, and print what it took."""
    url = f"/api/v1/sandboxes/{made.pk}/api/v1/pods"
    for name, accept in ACCEPTED.items():
        begin = time.process_time()
        answer = APIClient().get(url, headers={"Accept": accept})
        took = time.process_time() - begin
        size = len(answer.content) / 1e6
        sys.stdout.write(
            f"{name}: {PODS} pods {what}, {size:.1f} MB: {took:.2f} s of CPU\n"
        )
        assert answer.status_code == 200


def test_a_list_of_pods(person) -> None:  # noqa: F811 - the fixture
    text = text_of(*(pod(f"pod-{n}", cpu=1) for n in range(PODS)))
    made = actions.do_create(person, files=[("pods.yaml", text)]).sandbox
    _read(made, "of nobody")


def test_a_list_of_the_pods_of_a_job(person) -> None:  # noqa: F811 - the fixture
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "train",
        "uid": "0b7e2a3c-6a4e-4f53-9c39-0d5a5f2f7c11",
        "controller": True,
    }
    pods = [pod(f"train-{n}", cpu=1) for n in range(PODS)]
    for one in pods:
        one["metadata"]["ownerReferences"] = [owner]
    text = text_of(job("train"), *pods)
    made = actions.do_create(person, files=[("pods.yaml", text)]).sandbox
    _read(made, "of a Job")
