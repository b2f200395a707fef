"""NodePools: the cheapest type for what waits; empty and dear nodes go again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.explain.pods import capacity
from scheduler.assembly import InputError
from scheduler.engine.tick import advance, next_instant
from scheduler.engine.world import World
from scheduler.input.manifests.simulation_gaps.unsimulated import unsimulated
from scheduler.model.decisions import Bind, NodeChange
from scheduler.model.objects import Key, Object
from tests.builders import assembled, job, pod, world_of
from tests.scheduler.autoscaling.test_node_groups import group


def instance(name: str, cpu: int, price: float, **spec: Any) -> dict:
    """An instance type of so much cpu that boots in 60 s."""
    offerings = spec.pop("offerings", [{"pricePerHour": price}])
    capacity = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "InstanceType",
        "metadata": {"name": name},
        "spec": {"capacity": capacity, "offerings": offerings, **spec},
    }


def pool(name: str = "p", *, inner: dict | None = None, **spec: Any) -> dict:
    """A pool without bounds that by default consolidates nothing."""
    disruption = {"consolidateAfter": "Never", **spec.pop("disruption", {})}
    reference = {
        "group": "karpenter.k8s.aws",
        "kind": "EC2NodeClass",
        "name": "default",
    }
    template = {"spec": {"nodeClassRef": reference, **(inner or {})}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, "disruption": disruption, **spec},
    }


SMALL, LARGE = instance("small", 4, 1.0), instance("large", 16, 3.0)
OPEN = {"budgets": [{"nodes": "100%"}]}


def pooled(*manifests: dict, seed: int = 1) -> World:
    return world_of(*manifests, seed=seed, stack="kube")


def run(world: World, until_ms: int) -> list:
    before = len(world.context.journal.decisions)
    advance(world, until_ms)
    return world.context.journal.decisions[before:]


def changes(decisions: list, *reasons: str) -> list[tuple[int, str, str]]:
    return [
        (d.at_ms, d.subject.name, d.message)
        for d in decisions
        if isinstance(d, NodeChange) and d.reason in reasons
    ]


def types(world: World) -> list[str]:
    return [
        world.get(key).labels["node.kubernetes.io/instance-type"]
        for key in world.keys("Node")
    ]


def test_pods_are_packed_and_the_cheapest_type_that_takes_them_is_bought():
    pods = [pod(f"a{i}", cpu=5, runtime="1h") for i in range(3)]
    world = pooled(pool(), SMALL, LARGE, *pods)
    decisions = run(world, 120_000)
    (launched,) = changes(decisions, "Launched")
    assert launched == (10_000, "p", "p launches 1 large on-demand for 3 pods")
    assert types(world) == ["large"]
    assert {d.at_ms for d in decisions if isinstance(d, Bind)} <= set(
        range(70_000, 82_000)
    )


def test_a_small_pod_gets_a_small_node():
    world = pooled(pool(), SMALL, LARGE, pod("a", cpu=2))
    run(world, 80_000)
    assert types(world) == ["small"]
    assert world.autoscaling.cost() == pytest.approx(70 / 3600)


def test_requirements_leave_types_out_and_name_labels():
    needs = [
        {
            "key": "node.kubernetes.io/instance-type",
            "operator": "NotIn",
            "values": ["small"],
        },
        {"key": "team", "operator": "In", "values": ["blue"]},
    ]
    wanted = pod("a", cpu=1)
    wanted["spec"]["nodeSelector"] = {"team": "blue"}
    world = pooled(pool(inner={"requirements": needs}), SMALL, LARGE, wanted)
    run(world, 80_000)
    assert types(world) == ["large"]


def test_the_heaviest_pool_comes_first_until_its_limits():
    first = pool("reserved", weight=10, limits={"cpu": "4"})
    pods = [pod(f"a{i}", cpu=3, runtime="1h") for i in range(2)]
    world = pooled(first, pool("open"), SMALL, *pods)
    decisions = run(world, 80_000)
    assert [name for _, name, _ in changes(decisions, "Launched")] == [
        "open",
        "reserved",
    ]
    waits = pod("late", cpu=3, arrival="90s")
    world = pooled(first, SMALL, *pods, waits)
    run(world, 200_000)
    assert len(world.keys("Node")) == 1
    late = world.kube.pods[Key("Pod", "default", "late")]
    reserved = ("NodePool", "reserved")
    assert world.autoscaling.refusals(late) == {reserved: "its limits are reached"}


def test_taints_keep_pods_without_a_toleration_away():
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    world = pooled(pool(inner={"taints": [taint]}), SMALL, pod("a", cpu=1))
    run(world, 80_000)
    assert world.keys("Node") == []


def test_spot_is_bought_where_it_is_cheaper_and_is_taken_back():
    offers = [
        {"pricePerHour": 1.0},
        {"pricePerHour": 0.3, "capacityType": "spot", "interruptionsPerHour": 60},
    ]
    world = pooled(
        pool(), instance("m", 4, 0, offerings=offers), pod("a", cpu=1, runtime="2h")
    )
    decisions = run(world, 1_800_000)
    assert "spot" in changes(decisions, "Launched")[0][2]
    assert changes(decisions, "SpotInterruption")


def test_an_empty_node_goes_after_consolidate_after():
    keen = pool(
        disruption={
            "consolidateAfter": "30s",
            **OPEN,
            "consolidationPolicy": "WhenEmpty",
        }
    )
    world = pooled(keen, SMALL, pod("a", cpu=2, runtime="60s"))
    decisions = run(world, 600_000)
    ((at, name, message),) = changes(decisions, "Empty")
    assert (at, name) == (170_000, "p-1")
    assert message == "p-1 is empty; it cost 0.04"
    assert world.keys("Node") == []
    assert not [stage for stage in world.stages() if stage.due() is not None]


def test_pods_move_together_when_they_fit_on_fewer_nodes():
    keen = pool(disruption={"consolidateAfter": "30s", **OPEN})
    works = [
        job("long", cpu=2, runtime="1h"),
        job("filler", cpu=2, runtime="90s"),
        job("other", cpu=2, runtime="1h", arrival="20s"),
    ]
    world = pooled(keen, SMALL, *works)
    decisions = run(world, 900_000)
    assert changes(decisions, "Underutilized")
    assert len(world.keys("Node")) == 1


def test_a_dear_node_is_replaced_by_a_cheaper_one_that_comes_first():
    keen = pool(disruption={"consolidateAfter": "30s", **OPEN})
    works = [job("long", cpu=2, runtime="1h"), job("big", cpu=12, runtime="60s")]
    world = pooled(keen, SMALL, LARGE, *works)
    decisions = run(world, 900_000)
    (gone,) = changes(decisions, "Underutilized")
    assert gone[1:] == ("p-1", "p-1 is replaced by p-2, which is cheaper; it cost 0.18")
    assert types(world) == ["small"]


def replacing(*, inner: dict | None = None) -> World:
    """A world that has just ordered p-2, which is to replace p-1."""
    keen = pool(disruption={"consolidateAfter": "30s", **OPEN}, inner=inner)
    works = [job("long", cpu=2, runtime="1h"), job("big", cpu=12, runtime="60s")]
    world = pooled(keen, SMALL, LARGE, *works)
    while world.autoscaling.pools.pools["p"].made < 2:
        advance(world, next_instant(world))
    return world


def edited(manifest: dict) -> Object:
    """An instance type that is there, as an edit leaves it."""
    key = Key("InstanceType", "", manifest["metadata"]["name"])
    found = assembled(manifest, stack="kube").world.objects[key]
    found.metadata.pop("uid")
    return found


def sold_out(name: str, cpu: int) -> dict:
    return instance(name, cpu, 0, offerings=[{"pricePerHour": 1, "available": False}])


def test_a_node_is_replaced_later_when_its_replacement_does_not_come():
    world = replacing()
    world.put(edited(sold_out("small", 4)))
    (failed,) = changes(run(world, 240_000), "LaunchFailed")
    assert failed[2] == "p-2 does not come: small on-demand is no longer to be had"
    world.put(edited(SMALL))
    assert changes(run(world, 900_000), "Underutilized")[0][1] == "p-1"


def test_a_node_that_is_too_old_when_its_replacement_comes_goes_once():
    old, new = replacing().autoscaling.pools.pools["p"].claims.values()
    world = replacing(inner={"expireAfter": f"{new.boots - old.since}ms"})
    decisions = run(world, 240_000)
    assert [c[1] for c in changes(decisions, "Underutilized", "Expired")] == ["p-1"]


def test_a_node_counts_against_limits_when_its_type_is_no_longer_sold():
    works = [job(f"w{i}", cpu=12, arrival=f"{i * 200}s", runtime="1h") for i in (0, 1)]
    world = pooled(pool(limits={"cpu": "16"}), LARGE, *works)
    run(world, 150_000)
    world.put(edited(sold_out("large", 16)))
    world.put(edited(instance("other", 16, 4.0)))
    run(world, 600_000)
    assert types(world) == ["large"]


def test_nothing_moves_a_pod_that_is_not_to_be_disrupted():
    keen = pool(disruption={"consolidateAfter": "30s", **OPEN})
    long = job("long", cpu=2, runtime="1h")
    mark = {"karpenter.sh/do-not-disrupt": "true"}
    long["spec"]["template"]["metadata"] = {"annotations": mark}
    world = pooled(keen, SMALL, LARGE, long, job("big", cpu=12, runtime="60s"))
    assert changes(run(world, 900_000), "Underutilized") == []


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        ({"nodes": "0"}, 2),
        ({"nodes": "1"}, 0),
        ({"nodes": "0", "reasons": ["Drifted"]}, 0),
        ({"nodes": "0", "schedule": "0 0 * * *", "duration": "5m"}, 0),
    ],
)
def test_budgets_hold_disruptions_back(budget, left):
    keen = pool(disruption={"consolidateAfter": "30s", "budgets": [budget]})
    pods = [pod(f"a{i}", cpu=4, runtime="60s") for i in range(2)]
    world = pooled(keen, SMALL, *pods)
    run(world, 299_000)
    held = bool(budget.get("schedule"))
    assert len(world.keys("Node")) == (2 if held else left)
    run(world, 360_000)
    assert len(world.keys("Node")) == left


def test_a_node_that_is_too_old_goes_whatever_runs_on_it():
    old = pool(inner={"expireAfter": "5m"})
    world = pooled(old, SMALL, job("long", cpu=2, runtime="1h"))
    decisions = run(world, 400_000)
    assert changes(decisions, "Expired")[0][0] == 310_000


@settings(max_examples=10, deadline=None)
@given(at=st.integers(1, 900), seed=st.integers(1, 4))
def test_a_copy_at_any_time_ends_as_the_world_itself(at, seed):
    offers = [
        {"pricePerHour": 1.1},
        {"pricePerHour": 0.3, "capacityType": "spot", "interruptionsPerHour": 20},
    ]
    works = [
        job(f"w{i}", cpu=1 + i % 5, runtime="3m", arrival=f"{i * 40}s")
        for i in range(10)
    ]
    keen = pool(disruption={"consolidateAfter": "20s", **OPEN})
    mixed = instance("mixed", 6, 0, offerings=offers, bootTime="uniform(20s,60s)")
    world = pooled(
        keen,
        pool("dear", weight=3, limits={"nodes": 1}),
        mixed,
        SMALL,
        LARGE,
        *works,
        seed=seed,
    )
    advance(world, at * 1000)
    again = world.copy()
    for one in (world, again):
        advance(one, 1_000_000)
    assert again.hash() == world.hash()
    assert again.autoscaling.cost() == world.autoscaling.cost()


def test_what_of_a_pool_is_not_obeyed_is_reported():
    given = pool(
        inner={
            "startupTaints": [{"key": "a", "effect": "NoSchedule"}],
            "requirements": [{"key": "a", "operator": "Exists"}],
        }
    )
    assert [path.rpartition(".")[2] for path, *_ in unsimulated(given)] == [
        "startupTaints",
    ]


def test_what_consolidation_and_drift_would_do_beyond_this_is_reported():
    late = {"nodes": "0", "reasons": ["Drifted"]}
    given = pool(
        disruption={
            "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": [late],
        }
    )  # fmt: skip
    taint = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    going = {"kind": "Node", "spec": {"taints": [taint]}}
    said = [*unsimulated(given), *unsimulated(going)]
    assert [path for path, *_ in said] == [
        "spec.disruption.consolidationPolicy",
        "spec.disruption.budgets[0].reasons",
        "spec.taints[0]",
    ]
    assert all(effect for *_, effect in said)


def test_the_node_pool_of_another_project_is_none_of_karpenters():
    spec = {"replicas": 3, "template": "x", "management": {"upgradeType": "Replace"}}
    other = {"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool"}
    assert not [*unsimulated({**other, "spec": spec})]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (
            pool(disruption={"consolidationPolicy": "Always"}),
            "spec.disruption.consolidationPolicy",
        ),
        (
            pool(disruption={"budgets": [{"nodes": "many"}]}),
            "spec.disruption.budgets[0].nodes",
        ),
        (pool(limits={"cpu": "much"}), "spec.limits.cpu"),
        (
            pool(inner={"requirements": [{"key": "a", "operator": "Is"}]}),
            "requirements[0].operator",
        ),
        (instance("a", 4, -1), "spec.offerings[0].pricePerHour"),
        (instance("a", 4, 1, bootTime="soon"), "spec.bootTime"),
        (instance("a", 4, 1, size=3), "size"),
    ],
)
def test_what_makes_no_sense_is_refused(made, problem):
    with pytest.raises(InputError) as refused:
        assembled(made, stack="kube")
    assert problem in str(refused.value)


def test_a_pool_of_the_older_version_is_read_as_the_newer():
    old = pool(
        disruption={"consolidationPolicy": "WhenUnderutilized", "expireAfter": "1h"}
    )
    old["apiVersion"] = "karpenter.sh/v1beta1"
    world = pooled(old, SMALL)
    spec = world.get(Key("NodePool", "", "p")).spec
    assert spec["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"
    assert spec["template"]["spec"]["expireAfter"] == "1h"


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(1, 100))
def test_the_cost_is_what_every_instant_of_the_history_adds_up_to(seed):
    offers = [
        {"pricePerHour": 1.1},
        {"pricePerHour": 0.7, "capacityType": "spot", "interruptionsPerHour": 30},
    ]
    works = [
        job(f"w{i}", cpu=1 + i % 5, runtime="2m", arrival=f"{i * 35}s")
        for i in range(12)
    ]
    keen = pool(disruption={"consolidateAfter": "20s", **OPEN}, limits={"nodes": 2})
    mixed = instance("mixed", 6, 0, offerings=offers, bootTime="uniform(20s,60s)")
    fixed = group("fixed", cpu=8, scaleDownDelay="1m", pricePerHour=0.3)
    world = pooled(keen, mixed, fixed, *works, seed=seed)
    found, since, rate = 0.0, 0, 0.0
    while world.context.now_ms < 1_200_000:
        at = next_instant(world)
        advance(world, 1_200_000 if at is None else at)
        found += rate * (world.context.now_ms - since) / 3_600_000
        since, rate = world.context.now_ms, world.autoscaling.per_hour()
        assert world.autoscaling.cost() == pytest.approx(found)
    assert found > 0


def flexible(least: int) -> dict:
    """A pool whose nodes must be able to be of so many types."""
    kinds = {"key": "node.kubernetes.io/instance-type", "operator": "Exists"}
    return pool(inner={"requirements": [{**kinds, "minValues": least}]})


def test_fewer_pods_are_put_on_a_node_until_enough_types_take_them():
    pods = [pod(f"a{i}", cpu=4, runtime="1h") for i in range(4)]
    world = pooled(flexible(2), SMALL, LARGE, *pods)
    run(world, 120_000)
    assert types(world) == ["small"] * 4


def test_a_pool_whose_types_are_too_few_buys_nothing_and_says_so():
    world = pooled(flexible(2), SMALL, LARGE, pod("a", cpu=8, runtime="1h"))
    run(world, 120_000)
    assert types(world) == []
    (found,) = capacity(world).unplaced[0].refusals
    assert "fewer values than minValues" in found.reason


def test_min_values_below_one_are_refused():
    with pytest.raises(InputError, match=r"requirements\[0\].minValues"):
        assembled(flexible(0))
