"""A pod goes where one NUMA zone has room for it, and takes from that zone."""

from __future__ import annotations

import pytest

from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod, profile

NAME = "NodeResourceTopologyMatch"
GI = 2**30


def configuration(strategy="LeastAllocated", *, resources=()):
    scoring = {"type": strategy, "resources": list(resources)}
    enabled = [{"name": NAME}]
    return {
        "profiles": [
            profile(
                plugins={"multiPoint": {"enabled": enabled}},
                pluginConfig=[{"name": NAME, "args": {"scoringStrategy": scoring}}],
            )
        ]
    }


def zone(number, costs=None, **amounts):
    items = [
        {
            "name": name.replace("_", "/"),
            "capacity": v,
            "allocatable": v,
            "available": v,
        }
        for name, v in amounts.items()
    ]
    made = {"name": f"node-{number}", "type": "Node", "resources": items}
    if costs:
        made["costs"] = [{"name": f"node-{n}", "value": v} for n, v in costs.items()]
    return made


def topology(*zones, name="n0", scope="container", policy="single-numa-node", **more):
    attributes = [
        {"name": "topologyManagerPolicy", "value": policy},
        {"name": "topologyManagerScope", "value": scope},
    ]
    return {
        "kind": "NodeResourceTopology",
        "metadata": {"name": name, "namespace": ""},
        "attributes": attributes,
        "zones": list(zones),
        **more,
    }


TWO = (zone(0, cpu="4", memory="8Gi"), zone(1, cpu="4", memory="8Gi"))


def container(cpu, memory="1Gi", *, limits=True, **more):
    amounts = {"cpu": str(cpu), "memory": memory, **more}
    resources = {"requests": amounts}
    return {
        "name": "c",
        "resources": {**resources, **({"limits": amounts} if limits else {})},
    }


def asking(name, *containers, init=(), **more):
    inits = {"initContainers": list(init)} if init else {}
    return pod(name, containers=list(containers), **inits, **more)


def on(*manifests, strategy="LeastAllocated", resources=(), cpu=8):
    nodes = [node("n0", cpu=cpu), *manifests]
    return Rig(*nodes, configuration=configuration(strategy, resources=resources))


def answers(rig):
    rig.settle()
    return {
        name: said.split(": ")[1].split(".")[0] for name, said in rig.pending().items()
    }


def refused(*manifests):
    (said,) = answers(on(*manifests)).values()
    return said


def test_a_container_needs_one_zone_for_itself():
    said = refused(topology(*TWO), asking("p", container(5)))
    assert said == "1 cannot align container"


def test_what_earlier_containers_take_counts_for_later_ones():
    three = [container(3), container(3), container(2)]
    assert refused(topology(*TWO), asking("p", *three)) == "1 cannot align container"
    rig = on(topology(*TWO), asking("p", *three[:2]))
    assert answers(rig) == {}


def test_an_init_container_must_fit_and_leaves_what_it_took():
    rig = on(
        topology(*TWO), asking("p", container(4), container(4), init=[container(4)])
    )
    assert answers(rig) == {}
    said = refused(topology(*TWO), asking("p", container(1), init=[container(5)]))
    assert said == "1 cannot align init container"


def test_under_the_scope_pod_all_containers_share_a_zone():
    two = asking("p", container(3), container(3))
    assert refused(topology(*TWO, scope="pod"), two) == "1 cannot align pod"


def test_the_deprecated_policies_say_the_same():
    older = topology(*TWO, attributes=[], topologyPolicies=["SingleNUMANodePodLevel"])
    assert refused(older, asking("p", container(5))) == "1 cannot align pod"


@pytest.mark.parametrize("policy", ["none", "best-effort", "restricted"])
def test_only_single_numa_node_refuses(policy):
    assert answers(on(topology(*TWO, policy=policy), asking("p", container(5)))) == {}


def test_a_node_without_the_object_takes_any_pod():
    assert answers(on(asking("p", container(5)))) == {}


def test_of_a_burstable_pod_only_devices_are_aligned():
    devices = topology(
        zone(0, cpu="4", memory="8Gi"),
        zone(1, cpu="4", memory="8Gi", **{"example.com_nic": "1"}),
    )
    manifest = node("n0", cpu=8)
    manifest["status"]["allocatable"]["example.com/nic"] = "2"
    large = asking("large", container(7, limits=False))
    one = asking("one", container(7, limits=False, **{"example.com/nic": "1"}))
    two = asking("two", container(1, limits=False, **{"example.com/nic": "2"}))
    for given, said in (
        (large, {}),
        (one, {}),
        (two, {"two": "1 cannot align container"}),
    ):
        rig = Rig(manifest, devices, given, configuration=configuration())
        assert answers(rig) == said


def test_a_pod_that_asks_for_nothing_is_not_looked_at():
    empty = topology(zone(0, memory="1Gi"))
    assert answers(on(empty, asking("p", {"name": "c"}))) == {}


def test_the_second_pod_sees_what_the_first_took():
    rig = on(topology(*TWO))
    for index in range(3):
        rig.put(asking(f"p{index}", container(3)))
    assert answers(rig) == {"p2": "1 Insufficient cpu"}
    rig = on(topology(*TWO), cpu=16)
    for index in range(3):
        rig.put(asking(f"p{index}", container(3)))
    assert answers(rig) == {"p2": "1 cannot align container"}
    assert available(rig) == ["1", "1"]


def available(rig, resource="cpu"):
    rig.write()
    shown = rig.objects[Key("NodeResourceTopology", "", "n0")].manifest["zones"]
    return [
        item["available"]
        for one in shown
        for item in one["resources"]
        if item["name"] == resource
    ]


