"""What a cluster writes of itself: an API server on namespaces and pods, a kubelet on nodes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.tick import advance
from scheduler.model.objects import Key
from scheduler.model.reasons import is_true
from tests.builders import (
    assembled,
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    world_of,
)

NAME = "kubernetes.io/metadata.name"
OS = "kubernetes.io/os"
HOST = "kubernetes.io/hostname"
Manifest = dict[str, Any]


def namespace(**labels: str) -> Manifest:
    metadata = {"name": "team-a", "labels": labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def of_team(made: Manifest) -> Manifest:
    made["metadata"]["namespace"] = "team-a"
    return made


def queued(*more: Manifest, selects: str = "team-a", **labels: str) -> list[Manifest]:
    queue = cluster_queue("cq", cpu=4)
    label = NAME if selects == "team-a" else selects
    queue["spec"]["namespaceSelector"] = {"matchLabels": {label: "team-a"}}
    return [
        flavor(),
        namespace(**labels),
        queue,
        of_team(local_queue("lq", cluster_queue="cq")),
        *more,
    ]


@pytest.mark.parametrize("labels", [{}, {"tier": "gold"}, {NAME: "other"}])
def test_kueue_selects_a_namespace_by_its_name(labels: dict[str, str]) -> None:
    world = world_of(*queued(of_team(job("j", queue="lq", cpu=1)), **labels))
    advance(world, 1_000)
    [work] = [key for key in world.objects if key.kind == "Workload"]
    assert is_true(world.get(work).status, "Admitted")


@pytest.mark.parametrize("labels", [{}, {NAME: "other"}])
def test_kube_scheduler_selects_a_namespace_by_its_name(labels: dict[str, str]) -> None:
    held = of_team(pod("held", cpu=1, labels={"app": "web"}))
    term = {
        "labelSelector": {"matchLabels": {"app": "web"}},
        "namespaceSelector": {"matchLabels": {NAME: "team-a"}},
        "topologyKey": HOST,
    }
    away = pod("away", cpu=1)
    away["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }
    nodes = [node("n", **{HOST: "n"})]
    held["spec"]["nodeName"] = "n"
    world = world_of(*nodes, namespace(**labels), held, away, stack="kube")
    advance(world, 1_000)
    assert "nodeName" not in world.get(Key("Pod", "default", "away")).spec


def codes(*manifests: Manifest, **policy: Any) -> list[str]:
    made = assembled(*manifests, **policy)
    return [one.said.code for one in made.loaded.findings]


def test_a_namespace_that_no_queue_selects_is_a_finding() -> None:
    assert "missing.namespaceLabels" in codes(*queued(selects="team", tier="gold"))
    assert "missing.namespaceLabels" not in codes(*queued())


@pytest.mark.parametrize("stack", ["kueue", "kube", "yunikorn"])
def test_a_node_without_a_label_of_its_kubelet_that_a_pod_asks_for_is_a_finding(
    stack: str,
) -> None:
    asking = pod("p", cpu=1)
    asking["spec"]["nodeSelector"] = {OS: "linux"}
    assert "missing.nodeLabel" in codes(node("n"), asking, stack=stack)
    assert "missing.nodeLabel" not in codes(
        node("n", **{OS: "linux"}), asking, stack=stack
    )
    assert "missing.nodeLabel" not in codes(node("n"), pod("p", cpu=1), stack=stack)


@pytest.mark.parametrize("stack", ["kueue", "kube", "yunikorn"])
def test_a_port_of_a_pod_in_the_network_of_its_host_is_a_port_of_the_host(
    stack: str,
) -> None:
    files = [node("n")]
    for name in ("first", "second"):
        made = pod(name, cpu=1, runtime="1h")
        made["spec"]["hostNetwork"] = True
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
        files.append(made)
    world = world_of(*files, stack=stack)
    advance(world, 2_000)
    placed = [
        name
        for name in ("first", "second")
        if "nodeName" in world.get(Key("Pod", "default", name)).spec
    ]
    assert placed == ["first"]


@pytest.mark.parametrize(("value", "found"), [("cpu", True), ("gpu", False)])
def test_one_node_label_of_two_resource_groups_with_two_values_is_a_finding(
    value: str, found: bool
) -> None:
    queue = cluster_queue("cq", cpu=4, flavor="gpu")
    [group] = queue["spec"]["resourceGroups"]
    quota = {"name": "memory", "nominalQuota": "1Gi"}
    other = {
        "coveredResources": ["memory"],
        "flavors": [{"name": "other", "resources": [quota]}],
    }
    queue["spec"]["resourceGroups"] = [group, other]
    files = [flavor("gpu", pool="gpu"), flavor("other", pool=value), queue]
    assert ("missing.oneLabel" in codes(*files)) == found
