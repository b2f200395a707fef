"""A world advances, is edited, stored and copied without changing its mind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Bind, Evict, Finish, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.model.sentence import plain
from tests import invariants
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
    workload_priority,
    world_of,
)


def reported(decisions: list[Any], *kinds: type) -> list[tuple[int, str, str]]:
    return [
        (d.at_ms, type(d).__name__, d.subject.name)
        for d in decisions
        if isinstance(d, kinds)
    ]


def short(name: str) -> str:
    """Return the job's part of a Workload's name."""
    return name.removeprefix("job-").rsplit("-", 1)[0]


def ticks(world: World, count: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(count):
        run_tick(world)
        found += world.context.journal.take_decisions()
        invariants.check(world)
    return found


def contended(**more: Any) -> World:
    """Return a world of two borrowing queues and twelve jobs."""
    jobs = [
        job(
            f"j{n}",
            queue="ab"[n % 2],
            cpu=1 + n % 3,
            arrival=f"{n * 700}ms",
            runtime=f"{2 + n % 5}s",
            priority_class="high" if n % 4 == 0 else "",
        )
        for n in range(12)
    ]
    return world_of(
        flavor(),
        workload_priority("high", 100),
        cluster_queue("a", cohort="c", cpu=3, reclaim="Any", within="LowerPriority"),
        cluster_queue("b", cohort="c", cpu=3, reclaim="Any", within="LowerPriority"),
        local_queue("a", cluster_queue="a"),
        local_queue("b", cluster_queue="b"),
        *jobs,
        **more,
    )


def test_a_job_is_admitted_runs_and_finishes():
    world = world_of(*small_cluster(), job("one", queue="main", runtime="5s"))
    found = reported(ticks(world, 6), Admit, Finish)
    assert [(at, what, short(name)) for at, what, name in found] == [
        (0, "Admit", "one"),
        (5000, "Finish", "one"),
    ]


def test_a_job_waits_until_quota_is_free():
    world = world_of(
        *small_cluster(cpu=1),
        job("one", queue="main", runtime="5s"),
        job("two", queue="main", arrival="1s", runtime="5s"),
    )
    found = reported(ticks(world, 12), Admit)
    assert [(at, short(name)) for at, _, name in found] == [(0, "one"), (5000, "two")]


def test_a_higher_priority_preempts_and_the_victim_comes_back():
    world = world_of(
        *small_cluster(cpu=1, within="LowerPriority"),
        workload_priority("high", 10),
        job("low", queue="main", runtime="10s"),
        job("top", queue="main", arrival="3s", runtime="2s", priority_class="high"),
    )
    found = reported(ticks(world, 20), Admit, Preempt, Finish)
    assert [(at, what, short(name)) for at, what, name in found] == [
        (0, "Admit", "low"),
        (3000, "Preempt", "low"),
        (3000, "Admit", "top"),
        (5000, "Finish", "top"),
        (5000, "Admit", "low"),
        (15000, "Finish", "low"),
    ]


def test_completions_above_the_parallelism_are_waves():
    world = world_of(
        *small_cluster(), job("waves", queue="main", completions=3, runtime="2s")
    )
    assert reported(ticks(world, 8), Finish)[0][0] == 6000


def test_a_job_admitted_with_fewer_pods_runs_in_more_waves():
    partial = job("partial", queue="main", parallelism=6, runtime="2s")
    partial["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1"
    world = world_of(*small_cluster(cpu="4"), partial)
    assert reported(ticks(world, 8), Finish)[0][0] == 4000


def test_with_nodes_the_pods_of_a_job_are_placed_and_run():
    world = world_of(
        *small_cluster(),
        node("n1", cpu=2),
        job("one", queue="main", parallelism=2, runtime="3s"),
    )
    found = ticks(world, 4)
    assert [at for at, _, _ in reported(found, Bind)] == [0, 0]
    assert reported(found, Finish)[0][0] == 3000
    assert world.keys("Pod") == []


def test_quota_that_fits_and_nodes_that_do_not_leave_a_job_waiting_for_its_pods():
    world = world_of(
        *small_cluster(cpu=8),
        node("n1", cpu=2),
        job("wide", queue="main", parallelism=3, runtime="3s", gang="true"),
    )
    found = ticks(world, 10)
    assert len(reported(found, Bind)) == 2
    assert reported(found, Finish) == []


def test_a_lost_node_starts_the_work_again():
    world = world_of(
        *small_cluster(),
        node("n1"),
        node("n2"),
        job("one", queue="main", runtime="4s"),
    )
    ticks(world, 2)
    on = world.get(world.keys("Pod")[0]).spec["nodeName"]
    world.lose_node(on, plain("it fails"))
    world.delete(Key("Node", "", on))
    found = ticks(world, 8)
    assert [d.reason for d in found if isinstance(d, Evict)] == ["NodeLost"]
    assert reported(found, Finish)[0][0] == 6000


def test_pods_of_a_deleted_node_are_collected_when_it_has_been_away_for_a_while():
    world = world_of(
        *small_cluster(),
        node("n1"),
        node("n2"),
        job("one", queue="main", runtime="100s"),
    )
    ticks(world, 2)
    on = world.get(world.keys("Pod")[0]).spec["nodeName"]
    world.delete(Key("Node", "", on))
    assert not [d for d in ticks(world, 30) if isinstance(d, Evict)]
    world = World.decode(world.encode())
    found = ticks(world, 140)
    evictions = [(d.at_ms, d.reason) for d in found if isinstance(d, Evict)]
    assert evictions == [(60_000, "NodeLost")]
    assert reported(found, Finish)[0][0] == 160_000


def test_pods_of_a_deleted_node_stay_when_it_comes_back_in_time():
    world = world_of(node("n1"), pod("web"), stack="kube")
    ticks(world, 1)
    known = world.get(Key("Node", "", "n1"))
    world.delete(known.key)
    ticks(world, 30)
    world.put(Object(key=known.key, manifest=node("n1")))
    assert not [d for d in ticks(world, 60) if isinstance(d, Evict)]


def test_a_replica_is_made_again_when_it_is_lost():
    world = world_of(node("n1"), node("n2"), pod("web", recreate="true"), stack="kube")
    ticks(world, 1)
    on = world.get(world.keys("Pod")[0]).spec["nodeName"]
    world.delete(Key("Node", "", on))
    ticks(world, 60)
    (again,) = world.keys("Pod")
    assert again.name == "web-r1"
    assert world.get(again).spec["nodeName"] != on


def test_ticks_and_jumps_decide_the_same():
    by_ticks = contended()
    ticked = ticks(by_ticks, 40)
    by_jumps = contended()
    jumped = simulate(by_jumps, until_ms=40_000).decisions
    assert ticked == jumped


@pytest.mark.parametrize("nodes", [0, 2], ids=["quota alone", "with nodes"])
@settings(max_examples=15, deadline=None)
@given(stored=st.sets(st.integers(0, 24), max_size=8), seed=st.integers(0, 3))
def test_storing_a_world_at_any_tick_changes_no_later_decision(nodes, stored, seed):
    def build() -> World:
        world = contended(seed=seed)
        for number in range(nodes):
            manifest = node(f"n{number}", cpu=3)
            status = manifest.pop("status")
            key = Key("Node", "", f"n{number}")
            world.put(Object(key=key, manifest=manifest, status=status))
        return world

    plain, kept = build(), build()
    for tick in range(25):
        if tick in stored:
            kept.context.journal.take_decisions()
            kept = World.decode(kept.encode())
        assert run_tick(kept) == run_tick(plain)
        for world in (plain, kept):
            world.context.journal.take_decisions()
            invariants.check(world)
    assert kept.hash() == plain.hash()


def edit_workload(world: World, name: str, **spec: Any) -> None:
    (key,) = (k for k in world.keys("Workload") if k.name.startswith(f"job-{name}"))
    known = world.get(key)
    manifest = {**known.manifest, "spec": {**known.spec, **spec}}
    world.put(Object(key=key, manifest=manifest))


def put_queue(world: World, name: str, cluster_queue: str) -> None:
    manifest = local_queue(name, cluster_queue=cluster_queue)
    world.put(Object(key=Key("LocalQueue", "default", name), manifest=manifest))


def drop_queue(world: World) -> None:
    world.delete(Key("LocalQueue", "default", "main"))


BETWEEN_EDITS = {
    "an inactive workload holds its quota until it is evicted": [
        lambda world: edit_workload(world, "x", active=False),
        lambda world: put_queue(world, "more", "main"),
    ],
    "only who was edited is reconciled": [
        lambda world: edit_workload(world, "y", active=False),
        lambda world: edit_workload(world, "x", priority=3),
    ],
    "a queue of that name is another one": [
        drop_queue,
        lambda world: simulate(world, until_ms=5_000),
        lambda world: put_queue(world, "main", "main"),
    ],
    "quota that a queue gave back is requeued where it leads now": [
        lambda world: put_queue(world, "main", "free"),
        lambda world: simulate(world, until_ms=5_000),
        lambda world: world.delete(Key("ClusterQueue", "", "main")),
        lambda world: world.delete(world.keys("Workload")[0]),
        lambda world: put_queue(world, "more", "free"),
    ],
}


@pytest.mark.parametrize("edits", BETWEEN_EDITS.values(), ids=BETWEEN_EDITS)
def test_a_world_read_between_two_edits_is_the_one_that_lives_on(edits):
    world = world_of(
        *small_cluster(cpu=4), cluster_queue("free"),
        job("x", queue="main", runtime="3s"), job("y", queue="main"),
        job("z", queue="main", arrival="4500ms"),
    )  # fmt: skip
    simulate(world, until_ms=1_000)
    for edit in edits:
        world.take()
        again = world.copy()
        for one in (world, again):
            edit(one)
            one.take()
        assert again.hash() == world.hash()
        assert not list(invariants.violations(again))


def test_a_world_read_back_has_consumed_what_the_one_that_lives_on_has():
    usage = {"usageHalfLifeTime": "60s", "usageSamplingInterval": "10s"}
    world = world_of(
        *small_cluster(cpu=4), job("x", queue="main", runtime="3s"),
        kueue={"admissionFairSharing": usage},
    )  # fmt: skip
    simulate(world, until_ms=5_000)
    world.take()
    again = world.copy()
    for one in (world, again):
        simulate(one, until_ms=60_000)
    assert again.hash() == world.hash()


def test_a_copy_lives_its_own_life():
    world = contended()
    ticks(world, 3)
    copy = world.copy()
    ticks(copy, 5)
    assert copy.context.now_ms == 8000
    assert world.context.now_ms == 3000
    assert world.hash() != copy.hash()


def test_two_worlds_of_the_same_input_have_the_same_hash():
    first, second = contended(), contended()
    ticks(first, 20)
    ticks(second, 20)
    assert first.hash() == second.hash()


def test_an_edit_is_decided_at_the_instant_it_is_made():
    world = world_of(
        *small_cluster(cpu=1), job("big", queue="main", cpu=2, runtime="1s")
    )
    ticks(world, 2)
    key = Key("ClusterQueue", "", "main")
    edited = cluster_queue("main", cpu=2)
    world.put(Object(key=key, manifest=edited))
    assert reported(ticks(world, 1), Admit)[0][0] == 2000


def test_a_switch_of_stack_goes_on_from_the_objects():
    world = world_of(
        *small_cluster(), node("n1"), job("one", queue="main", runtime="3s")
    )
    policy = read_policy({"spec": {"stack": "kube"}})
    world.set_policy(policy)
    found = ticks(world, 5)
    assert reported(found, Bind)[0][0] == 0


def test_deleting_what_is_not_there_says_so():
    world = world_of(*small_cluster())
    with pytest.raises(SchedulerError, match="is not in this world"):
        world.delete(Key("Job", "default", "nobody"))


def test_deleting_a_job_takes_its_workload_along():
    world = world_of(*small_cluster(cpu=1), job("one", queue="main", runtime="9s"))
    ticks(world, 1)
    world.delete(Key("Job", "default", "one"))
    assert world.keys("Workload") == []
    ticks(world, 1)
