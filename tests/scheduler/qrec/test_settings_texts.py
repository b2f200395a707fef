"""The schedulers' settings in an anonymous recording: no name, the same decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.model.kueue.configuration import read_configuration
from scheduler.recorded.qrec.anonymising import Anonymiser
from scheduler.recorded.qrec.frames import slim

CONFIGURATION = """
# of the vision team
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
clientConnection: {kubeconfig: /home/vision/.kube}
waitForPodsReady: {enable: true, timeout: 7m}
resources:
  transformations: [{input: vision.example/gpu, outputs: {gpu: 1}}]
managedJobsNamespaceSelector: {matchLabels: {team: vision}}
"""
QUEUES = """
# of the vision team
partitions:
- name: default
  statedumpfilepath: /vision
  placementrules:
  - {name: fixed, value: root.vision, create: true, filter: {users: [vera, victor]}}
  - {name: tag, value: namespace}
  queues:
  - name: root
    submitacl: "*"
    queues:
    - name: vision
      submitacl: "vera,victor vision-group"
      adminacl: " vision-group"
      resources: {guaranteed: {vcore: 4}}
      limits:
      - {limit: the vision team, users: [vera, "*"], groups: [], maxapplications: 3}
"""


def config_map(name: str, text: str) -> dict[str, Any]:
    metadata = {
        "name": name,
        "annotations": {"note": "vision"},
        "labels": {"a": "vera"},
    }
    return {"kind": "ConfigMap", "metadata": metadata, "data": {"queues.yaml": text}}


@pytest.mark.parametrize(
    "text", [CONFIGURATION, QUEUES, "vision: [", "- vision", "vera"]
)
def test_no_name_of_the_schedulers_settings_is_written(text: str) -> None:
    an = Anonymiser(b"k" * 32)
    found = json.dumps(an.manifest(slim(config_map("c", text))))
    found = found.replace("vision.example/gpu", "")  # a resource
    assert not [word for word in ("vision", "vera", "victor") if word in found]


def settings_text(text: str) -> str:
    found = Anonymiser(b"k" * 32).manifest(config_map("c", text))
    return str(found["data"]["queues.yaml"])


def test_an_anonymous_configuration_decides_as_before() -> None:
    before = read_configuration(yaml.safe_load(CONFIGURATION))
    after = read_configuration(yaml.safe_load(settings_text(CONFIGURATION)))
    assert after.waiting == before.waiting
    assert after.transform == before.transform
    label = Anonymiser(b"k" * 32).name("vision")
    assert label in repr(after.managed_namespaces)


def test_anonymous_queues_hold_the_same_names_as_the_pods() -> None:
    an = Anonymiser(b"k" * 32)
    partition = yunikorn.read_text(settings_text(QUEUES))
    [queue] = partition.root.queues
    assert queue.name == an.name("vision")
    assert partition.placement[0].value == f"root.{queue.name}"
    assert partition.placement[1].value == "namespace"
    assert an.name("vera") in repr(queue)
    assert queue.limits[0].users == (an.name("vera"), "*")
