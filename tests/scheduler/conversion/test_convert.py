"""A Kueue world as a YuniKorn one and back: what is kept, what is named as lost."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler.analysis.conversion import Converted
from scheduler.analysis.conversion.converting import convert
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.input.manifests.load import load
from scheduler.input.manifests.queues_yaml import from_plain
from scheduler.model.errors import SchedulerError
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.policy import Policy, read_policy

KUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  cohortName: team
  namespaceSelector: {}
  preemption: {reclaimWithinCohort: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 4, borrowingLimit: 2}
      - {name: memory, nominalQuota: 8Gi}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: b}
spec:
  cohortName: team
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 6, lendingLimit: 3}
      - {name: memory, nominalQuota: 8Gi}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: dev}
spec: {clusterQueue: a}
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "10", memory: 16Gi, pods: "50"}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: work
  namespace: dev
  labels: {kueue.x-k8s.io/queue-name: main}
  annotations: {quotalab.dev/runtime: 10s}
spec:
  parallelism: 2
  completions: 2
  suspend: true
  template:
    spec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
"""

TREE = """
partitions:
- name: default
  nodesortpolicy: {type: binpacking}
  queues:
  - name: root
    queues:
    - name: tenant
      properties: {preemption.policy: fence}
      resources: {guaranteed: {vcore: 6}}
      queues:
      - name: a
        properties: {application.sort.policy: fair}
        resources: {guaranteed: {vcore: 2}, max: {vcore: 5}}
      - {name: b, resources: {guaranteed: {vcore: 3}}}
    - {name: default}
"""


def _from_kueue(text: str = KUEUE) -> Converted:
    loaded = load([("world.yaml", text)])
    assert loaded.errors == []
    return convert(loaded.objects, Policy(), stack="yunikorn")


def _to_kueue(extra: str = "", tree: str = TREE) -> Converted:
    loaded = load([("world.yaml", f"{NODE}{extra}")])
    assert loaded.errors == []
    section = {"queues": yaml.safe_load(tree)}
    policy = read_policy({"spec": {"stack": "yunikorn", "yunikorn": section}})
    return convert(loaded.objects, policy, stack="kueue")


NODE = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "10", memory: 16Gi, pods: "50"}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: dev, labels: {queue: root.tenant.a}}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
"""


def _tree(converted: Converted) -> PartitionSpec:
    return from_plain(converted.policy["yunikorn"]["queues"])


def _child(queue: QueueConfig, name: str) -> QueueConfig:
    return next(child for child in queue.queues if child.name == name)


def _specs(converted: Converted, kind: str) -> dict[str, dict[str, Any]]:
    return {o.key.name: o.spec for o in converted.objects if o.key.kind == kind}


def _quota(spec: dict[str, Any], resource: str) -> dict[str, Any]:
    (group,) = spec["resourceGroups"]
    return next(r for r in group["flavors"][0]["resources"] if r["name"] == resource)


def test_nominal_quota_becomes_the_guarantee() -> None:
    team = _child(_tree(_from_kueue()).root, "team")
    assert _child(team, "a").guaranteed == {"vcore": 4000, "memory": 8 * 2**30}


def test_nominal_and_borrowing_limit_become_the_max() -> None:
    team = _child(_tree(_from_kueue()).root, "team")
    assert _child(team, "a").max == {"vcore": 6000}
    assert _child(team, "b").max is None


def test_a_cohort_becomes_a_parent_that_may_use_what_it_owns() -> None:
    team = _child(_tree(_from_kueue()).root, "team")
    assert team.parent
    assert team.max == team.guaranteed == {"vcore": 10_000, "memory": 16 * 2**30}


def test_what_kueue_alone_knows_is_named() -> None:
    losses = [str(loss) for loss in _from_kueue().losses]
    assert "ClusterQueue b: the lending limit of vcore" in losses
    assert any("reclaiming from lower priority only" in loss for loss in losses)


def test_a_job_goes_to_the_queue_that_its_local_queue_led_to() -> None:
    converted = _from_kueue()
    (job,) = (o for o in converted.objects if o.key.kind == "Job")
    assert job.labels == {"yunikorn.apache.org/queue": "root.team.a"}
    assert "suspend" not in job.spec


def test_the_converted_world_runs() -> None:
    converted = _from_kueue()
    world = World.create(read_policy({"spec": converted.policy}), 1)
    for obj in converted.objects:
        world.put(obj)
    decisions = [d for _ in range(20) for d in run_tick(world)]
    assert [type(d).__name__ for d in decisions].count("Bind") == 2
    assert type(decisions[-1]).__name__ == "Finish"


def test_and_back_the_quotas_are_the_same() -> None:
    there = _from_kueue()
    back = convert(there.objects, read_policy({"spec": there.policy}), stack="kueue")
    queues = _specs(back, "ClusterQueue")
    assert _quota(queues["a"], "cpu") == {
        "name": "cpu",
        "nominalQuota": "4",
        "borrowingLimit": "2",
    }
    assert _quota(queues["b"], "memory")["nominalQuota"] == "8Gi"
    assert queues["a"]["cohortName"] == queues["b"]["cohortName"] == "team"
    assert "parentName" not in _specs(back, "Cohort")["team"]


def test_a_guarantee_becomes_nominal_quota_and_max_a_borrowing_limit() -> None:
    quota = _quota(_specs(_to_kueue(), "ClusterQueue")["a"], "cpu")
    assert quota == {"name": "cpu", "nominalQuota": "2", "borrowingLimit": "3"}


def test_queues_keep_names_of_their_own_that_kubernetes_takes() -> None:
    tree = TREE.replace("name: b,", "name: Team_A,").replace("default}", "team-a}")
    assert set(_specs(_to_kueue(tree=tree), "ClusterQueue")) == {
        "a",
        "team-a",
        "team-a-2",
    }


def test_a_parent_lends_what_its_children_leave() -> None:
    cohorts = _specs(_to_kueue(), "Cohort")
    assert _quota(cohorts["tenant"], "cpu")["nominalQuota"] == "1"
    assert _quota(cohorts["root"], "cpu")["nominalQuota"] == "4"


def test_bin_packing_becomes_the_most_allocated_strategy() -> None:
    (profile,) = _to_kueue().policy["kubeScheduler"]["profiles"]
    strategy = profile["pluginConfig"][0]["args"]["scoringStrategy"]
    assert strategy == {"type": "MostAllocated"}


def test_what_yunikorn_alone_knows_is_named() -> None:
    losses = [str(loss) for loss in _to_kueue().losses]
    assert "root.tenant.a: application sort fair" in losses
    assert "root.tenant: a fence that others may look into" in losses


def test_a_pod_gets_a_local_queue_in_its_namespace() -> None:
    converted = _to_kueue(POD)
    (pod,) = (o for o in converted.objects if o.key.kind == "Pod")
    (main,) = (o for o in converted.objects if o.key.kind == "LocalQueue")
    assert pod.labels["kueue.x-k8s.io/queue-name"] == main.key.name
    assert (main.key.namespace, main.spec["clusterQueue"]) == ("dev", "a")


def test_a_world_is_not_converted_to_what_it_is() -> None:
    with pytest.raises(SchedulerError, match="cannot convert"):
        convert([], Policy(), stack="kueue")
