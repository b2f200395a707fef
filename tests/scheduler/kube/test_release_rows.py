"""Rows of the ledger of Kubernetes: a world on a release before one, and on one after."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.model.releases.release import Release
from tests.scheduler.kube.rig import Rig, node, pod, profile
from tests.scheduler.kube.test_gangs import ON, group, member

HOST = "kubernetes.io/hostname"


def rig(release: str, *nodes: Any, **given: Any) -> Rig:
    return Rig(*nodes, release=Release(kubernetes=release), **given)


@pytest.mark.parametrize(("release", "placed"), [("1.35.4", False), ("1.36.0", True)])
def test_the_end_of_who_kept_it_out_brings_a_pod_back_since_1_36(release, placed):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "late"}}}
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    made = rig(release, node("n0"))
    first = made.put(pod("first", affinity={"podAntiAffinity": apart}))
    made.settle()
    made.put(pod("late", labels={"app": "late"}))
    made.settle()
    made.remove(first)
    made.run(20_000)
    assert ("late" in made.places()) is placed


def port(kind: str, **more: Any) -> dict[str, Any]:
    return {kind: [{"name": "p", "ports": [{"hostPort": 80}], **more}]}


@pytest.mark.parametrize(("release", "placed"), [("1.33.3", True), ("1.34.0", False)])
def test_a_port_of_a_sidecar_is_taken_since_1_34(release, placed):
    made = rig(release, node("n0"))
    made.put(pod("first", **port("initContainers", restartPolicy="Always")))
    made.settle()
    made.put(pod("late", **port("containers")))
    made.settle()
    assert ("late" in made.places()) is placed


@pytest.mark.parametrize(("release", "where"), [("1.35.4", "n0"), ("1.36.0", "n1")])
def test_the_image_of_a_volume_draws_a_pod_since_1_36(release, where):
    scores = {"enabled": [{"name": "ImageLocality"}], "disabled": [{"name": "*"}]}
    nodes = [node("n0"), node("n1")]
    for one, (name, mib) in zip(
        nodes, [("code:latest", 400), ("data:latest", 900)], strict=True
    ):
        one["status"]["images"] = [{"names": [name], "sizeBytes": mib << 20}]
    configuration = {"profiles": [profile(plugins={"score": scores})]}
    made = rig(release, *nodes, configuration=configuration)
    volumes = [{"name": "v", "image": {"reference": "data"}}]
    given = pod("p", volumes=volumes)
    given["spec"]["containers"][0]["image"] = "code"
    made.put(given)
    made.settle()
    assert made.places() == {"p": where}


@pytest.mark.parametrize(("release", "again"), [("1.35.4", False), ("1.36.0", True)])
def test_a_victim_that_waits_on_permit_is_tried_again_since_1_36(release, again):
    made = rig(release, node("n0", cpu=2), group(), configuration=ON)
    made.put(member("g0", cpu=2))
    made.put(member("g1", cpu=9))
    made.settle()
    made.put(node("n1", cpu=2))
    made.put(pod("boss", cpu=2, priority=9, nodeSelector={HOST: "n0"}))
    made.run(10_000)
    assert made.places() == {"boss": "n0"}
    [scheduler] = made.stage.schedulers
    assert bool(scheduler.assumed) is again


@pytest.mark.parametrize(("release", "kept"), [("1.35.4", False), ("1.36.0", True)])
def test_a_victim_that_is_being_bound_goes_back_to_the_queue_since_1_36(release, kept):
    made = rig(release, node("n0", cpu=2), bind_latency_ms=250)
    old = made.put(pod("old", cpu=2))
    made.settle()
    made.put(pod("boss", cpu=2, priority=9))
    made.run(5_000)
    assert made.places() == {"boss": "n0"}
    assert (old in made.objects) is kept
