"""Which flavors take pods that ask for topology, and which take the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler.kueue.topology.test_node_failures import HOST, Racks

RACK = {"required": "rack"}


def queue_of(rig: Racks, *flavors: str, resource: str = "cpu") -> None:
    """Put ClusterQueue `q` with these flavors, 100 of each."""
    quota = {"name": resource, "nominalQuota": 100}
    listed = [{"name": name, "resources": [quota]} for name in flavors]
    group = {"coveredResources": [resource], "flavors": listed}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    rig.put("ClusterQueue", "q", spec, namespace="")


def chosen(rig: Racks, asks: dict[str, Any] | None) -> object:
    """Return the flavor that a pod gets, or why it gets none."""
    container = {"resources": {"requests": {"cpu": "1"}}}
    pod_set: dict[str, Any] = {"name": "main", "count": 1}
    pod_set["template"] = {"spec": {"containers": [container]}}
    if asks is not None:
        pod_set["topologyRequest"] = asks
    rig.workload("w", "q", podSets=[pod_set])
    rig.run(0)
    admission = rig.work("w").admission
    if admission is None:
        return rig.condition("w")[2].partition("pod set main: ")[2]
    return admission.pod_sets[0].flavors["cpu"]


ONLY = 'Flavor "tas" supports only TopologyAwareScheduling'
LEVEL = 'Flavor "tas" does not contain the requested level'


@pytest.mark.parametrize(
    ("flavors", "asks", "found"),
    [
        (("tas", "f"), None, "f"),
        (("tas", "f"), {"podIndexLabel": "index"}, "f"),  # ranks alone ask nothing
        (("f", "tas"), RACK, "tas"),
        (("tas",), None, "tas"),  # all flavors have a topology: it is implied
        (("tas",), {"required": "zone"}, LEVEL),
        (("tas",), {"preferred": "zone"}, LEVEL),
        (("tas",), {"unconstrained": True}, "tas"),
        (
            ("tas",),
            {**RACK, "podSetSliceRequiredTopology": "zone", "podSetSliceSize": 1},
            LEVEL,
        ),
        (
            ("tas",),
            {**RACK, "podSetSliceRequiredTopology": HOST, "podSetSliceSize": 1},
            "tas",
        ),
    ],
)
def test_a_flavor_with_topology_takes_who_asks_and_no_other_where_there_is_another(
    flavors, asks, found
):
    rig = Racks()
    queue_of(rig, *flavors)
    assert chosen(rig, asks) == found


def test_a_plain_pod_is_not_for_a_flavor_with_topology_beside_a_full_one():
    rig = Racks()
    queue_of(rig, "tas", "f")
    rig.workload("fills", "q", 100)
    rig.run(0)
    assert chosen(rig, None) == (
        f"{ONLY}, insufficient unused quota for cpu in flavor f, 1 more needed"
    )


def test_a_flavor_without_topology_says_so():
    rig = Racks()
    queue_of(rig, "f", "tas")
    rig.put("ResourceFlavor", "tas", {"nodeLabels": {"pool": "main"}}, namespace="")
    assert chosen(rig, RACK) == (
        'Flavor "f" does not support TopologyAwareScheduling, '
        'Flavor "tas" does not support TopologyAwareScheduling'
    )


def test_pods_of_two_flavors_with_topology_stand_nowhere():
    rig = Racks()
    spec = {"topologyName": "racks", "nodeLabels": {"pool": "main"}}
    rig.put("ResourceFlavor", "other", spec, namespace="")
    groups = [
        {
            "coveredResources": [resource],
            "flavors": [
                {"name": name, "resources": [{"name": resource, "nominalQuota": 9}]}
            ],
        }
        for resource, name in (("cpu", "tas"), ("memory", "other"))
    ]
    rig.put("ClusterQueue", "q", {"namespaceSelector": {}, "resourceGroups": groups},
            namespace="")  # fmt: skip
    requests = {"requests": {"cpu": "1", "memory": "1"}}
    template = {"spec": {"containers": [{"resources": requests}]}}
    pod_set = {"name": "main", "template": template, "topologyRequest": RACK}
    rig.workload("w", "q", podSets=[pod_set])
    rig.run(0)
    assert rig.condition("w")[2] == (
        "failed to assign flavors to pod set main: "
        "more than one TAS flavor assigned: other, tas"
    )


def test_pods_that_ask_for_topology_wait_where_the_queue_has_none():
    rig = Racks()
    queue_of(rig, "f", resource="memory")
    rig.workload("w", "q", podSets=[
        {"name": "main", "template": {"spec": {"containers": [{}]}},
         "topologyRequest": RACK}
    ])  # fmt: skip
    rig.run(0)
    assert rig.condition("w")[2] == (
        "failed to assign flavors to pod set main: "
        "workload requires Topology, but there is no TAS cache information"
    )
