"""Volcano and KAI in Kueue's terms: what runs, and what is lost."""

from __future__ import annotations

import io
from typing import Any

import pytest
import yaml

from scheduler.assembly import assemble
from scheduler.cli.convert import converted, main
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Finish
from scheduler.model.objects import Key
from scheduler.model.texts.plain_text import write_all

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "8", memory: 32Gi, nvidia.com/gpu: "4", pods: "50"}}
---
"""
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec:
  weight: 4
  reclaimable: false
  deserved: {cpu: "2"}
  capability: {cpu: "6"}
  guarantee: {resource: {cpu: "1"}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  minAvailable: 2
  schedulerName: volcano
  queue: team
  plugins: {svc: []}
  tasks:
    - name: master
      replicas: 1
      template: {spec: {containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
    - name: worker
      replicas: 2
      template: {spec: {containers: [{name: w, resources: {requests: {cpu: "1"}}}]}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: plain}
spec:
  minAvailable: 1
  tasks:
    - replicas: 3
      template: {spec: {containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
"""
KAI = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: research}
spec: {resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: vision}
spec:
  parentQueue: research
  resources:
    cpu: {quota: 2000, limit: 4000, overQuotaWeight: 1}
    memory: {quota: 4000, limit: -1, overQuotaWeight: 1}
    gpu: {quota: 1, limit: 2, overQuotaWeight: 3}
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: ml
  labels: {kai.scheduler/queue: vision}
  annotations: {gpu-fraction: "0.5"}
spec:
  schedulerName: kai-scheduler
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
"""


def made(text: str, stack: str = "kueue") -> tuple[dict[Key, Any], str, World]:
    documents, losses = converted([("t.yaml", NODE + text)], stack)
    world = assemble([("made.yaml", write_all(documents))]).world
    specs = {key: obj.manifest for key, obj in world.objects.items()}
    return specs, "\n".join(losses), world


def quota(queue: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (group,) = queue["spec"]["resourceGroups"]
    return {row["name"]: row for row in group["flavors"][0]["resources"]}


def finished(world: World) -> int:
    outcome = simulate(world, until_ms=3_600_000)
    return sum(isinstance(d, Finish) for d in outcome.decisions)


def test_volcanos_queue_keeps_what_it_deserves_what_it_may_use_and_its_weight():
    specs, losses, _ = made(VOLCANO)
    queue = specs[Key("ClusterQueue", "", "team")]
    cpu = quota(queue)["cpu"]
    assert (cpu["nominalQuota"], cpu["borrowingLimit"]) == ("2", "4")
    assert cpu["lendingLimit"] == "1"
    assert queue["spec"]["fairSharing"]["weight"] == "4"
    assert "Queue team: reclaimable: false" in losses


def test_volcanos_jobs_become_a_jobset_and_a_job_and_run():
    specs, losses, world = made(VOLCANO)
    tasks = specs[Key("JobSet", "ml", "train")]["spec"]["replicatedJobs"]
    counts = [task["template"]["spec"]["parallelism"] for task in tasks]
    assert counts == [1, 2]
    annotations = specs[Key("Job", "default", "plain")]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/job-min-parallelism"] == "1"
    assert "Job ml/train: its plug-ins" in losses
    assert "Job ml/train: minAvailable 2: all 3 pods are admitted" in losses
    assert finished(world) == 2


def test_kais_queues_keep_their_units_and_a_part_of_a_gpu_becomes_a_whole_one():
    specs, losses, world = made(KAI)
    queue = specs[Key("ClusterQueue", "", "vision")]
    rows = quota(queue)
    assert queue["spec"]["cohortName"] == "research"
    assert (rows["cpu"]["nominalQuota"], rows["cpu"]["borrowingLimit"]) == ("2", "2")
    assert rows["memory"]["nominalQuota"] == "3906250Ki"
    assert rows["nvidia.com/gpu"]["borrowingLimit"] == "1"
    assert "Pod ml/p: gpu-fraction: a whole GPU is asked for" in losses
    assert finished(world) == 1


@pytest.mark.parametrize("text", [VOLCANO, KAI], ids=["volcano", "kai"])
def test_each_goes_on_to_yunikorn(text):
    _, losses, world = made(text, stack="yunikorn")
    assert world.policy.spec.stack == "yunikorn"
    assert losses


def test_the_command_prints_yaml_and_what_is_lost(tmp_path, capsys):
    path = tmp_path / "v.yaml"
    path.write_text(VOLCANO)
    out = io.StringIO()
    assert main([str(path)], out) == 0
    assert {d["kind"] for d in yaml.safe_load_all(out.getvalue())} >= {"JobSet", "Job"}
    assert "lost: Volcano: no Node is among the files" in capsys.readouterr().err