def test_a_pod_takes_whole_cpus_of_the_lowest_zone_that_fits():
    rig = on(topology(*TWO), asking("p", container(2), container(1), container(2)))
    rig.settle()
    assert available(rig) == ["1", "2"]
    assert available(rig, "memory") == ["6Gi", "7Gi"]
    rig = on(topology(*TWO), asking("shared", container("1500m")))
    rig.settle()
    assert available(rig) == ["4", "4"]


def test_a_pod_that_ends_gives_its_zone_back_to_who_waits():
    rig = on(topology(zone(0, cpu="4", memory="8Gi")), cpu=16)
    rig.put(asking("first", container(4)))
    rig.put(asking("second", container(4)))
    assert answers(rig) == {"second": "1 cannot align container"}
    rig.remove(Key("Pod", "default", "first"))
    rig.run(40_000)
    assert list(rig.places()) == ["second"]
    assert available(rig) == ["0"]


def test_a_pod_that_ran_before_the_object_frees_a_zone_that_lacks_as_much():
    full = topology(*TWO)
    full["zones"][1] = zone(1, cpu="4", memory="8Gi")
    full["zones"][1]["resources"][0]["available"] = "1"
    full["zones"][1]["resources"][1]["available"] = "7Gi"
    rig = on(full, asking("old", container(3), nodeName="n0"))
    rig.settle()
    assert available(rig) == ["4", "1"]
    rig.remove(Key("Pod", "default", "old"))
    assert available(rig) == ["4", "4"]


def test_without_the_object_its_node_takes_the_pod_that_waited():
    rig = on(topology(*TWO), asking("p", container(5)))
    rig.settle()
    rig.remove(Key("NodeResourceTopology", "", "n0"))
    rig.run(40_000)
    assert rig.places() == {"p": "n0"}


def test_an_update_of_the_object_counts_instead_of_what_was_taken():
    rig = on(topology(*TWO), cpu=16)
    rig.put(asking("p0", container(4)))
    rig.settle()
    rig.put(topology(*TWO))
    assert available(rig) == ["4", "4"]


def test_a_restart_keeps_who_holds_which_zone():
    rig = on(topology(*TWO), cpu=16)
    rig.put(asking("first", container(3)))
    rig.put(asking("second", container(2)))
    rig.settle()
    again = rig.restarted()
    again.remove(Key("Pod", "default", "first"))
    assert available(again) == ["4", "2"]
    again.put(asking("third", container(4)))
    again.put(asking("fourth", container(3)))
    assert answers(again) == {"fourth": "1 cannot align container"}


# --- score: requests of 1 cpu, 2Gi against zones of (4, 8Gi) and (2, 4Gi)

SIZES = (zone(0, cpu="4", memory="8Gi"), zone(1, cpu="2", memory="4Gi"))


def scored(
    strategy, *, zones=SIZES, scope="container", asked=None, resources=(), **more
):
    given = asked or asking("p", container(1, "2Gi"))
    described = topology(*zones, scope=scope, **more)
    rig = on(described, strategy=strategy, resources=resources, cpu=16)
    key = rig.put(given)
    return rig.stage.table(key).scores[NAME].raw["n0"]


@pytest.mark.parametrize(
    ("strategy", "score"),
    [
        ("LeastAllocated", 50),  # the lower of 75 and 50
        ("MostAllocated", 25),  # the lower of 25 and 50
        ("BalancedAllocation", 100),  # equal shares in each zone
        ("LeastNUMANodes", 94),  # 100 - 12, and 6 for the least distance
    ],
)
def test_each_strategy_scores_the_zone_that_scores_lowest(strategy, score):
    assert scored(strategy) == score


def test_balanced_allocation_is_one_less_the_variance():
    asked = asking("p", container(1, "6Gi"))
    # shares 1/4 and 3/4: variance 1/8; zone 1 is too small and does not count
    assert scored("BalancedAllocation", asked=asked) == 87


def test_weights_count_per_resource():
    asked = asking("p", container(1, "4Gi"))
    weights = [{"name": "cpu", "weight": 3}]
    # zone 0: (3 x 75 + 50) / 4; zone 1: (3 x 50 + 0) / 4
    assert scored("LeastAllocated", asked=asked, resources=weights) == 37


def test_containers_score_their_mean_and_the_pod_its_sum():
    two = asking("p", container(1, "2Gi"), container(2, "4Gi"))
    # 50, and 50 as zone 1 would be full (0 does not count)
    assert scored("LeastAllocated", asked=two) == 50
    assert scored("LeastAllocated", asked=two, scope="pod") == 25


def test_least_numa_nodes_counts_the_zones_that_are_needed():
    near = {0: 10, 1: 20, 2: 30}
    zones = (
        zone(0, near, cpu="2", memory="8Gi"),
        zone(1, {0: 20, 1: 10, 2: 20}, cpu="2", memory="8Gi"),
        zone(2, {0: 30, 1: 20, 2: 10}, cpu="4", memory="8Gi"),
    )

    def of(cpu):
        given = asking("p", container(cpu))
        return scored("LeastNUMANodes", zones=zones, asked=given, policy="none")

    assert of(4) == 94
    assert of(6) == 82  # 1 and 2, as near as 0 and 1
    assert of(8) == 70  # all three


def test_any_node_is_good_for_a_pod_that_is_not_guaranteed():
    given = asking("p", container(1, limits=False))
    assert scored("LeastAllocated", asked=given) == 100


def test_no_score_where_zones_are_not_aligned_to():
    assert scored("LeastAllocated", policy="restricted") == 0
