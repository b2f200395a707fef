"""Deployments roll within their surge, StatefulSets start in order, pods of Jobs fail."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.engine.lifetime.controllers.deployments import Rollout, resized
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.jobs import JOB_INDEX
from scheduler.model.objects import Key, Object
from tests.builders import job, node, pod, small_cluster, world_of
from tests.scheduler.lifetime.test_pod_controllers import controller

WEB = Key("Deployment", "default", "web")


def deployment(replicas: int = 2, *, queue: str = "", **spec: object) -> dict:
    made = controller("Deployment", replicas=replicas, **spec)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1"}
    }
    if queue:
        made["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    return made


def roll(world: World, at_s: int, version: str = "2") -> None:
    """Change the template and let some time pass."""
    known = world.get(WEB)
    manifest = copy.deepcopy(known.manifest)
    manifest["spec"]["template"]["metadata"]["annotations"] = {"v": version}
    world.put(Object(key=WEB, manifest=manifest))
    simulate(world, until_ms=at_s * 1000)


def replicas(world: World) -> list[int]:
    sets = [world.get(key) for key in world.keys("ReplicaSet")]
    return sorted(one.spec["replicas"] for one in sets)


def rolled(cpu: int, stack: str = "kube", **spec: object) -> World:
    world = world_of(node("n1", cpu=cpu), deployment(**spec), stack=stack)
    simulate(world, until_ms=5_000)
    roll(world, at_s=60)
    return world


def test_a_rolling_update_without_room_waits_with_its_surge_pod():
    world = rolled(cpu=2)
    assert replicas(world) == [1, 2]
    assert len(world.keys("Pod")) == 3


def test_with_room_all_pods_are_of_the_new_template():
    world = rolled(cpu=3)
    assert replicas(world) == [0, 2]
    pods = [world.get(key) for key in world.keys("Pod")]
    assert [one.annotations["v"] for one in pods] == ["2", "2"]


def test_under_yunikorn_it_rolls_as_well():
    assert replicas(rolled(cpu=3, stack="yunikorn")) == [0, 2]


def test_recreate_needs_no_room():
    assert replicas(rolled(cpu=2, strategy={"type": "Recreate"})) == [0, 2]


def test_a_paused_deployment_stays_as_it_is():
    world = rolled(cpu=3, paused=True)
    assert all("v" not in world.get(key).annotations for key in world.keys("Pod"))


def test_without_quota_the_surge_pod_waits_and_the_old_pods_run():
    queues = small_cluster(cpu="2")
    world = world_of(*queues, node("n1", cpu=8), deployment(queue="main"))
    simulate(world, until_ms=5_000)
    roll(world, at_s=60)
    assert replicas(world) == [1, 2]


def test_pods_count_once_they_were_ready_for_long_enough():
    world = world_of(node("n1", cpu=3), deployment(minReadySeconds=10), stack="kube")
    simulate(world, until_ms=1_000)
    roll(world, at_s=5)
    assert replicas(world) == [1, 2]
    again = World.decode(world.encode())
    for one in (world, again):
        simulate(one, until_ms=60_000)
        assert replicas(one) == [0, 2]
    assert again.hash() == world.hash()


def test_scaled_while_it_rolls_each_replica_set_gets_its_share():
    world = rolled(cpu=1, replicas=1)
    assert replicas(world) == [1, 1]
    manifest = copy.deepcopy(world.get(WEB).manifest)
    manifest["spec"]["replicas"] = 4
    world.put(Object(key=WEB, manifest=manifest))
    simulate(world, until_ms=120_000)
    assert replicas(world) == [2, 3]


counts = st.integers(0, 6)
shares = st.one_of(st.integers(0, 3), st.sampled_from(["0%", "25%", "50%", "100%"]))


@given(counts, counts, counts, counts, counts, shares, shares)
def test_no_step_takes_more_than_may_be_away_or_makes_more_than_the_surge(
    wanted, new, old, new_ready, old_ready, surge, away
):
    spec = {"replicas": wanted, "template": {}}
    spec["strategy"] = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": away}}
    whole = Object(key=WEB, manifest={"metadata": {}, "spec": spec})
    sets = [
        Object(
            key=Key("ReplicaSet", "default", name),
            manifest={"metadata": {}, "spec": {"replicas": count}},
        )
        for name, count in (("new", new), ("old", old))
    ]
    ready = {sets[0].key: min(new, new_ready), sets[1].key: min(old, old_ready)}
    rollout = Rollout(whole, sets[0], [sets[1]], ready)
    found = rollout.counts_for(pods_are_left=True)
    most, spare = rollout._spare()
    after = [found[one.key] for one in sets]
    assert all(count >= 0 for count in after)
    assert after[0] <= max(new, wanted)
    assert sum(after) <= max(sum((new, old)), wanted + most)
    kept = sum(min(ready[one.key], found[one.key]) for one in sets)
    assert kept >= min(sum(ready.values()), wanted - spare) or after[0] == wanted


@given(st.integers(0, 9), st.integers(1, 9), st.lists(st.integers(1, 6), min_size=2))
def test_shares_of_a_change_add_up_and_none_is_below_nothing(wanted, had, sizes):
    after, before = (
        Object(key=WEB, manifest={"metadata": {}, "spec": {"replicas": count}})
        for count in (wanted, had)
    )
    sets = [
        Object(
            key=Key("ReplicaSet", "default", f"web-{n}"),
            manifest={"metadata": {}, "spec": {"replicas": count}},
        )
        for n, count in enumerate(sizes)
    ]
    found = resized(after, before, sets)
    assert all(count >= 0 for count in found.values())
    if wanted == 0:
        assert not any(found.values())
    elif sum(sizes) < wanted:
        assert sum(found.values()) == wanted + -(-wanted // 4)


def test_a_set_makes_its_next_pod_when_the_one_before_is_ready():
    made = controller("StatefulSet", replicas=3, serviceName="web")
    made["metadata"]["annotations"] = {"quotalab.dev/ready-after": "5s"}
    world = world_of(node("n1", cpu=8), made, stack="kube")
    found = []
    for at_s in (1, 6, 11, 16):
        simulate(world, until_ms=at_s * 1000)
        found.append(len(world.keys("Pod")))
    assert found == [1, 2, 3, 3]


SET = Key("StatefulSet", "default", "web")


def versions(world: World) -> list[str]:
    """Return the version of the template of each pod, by number."""
    pods = sorted(world.keys("Pod"), key=lambda key: key.name)
    return [world.get(key).annotations.get("v", "1") for key in pods]


def rolled_set(at_s: int = 15, stack: str = "kube", **spec: object) -> World:
    """Return a set of three whose template changed; each pod takes 5 s to get ready."""
    made = controller("StatefulSet", replicas=3, serviceName="web", **spec)
    made["metadata"]["annotations"] = {"quotalab.dev/ready-after": "5s"}
    world = world_of(node("n1", cpu=8), made, stack=stack)
    simulate(world, until_ms=at_s * 1000)  # the last is ready after 15
    manifest = copy.deepcopy(world.get(SET).manifest)
    manifest["spec"]["template"]["metadata"]["annotations"] = {"v": "2"}
    world.put(Object(key=SET, manifest=manifest))
    return world


@pytest.mark.parametrize("stack", ["kube", "kueue", "yunikorn"])
def test_a_set_makes_its_pods_anew_from_the_last_one_by_one(stack):
    world, found = rolled_set(stack=stack), []
    for at_s in (16, 21, 26, 31):
        simulate(world, until_ms=at_s * 1000)
        found.append("".join(versions(world)))
    assert found == ["112", "122", "222", "222"]


def test_an_update_waits_for_a_pod_that_is_not_ready():
    world = rolled_set(at_s=10)
    simulate(world, until_ms=14_000)
    assert versions(world) == ["1", "1", "1"]
    simulate(world, until_ms=16_000)
    assert versions(world) == ["1", "1", "2"]


def test_a_pod_of_a_set_without_a_number_in_its_name_stays():
    made = controller("StatefulSet", replicas=2, serviceName="web")
    world = world_of(node("n1", cpu=8), made, stack="kube")
    simulate(world, until_ms=5_000)
    given, own = (
        copy.deepcopy(world.get(min(world.keys("Pod"))).manifest) for _ in range(2)
    )
    given["metadata"]["name"] = "web-odd"
    key = Key("Pod", "default", "web-odd")
    world.put(Object(key=key, manifest=given))
    world.delete(Key("Pod", "default", own["metadata"]["name"]))
    simulate(world, until_ms=8_000)
    manifest = copy.deepcopy(world.get(SET).manifest)
    manifest["spec"]["template"]["metadata"]["annotations"] = {"v": "2"}
    world.put(Object(key=SET, manifest=manifest))
    simulate(world, until_ms=20_000)
    assert "v" not in world.get(key).annotations


def test_a_partition_keeps_the_pods_below_it():
    update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    world = rolled_set(updateStrategy=update)
    simulate(world, until_ms=60_000)
    assert versions(world) == ["1", "1", "2"]


def test_on_delete_a_pod_gets_the_new_template_when_it_is_made_again():
    world = rolled_set(updateStrategy={"type": "OnDelete"})
    simulate(world, until_ms=30_000)
    assert versions(world) == ["1", "1", "1"]
    world.delete(min(world.keys("Pod"), key=lambda key: key.name))
    simulate(world, until_ms=40_000)
    assert versions(world) == ["2", "1", "1"]


def test_a_stored_world_rolls_on_as_the_one_that_was_stored():
    world = rolled_set()
    simulate(world, until_ms=17_000)
    again = World.decode(world.encode())
    for one in (world, again):
        simulate(one, until_ms=60_000)
        assert versions(one) == ["2", "2", "2"]
    assert again.hash() == world.hash()


FAILS = Key("Job", "default", "fails")


def failing(at_s: int, **spec: object) -> World:
    made = job("fails", queue="main", runtime="60s", fails_after="2s", parallelism=2)
    made["spec"] |= {"completions": 2, **spec}
    world = world_of(*small_cluster(cpu="4"), node("n1", cpu=8), made)
    simulate(world, until_ms=at_s * 1000)
    return world


def why(world: World) -> list[str]:
    return why_of(world, FAILS.name)


def why_of(world: World, name: str) -> list[str]:
    given = world.get(Key("Job", "default", name)).status["conditions"]
    return [one["reason"] for one in given if one["type"] == "Failed"]


def test_pods_that_fail_stay_and_are_made_up_for_after_a_back_off():
    world = failing(3)
    assert world.get(FAILS).status["failed"] == 2
    assert {world.get(key).status["phase"] for key in world.keys("Pod")} == {"Failed"}
    simulate(world, until_ms=23_000)
    assert len(world.keys("Pod")) == 4
    again = World.decode(world.encode())
    assert again.hash() == world.hash()


def test_a_job_fails_beyond_its_back_off_limit():
    world = failing(60, backoffLimit=3)
    assert why(world) == ["BackoffLimitExceeded"]
    assert world.get(FAILS).status["failed"] == 4


def test_a_rule_for_the_exit_code_fails_a_job_at_once():
    codes = {"operator": "In", "values": [1]}
    rule = {"action": "FailJob", "onExitCodes": codes}
    world = failing(3, podFailurePolicy={"rules": [rule]})
    assert why(world) == ["PodFailurePolicy"]


def test_pods_that_a_rule_ignores_are_made_again_at_once():
    codes = {"operator": "NotIn", "values": [7]}
    rule = {"action": "Ignore", "onExitCodes": codes}
    world = failing(9, podFailurePolicy={"rules": [rule]}, backoffLimit=0)
    assert why(world) == []
    assert "failed" not in world.get(FAILS).status


def test_indexes_fail_for_themselves():
    indexed = {"completionMode": "Indexed", "backoffLimitPerIndex": 0}
    assert why(failing(3, **indexed)) == ["FailedIndexes"]
    assert why(failing(3, **indexed, maxFailedIndexes=1)) == [
        "MaxFailedIndexesExceeded"
    ]


@pytest.mark.parametrize("stack", ["kube", "kueue"])
def test_a_job_of_which_an_index_failed_ends_with_the_others(stack):
    made = job("fails", queue="main" if stack == "kueue" else "", runtime="100s",
               fails_after="uniform(1s, 160s)", parallelism=4)  # fmt: skip
    made["spec"] |= {"completionMode": "Indexed", "backoffLimitPerIndex": 0}
    around = small_cluster(cpu=8) if stack == "kueue" else ()
    world = world_of(*around, node("n1", cpu=8), made, stack=stack)
    simulate(world, until_ms=400_000)
    assert 0 < world.get(Key("Job", "default", "fails")).status["failed"] < 4
    assert why_of(world, "fails") == ["FailedIndexes"]


def test_indexes_of_pods_that_came_with_their_job_are_read_from_their_annotations():
    made = job("ix", runtime="600s", fails_after="4s", parallelism=2)
    made["spec"] |= {
        "completions": 2,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": 0,
    }
    pods = []
    for number, letters in ("0", "abcde"), ("1", "fghij"):
        came = pod(f"ix-{number}-{letters}", cpu=1)
        came["spec"]["nodeName"] = "n1"
        came["metadata"]["annotations"] = {JOB_INDEX: number}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "ix", "uid": "u"}
        came["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        pods.append(came)
    world = world_of(node("n1", cpu=8), made, *pods, stack="kube")
    simulate(world, until_ms=40_000)
    assert why_of(world, "ix") == ["FailedIndexes"]
