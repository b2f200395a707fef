"""Node groups: nodes that come for pods that wait, go when unneeded, and cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.measures import Measures
from scheduler.assembly import InputError
from scheduler.engine.autoscaling import refusals
from scheduler.engine.autoscaling.growing import CONFIG_MAP
from scheduler.engine.tick import advance, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Evict, Finish, NodeChange
from scheduler.model.objects import Key
from scheduler.words.placing import NotGrown
from tests.builders import (
    assembled,
    job,
    node,
    pod,
    queue_tree,
    small_cluster,
    world_of,
)

SOON = {"scaleDownDelayAfterAdd": "0s"}


def group(name: str = "g", *, cpu: int = 4, labels=None, **spec: Any) -> dict:
    """A group from zero to four nodes that boot in 90 s and cost 6 an hour."""
    template = {
        "metadata": {"labels": labels or {}},
        "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}},
    }
    given = {"maxNodes": 4, "bootTime": "90s", "pricePerHour": 6, **spec}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "NodeGroup",
        "metadata": {"name": name},
        "spec": {"template": template, **given},
    }


def edited_group(**spec: Any):
    """The group of a manifest, as an edit of one that is there."""
    found = assembled(group(**spec), stack="kube").world
    edited = found.objects[Key("NodeGroup", "", "g")]
    edited.metadata.pop("uid")
    return edited


def grown(*manifests: dict, seed: int = 1, autoscaler=None, **simulation) -> World:
    """A world of kube-scheduler alone."""
    if autoscaler is not None:
        simulation["autoscaler"] = autoscaler
    return world_of(*manifests, seed=seed, stack="kube", simulation=simulation)


def run(world: World, until_ms: int = 3_600_000):
    measures, decisions = Measures(world), []

    def hear(made):
        decisions.extend(made)
        measures.observe(made)

    simulate(world, until_ms=until_ms, hear=hear)
    return measures.summary(), decisions


def orders(decisions: list) -> list[tuple[int, str, str]]:
    return [
        (d.at_ms, d.subject.name, d.message)
        for d in decisions
        if isinstance(d, NodeChange) and d.change == "ordered"
    ]


def reasons(decisions: list) -> list[tuple[int, str, str]]:
    return [
        (d.at_ms, d.subject.name, d.reason)
        for d in decisions
        if isinstance(d, NodeChange) and d.reason and d.change != "ordered"
    ]


def test_a_group_grows_from_zero_for_a_pod_that_waits():
    _, decisions = run(grown(group(), pod("p", cpu=3, runtime="60s")), 200_000)
    assert [at for at, *_ in orders(decisions)] == [10_000]
    (bound,) = [d for d in decisions if isinstance(d, Bind)]
    assert (bound.at_ms, bound.node) == (107_000, "g-1")  # after a back-off


def test_pods_that_fit_together_share_what_is_ordered():
    pods = [pod(f"p{i}", cpu=2, runtime="60s") for i in range(5)]
    world = grown(group(), *pods)
    _, decisions = run(world, 200_000)
    assert orders(decisions)[0][2] == "g grows from 0 to 3 of at most 4 for 5 pods"


def test_no_group_grows_beyond_its_maximum():
    pods = [pod(f"p{i}", cpu=4, runtime="1h") for i in range(6)]
    world = grown(group(), *pods)
    run(world, 600_000)
    assert len(world.keys("Node")) == 4


def test_a_pod_that_no_node_of_the_group_suits_orders_nothing():
    wanted = pod("p", cpu=1)
    wanted["spec"]["nodeSelector"] = {"gpu": "yes"}
    world = grown(group(), wanted, pod("large", cpu=5))
    _, decisions = run(world, 200_000)
    assert orders(decisions) == []
    refused = world.autoscaling.refusals(world.kube.pods[Key("Pod", "default", "p")])
    assert "selector" in refused["NodeGroup", "g"]


def test_no_group_grows_for_a_pod_that_waits_for_its_claims():
    stored, equipped = pod("p", cpu=1), pod("q", cpu=1)
    source = {"persistentVolumeClaim": {"claimName": "none"}}
    stored["spec"]["volumes"] = [{"name": "v", **source}]
    equipped["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": "none"}]
    world = grown(group(), stored, equipped)
    _, decisions = run(world, 200_000)
    assert orders(decisions) == []
    refused = world.autoscaling.refusals(world.kube.pods[Key("Pod", "default", "p")])
    assert "claims" in refused["NodeGroup", "g"]


@pytest.mark.parametrize(
    ("expanders", "grows"),
    [
        (["least-waste"], "small"),
        (["priority"], "large"),
        (["price"], "small"),
        (["least-nodes", "least-waste"], "large"),
        (["most-pods", "priority"], "large"),
    ],
)
def test_the_expander_chooses_the_group(expanders, grows):
    small = group("small", cpu=2, pricePerHour=1, priority=1)
    large = group("large", cpu=16, pricePerHour=9, priority=2)
    pods = [pod(f"p{i}", cpu=2, runtime="60s") for i in range(2)]
    world = grown(small, large, *pods, autoscaler={"expanders": expanders})
    _, decisions = run(world, 30_000)
    assert [name for _, name, _ in orders(decisions)] == [grows]


def test_the_random_expander_draws_from_the_seed():
    def chosen(seed: int) -> str:
        world = grown(
            group("a"),
            group("b"),
            pod("p", cpu=1),
            seed=seed,
            autoscaler={"expanders": ["random"]},
        )
        return orders(run(world, 30_000)[1])[0][1]

    found = [chosen(seed) for seed in range(6)]
    assert set(found) == {"a", "b"}
    assert found == [chosen(seed) for seed in range(6)]


def priorities(text: str) -> dict:
    name = "cluster-autoscaler-priority-expander"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-system"},
        "data": {"priorities": text},
    }


@pytest.mark.parametrize(
    ("text", "grows"),
    [
        ("10: [spot-.*]\n5: [other]", "spot-b"),
        ("10: [nobody]", "other"),
        ("10: [oth", "other"),
    ],
)
def test_the_config_map_of_the_expander_says_who_comes_first(text, grows):
    groups = group("other", priority=3), group("spot-b", priority=2)
    world = grown(
        *groups,
        priorities(text),
        pod("p", cpu=1),
        autoscaler={"expanders": ["priority"]},
    )
    assert orders(run(world, 30_000)[1])[0][1] == grows


def test_a_copy_keeps_the_priorities_that_an_unreadable_edit_left():
    groups = group("other", priority=3), group("spot-b", priority=2)
    world = grown(
        *groups,
        priorities("10: [spot-.*]"),
        pod("p", cpu=1, arrival="60s"),
        autoscaler={"expanders": ["priority"]},
    )
    edited = world.get(CONFIG_MAP)
    edited.manifest["data"] = {"priorities": "10: [oth"}
    world.put(edited)
    for one in (world, world.copy()):
        assert orders(run(one, 90_000)[1])[0][1] == "spot-b"


def test_groups_that_are_alike_share_what_is_ordered():
    zones = [
        group(name, labels={"topology.kubernetes.io/zone": name}) for name in "abc"
    ]
    other = group("d", labels={"disk": "fast"})
    pods = [pod(f"p{i}", cpu=4, runtime="1h") for i in range(6)]
    world = grown(*zones, other, *pods, autoscaler={"balanceSimilarNodeGroups": True})
    run(world, 30_000)
    sizes = {one.name: one.size for one in world.autoscaling.groups.values()}
    assert sizes == {"a": 2, "b": 2, "c": 2, "d": 0}


def test_a_group_whose_nodes_do_not_come_backs_off_ever_longer():
    slow = group("a-slow", bootTime="never")
    world = grown(
        slow, pod("p", cpu=1), autoscaler={"maxNodeProvisionTime": "2m", **SOON}
    )
    _, decisions = run(world, 1_500_000)
    late = [(at, why) for at, _, why in reasons(decisions) if why == "ScaleUpTimedOut"]
    # Ordered at 10 s, again after 5 minutes of back-off, again after 10.
    assert [at for at, _, _ in orders(decisions)] == [10_000, 430_000, 1_150_000]
    assert [at for at, _ in late] == [130_000, 550_000, 1_270_000]
    key = Key("Pod", "default", "p")
    assert (
        "backoff"
        in world.autoscaling.refusals(world.kube.pods[key])["NodeGroup", "a-slow"]
    )
    assert world.autoscaling.cost() == pytest.approx(6 * 360 / 3600)


def test_an_empty_node_goes_after_its_delay_and_the_world_comes_to_rest():
    world = grown(
        group(scaleDownDelay="2m"), pod("p", cpu=3, runtime="60s"), autoscaler=SOON
    )
    _, decisions = run(world)
    assert reasons(decisions) == [(290_000, "g-1", "ScaleDownEmpty")]
    assert world.keys("Node") == []
    assert not [stage for stage in world.stages() if stage.due() is not None]


def test_no_node_goes_below_the_minimum_or_soon_after_growth():
    one = group(minNodes=1, scaleDownDelay="1m")
    world = grown(one, pod("p", cpu=3, runtime="60s"))
    run(world)
    assert len(world.keys("Node")) == 1
    late = grown(group(scaleDownDelay="1m"), pod("p", cpu=3, runtime="60s"))
    (gone,) = reasons(run(late)[1])
    assert gone[0] == 610_000  # ten minutes after the order at 10 s


def test_an_under_used_node_is_drained_where_its_pods_fit_elsewhere():
    two = group(nodes=2, scaleDownDelay="1m")
    works = [job("one", cpu=3, runtime="2h"), job("two", cpu=1, runtime="2h")]
    spread = job("filler", cpu=1, runtime="30s")
    world = grown(two, *works, spread, autoscaler=SOON)
    _, decisions = run(world, 1_800_000)
    drained = [one for one in reasons(decisions) if one[2] == "ScaleDown"]
    assert len(drained) <= 1
    assert len(world.keys("Node")) == 1


def test_a_pod_that_must_not_be_evicted_keeps_its_node():
    safe = "cluster-autoscaler.kubernetes.io/safe-to-evict"
    kept = job("one", cpu=1, runtime="2h")
    template = kept["spec"]["template"]
    template["metadata"] = {"annotations": {safe: "false"}}
    other = job("two", cpu=3, runtime="2h")
    other["spec"]["template"]["metadata"] = {"annotations": {safe: "false"}}
    world = grown(group(nodes=2, scaleDownDelay="1m"), kept, other, autoscaler=SOON)
    _, decisions = run(world, 1_800_000)
    assert "ScaleDown" not in {reason for *_, reason in reasons(decisions)}


def test_a_node_is_paid_for_from_its_order_to_its_end():
    world = grown(
        group(scaleDownDelay="2m"), pod("p", cpu=3, runtime="60s"), autoscaler=SOON
    )
    found, _ = run(world)
    assert found.cost == pytest.approx(6 * 280 / 3600)
    assert run(grown(pod("p")), 60_000)[0].cost is None


def test_a_spot_node_is_taken_back_and_its_work_begins_again():
    spot = group(spot={"interruptionsPerHour": 60}, bootTime="10s")
    world = grown(spot, job("one", cpu=3, runtime="3m"), seed=3)
    found, decisions = run(world, 1_200_000)
    taken = [one for one in reasons(decisions) if one[2] == "SpotInterruption"]
    assert taken
    lost = [d for d in decisions if isinstance(d, Evict)]
    assert lost
    assert found.work_lost_ms > 0


def test_kueue_admits_and_nodes_come_for_the_pods_of_a_job():
    world = world_of(
        *small_cluster(cpu=16),
        group(),
        job("work", queue="main", cpu=4, parallelism=3, runtime="60s"),
        simulation={"autoscaler": SOON},
    )
    _, decisions = run(world, 600_000)
    (finish,) = [d for d in decisions if isinstance(d, Finish)]
    assert finish.at_ms == 167_000


def test_an_edit_raises_the_minimum():
    world = grown(group(), autoscaler=SOON)
    simulate(world, until_ms=5_000)
    world.put(edited_group(minNodes=2))
    simulate(world, until_ms=200_000)
    assert len(world.keys("Node")) == 2
    assert world.get(Key("NodeGroup", "", "g")).status == {
        "nodes": 2,
        "booting": 0,
        "made": 2,
    }


def test_nodes_that_carry_the_label_are_the_groups_own():
    given_node = node("given", **{"quotalab.dev/node-group": "g"})
    pods = [pod(f"p{i}", cpu=3, runtime="1h") for i in range(6)]
    world = grown(group(nodes=2), given_node, *pods)
    simulate(world, until_ms=200_000)
    assert [key.name for key in world.keys("Node")] == ["g-1", "g-2", "g-3", "given"]


@settings(max_examples=20, deadline=None)
@given(at=st.integers(1, 900), seed=st.integers(1, 4))
def test_a_copy_in_the_middle_ends_as_the_world_itself(at, seed):
    spot = group("spot", spot={"interruptionsPerHour": 20}, bootTime="uniform(20s,60s)")
    works = [
        job(f"w{i}", cpu=1 + i % 3, runtime="3m", arrival=f"{i * 40}s")
        for i in range(8)
    ]
    world = grown(
        spot,
        group("steady", cpu=8, scaleDownDelay="1m", pricePerHour=20),
        *works,
        seed=seed,
        autoscaler={
            "expanders": ["price", "random"],
            "maxNodeProvisionTime": "40s",
            "balanceSimilarNodeGroups": True,
            **SOON,
        },
        failures={"meanTimeBetween": "10m", "repair": "30s"},
    )
    simulate(world, until_ms=at * 1000)
    again = world.copy()
    for one in (world, again):
        simulate(one, until_ms=1_000_000)
    assert again.hash() == world.hash()
    assert again.autoscaling.cost() == world.autoscaling.cost()


def test_a_copy_gives_back_the_same_nodes_where_there_are_more_than_nine():
    many = group(nodes=12, maxNodes=12, minNodes=9, scaleDownDelay="2m")
    world = grown(many, pod("p", cpu=1, runtime="30s"), autoscaler=SOON)
    simulate(world, until_ms=60_000)
    again = world.copy()
    for one in (world, again):
        simulate(one, until_ms=600_000)
    assert again.keys("Node") == world.keys("Node")
    assert len(world.keys("Node")) == 9


def test_a_copy_pays_the_same_to_the_last_digit():
    pods = [pod(f"p{i}", cpu=4, arrival=f"{i * 17}s", runtime="1h") for i in range(12)]
    world = grown(group(maxNodes=12, pricePerHour=0.7), *pods)
    simulate(world, until_ms=400_000)
    again = world.copy()
    assert len(world.autoscaling.groups["g"].ordered) == 12
    for one in (world, again):
        one.delete(Key("NodeGroup", "", "g"))
    assert again.hash() == world.hash()


def test_an_edited_price_holds_from_then_on():
    world = grown(group(minNodes=1))
    advance(world, 1_800_000)
    world.put(edited_group(minNodes=1, pricePerHour=60))
    assert world.autoscaling.cost() == pytest.approx(3)
    advance(world, 3_600_000)
    assert world.autoscaling.cost() == pytest.approx(3 + 30)


def test_a_node_that_has_the_name_already_is_left_alone():
    world = grown(group(nodes=1), node("g-1", cpu=2))
    simulate(world, until_ms=1_000)
    assert [key.name for key in world.keys("Node")] == ["g-1", "g-2"]
    assert world.get(Key("Node", "", "g-1")).status["allocatable"]["cpu"] == "2"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"minNodes": 5}, "spec.minNodes: expected at most maxNodes (4), got 5"),
        ({"bootTime": "soon"}, "spec.bootTime"),
        ({"scaleDownDelay": "exp(5m)"}, "spec.scaleDownDelay: expected one length"),
        ({"maxNodes": -1}, "spec.maxNodes"),
        ({"template": {}}, "spec.template.status.allocatable"),
        ({"size": 3}, "size"),
        ({"spot": {"interruptionsPerHour": -1}}, "interruptionsPerHour"),
    ],
)
def test_a_group_that_makes_no_sense_is_refused(spec, problem):
    with pytest.raises(InputError, match="spec") as refused:
        assembled(group(**spec), stack="kube")
    assert problem in str(refused.value)


def yunikorn(*pods: dict, sort: str = "binpacking", queue=None, **policy) -> World:
    """Two nodes of 4 cores that YuniKorn fills in an order, and a group from zero."""
    tree = queue_tree({"name": "q", **(queue or {})})
    tree["partitions"][0]["nodesortpolicy"] = {"type": sort}
    nodes = [node(name, cpu=4) for name in ("a", "b")]
    return world_of(
        *nodes, group(), *pods, stack="yunikorn", yunikorn={"queues": tree}, **policy
    )


def yunikorn_pod(name: str, cpu: int, arrival: str = "0s") -> dict:
    return pod(
        name,
        cpu=cpu,
        arrival=arrival,
        labels={"queue": "root.q", "applicationId": name},
    )


@pytest.mark.parametrize(("sort", "ordered"), [("binpacking", 0), ("fair", 1)])
def test_under_yunikorn_a_group_grows_for_what_the_order_of_nodes_leaves_waiting(
    sort, ordered
):
    small = [yunikorn_pod(f"small-{n}", 1) for n in range(2)]
    world = yunikorn(*small, yunikorn_pod("large", 4, "5s"), sort=sort)
    advance(world, 60_000)
    assert len(world.autoscaling.groups["g"].ordered) == ordered
    advance(world, 130_000)
    found = world.get(Key("Pod", "default", "large")).status["phase"]
    assert found in ("Running", "Succeeded")


def test_under_yunikorn_no_group_grows_for_what_quota_keeps_out():
    full = [yunikorn_pod(name, 4) for name in ("one", "two")]
    world = yunikorn(
        *full, yunikorn_pod("more", 4), queue={"resources": {"max": {"vcore": 8}}}
    )
    advance(world, 60_000)
    assert world.autoscaling.groups["g"].ordered == {}


def test_under_yunikorn_a_group_gives_its_node_back():
    world = yunikorn(
        yunikorn_pod("large", 4), yunikorn_pod("b", 4), yunikorn_pod("c", 4)
    )
    advance(world, 3_600_000)
    assert world.autoscaling.groups["g"].made == 1
    assert world.autoscaling.groups["g"].size == 0


def test_each_reason_not_to_grow_has_the_words_that_languages_translate():
    reasons = {text for name, text in vars(refusals).items() if name.isupper()}
    assert reasons == {one.english for one in NotGrown}
