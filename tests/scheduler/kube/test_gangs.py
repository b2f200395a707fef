"""In-tree gangs: members enter the queue together and are bound together."""

from __future__ import annotations

import pytest
import yaml

from scheduler.input.manifests.load import load
from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod, profile

GROUP = "PodGroup.scheduling.k8s.io"
ON = {
    "profiles": [
        profile(plugins={"multiPoint": {"enabled": [{"name": "GangScheduling"}]}})
    ]
}
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
GANG = {"gang": {"minCount": 2}}


def group(policy=GANG, name="train"):
    metadata = {"name": name, "namespace": "default"}
    return {"kind": GROUP, "metadata": metadata, "spec": {"schedulingPolicy": policy}}


def workload(policy=GANG):
    metadata = {"name": "job", "namespace": "default"}
    groups = [{"name": "workers", "policy": policy}]
    kind = "Workload.scheduling.k8s.io"
    return {"kind": kind, "metadata": metadata, "spec": {"podGroups": groups}}


def member(name, **more):
    return pod(name, schedulingGroup={"podGroupName": "train"}, **more)


def worker(name, replica=""):
    named = {"name": "job", "podGroup": "workers", "podGroupReplicaKey": replica}
    return pod(name, workloadRef=named)


def gangs(*manifests, cpu=4, configuration=ON):
    return Rig(node("n0", cpu=cpu), *manifests, configuration=configuration)


def test_members_are_held_back_until_their_group_and_enough_of_them_exist():
    rig = gangs(member("a"))
    rig.settle()
    assert rig.pending() == {
        "a": 'waiting for pods\'s pod group "train" to appear in scheduling queue'
    }
    rig.put(group())
    rig.settle()
    assert rig.pending() == {"a": TOO_FEW}
    rig.put(member("b"))
    rig.settle()
    assert sorted(rig.places()) == ["a", "b"]


def test_members_hold_their_nodes_until_enough_have_one_and_give_them_back_in_time():
    rig = gangs(group(), member("a"), member("b"), cpu=1)
    rig.settle()
    assert rig.places() == {}
    rig.put(node("n1", cpu=1))
    rig.run(20_000)
    assert sorted(rig.places().values()) == ["n0", "n1"]


def test_a_gang_that_cannot_be_complete_lets_others_have_the_node_after_five_minutes():
    rig = gangs(group({"gang": {"minCount": 2}}), member("a"), member("b"), cpu=1)
    rig.settle()
    rig.put(pod("other"))
    rig.run(299_000)
    assert rig.places() == {}
    rig.remove(Key("Pod", "default", "b"))
    rig.run(330_000)
    assert rig.places() == {"other": "n0"}


def test_a_member_that_runs_already_counts():
    rig = gangs(group(), member("a", nodeName="n0"), member("b"))
    rig.settle()
    assert sorted(rig.places()) == ["a", "b"]


def test_a_basic_policy_asks_for_nothing():
    rig = gangs(group({"basic": {}}), member("a"))
    rig.settle()
    assert rig.places() == {"a": "n0"}


def test_replicas_of_a_workloads_group_are_gangs_of_their_own():
    rig = gangs(workload(), worker("a0", "0"), worker("b0", "1"), worker("a1", "0"))
    rig.settle()
    assert sorted(rig.places()) == ["a0", "a1"]
    assert rig.pending() == {"b0": TOO_FEW}


def test_a_pod_group_that_the_workload_does_not_have_is_named():
    rig = gangs(workload(), pod("p", workloadRef={"name": "job", "podGroup": "other"}))
    rig.settle()
    said = 'pod group "other" doesn\'t exist for a workload "job"'
    assert rig.pending() == {"p": said}


def test_a_waiting_gang_goes_on_after_a_restart():
    rig = gangs(group(), member("a"), member("b"), cpu=1)
    rig.settle()
    again = rig.restarted()
    again.put(node("n1", cpu=1))
    again.run(20_000)
    assert sorted(again.places()) == ["a", "b"]


def test_without_the_plug_in_members_are_placed_one_by_one():
    rig = gangs(group(), member("a"), configuration={})
    rig.settle()
    assert rig.places() == {"a": "n0"}


@pytest.mark.parametrize(
    ("version", "kind", "known"),
    [
        ("scheduling.k8s.io/v1alpha2", "PodGroup", True),
        ("scheduling.k8s.io/v1alpha1", "Workload", True),
        ("scheduling.k8s.io/v1alpha2", "Workload", False),
    ],
)
def test_kinds_whose_names_others_have_are_told_apart_by_their_group(
    version, kind, known
):
    manifest = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "x"},
        "spec": {"schedulingPolicy": GANG, "podGroups": []},
    }
    loaded = load([("w.yaml", yaml.safe_dump(manifest))])
    assert not loaded.errors
    assert loaded.objects[0].key.kind == f"{kind}.scheduling.k8s.io"
    assert bool(loaded.findings) != known
