"""Pods without spread constraints are spread over what selects them."""

from __future__ import annotations

import pytest

from scheduler.model.errors import PolicyError
from tests.scheduler.kube.rig import Rig, node, pod, profile

ZONE = "topology.kubernetes.io/zone"
SERVICE = {
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}


def zoned(*, configuration=None, **labels) -> Rig:
    nodes = [node(name, labels={ZONE: zone}) for name, zone in labels.items()]
    return Rig(*nodes, configuration=configuration)


def scores(rig: Rig, manifest) -> dict[str, int] | None:
    found = rig.stage.table(rig.put(manifest))
    column = found.scores["PodTopologySpread"]
    return None if column.skipped else dict(column.normalized)


def web(name: str, **more):
    return pod(name, labels={"app": "web"}, **more)


def test_what_no_one_selects_is_not_spread():
    assert scores(zoned(n0="a", n1="b"), web("p")) is None


def test_a_service_spreads_the_pods_that_it_selects():
    rig = zoned(n0="a", n1="b")
    rig.put(SERVICE)
    rig.put(web("first", nodeName="n0"))
    # n0: round(2 ln 4 + 2 + 4) = 9, n1: 2 + 4 = 6; 100 (9 + 6 - raw) / 9
    assert scores(rig, web("p")) == {"n0": 66, "n1": 100}


def test_a_controller_spreads_the_pods_that_it_made():
    rig = zoned(n0="a", n1="b")
    selector = {"matchLabels": {"app": "web"}}
    metadata = {"name": "web", "namespace": "default"}
    rig.put(
        {"kind": "ReplicaSet", "metadata": metadata, "spec": {"selector": selector}}
    )
    rig.put(web("first", nodeName="n0"))
    made = web("p")
    made["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web"}]
    assert scores(rig, made) == {"n0": 66, "n1": 100}


def test_a_node_without_a_zone_takes_part_in_the_systems_spread():
    rig = Rig(node("n0", labels={ZONE: "a"}), node("n1"))
    rig.put(SERVICE)
    rig.put(web("first", nodeName="n0"))
    found = scores(rig, web("p"))
    assert found is not None
    assert found["n1"] > found["n0"]


def test_constraints_of_a_profile_may_be_hard():
    args = {
        "defaultingType": "List",
        "defaultConstraints": [
            {
                "topologyKey": ZONE,
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
            }
        ],
    }
    config = [{"name": "PodTopologySpread", "args": args}]
    configuration = {"profiles": [profile(pluginConfig=config)]}
    rig = zoned(configuration=configuration, n0="a", n1="b")
    rig.put(SERVICE)
    rig.put(web("first", nodeName="n0"))
    found = rig.stage.table(rig.put(web("p")))
    assert found is not None
    assert found.feasible == ["n1"]


def test_a_list_under_the_systems_type_is_refused():
    constraint = {"topologyKey": ZONE, "maxSkew": 1}
    args = {"defaultConstraints": [constraint]}
    config = [{"name": "PodTopologySpread", "args": args}]
    with pytest.raises(PolicyError, match="say List"):
        Rig(configuration={"profiles": [profile(pluginConfig=config)]})
