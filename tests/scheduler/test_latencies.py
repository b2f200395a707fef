"""What takes time in a cluster takes time here, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Bind, Evict, Finish, Preempt, Requeue
from scheduler.model.errors import PolicyError
from scheduler.model.latencies import USUAL
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, read_policy
from scheduler.model.sentence import plain
from tests import invariants
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    workload_priority,
    world_of,
)

SCENARIOS = Path(__file__).resolve().parents[2] / "sandbox" / "scenarios"


def contest(latencies: dict[str, str], *more: Any, grace: int | None = None) -> World:
    """Return a world whose running job `low` is preempted by `high` at 10 s."""
    low = job("low", queue="a", cpu=4, runtime="60s")
    if grace is not None:
        low["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = grace
    high = job("high", queue="a", cpu=4, arrival="10s", runtime="20s")
    high["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    return world_of(
        flavor(),
        workload_priority("high", 100),
        cluster_queue("a", cpu=4, within="LowerPriority"),
        local_queue("a", cluster_queue="a"),
        low,
        high,
        *more,
        simulation={"latencies": latencies},
    )


def name_of(workload: Key) -> str:
    """Return the name of the job that a Workload is of."""
    return workload.name.removeprefix("job-").rsplit("-", 1)[0]


def times(world: World, *kinds: type, until_s: int = 300) -> list[tuple[int, str]]:
    """Return when what was decided about which job, ms."""
    outcome = simulate(world, until_ms=until_s * 1000)
    return [
        (d.at_ms, name_of(d.subject)) for d in outcome.decisions if isinstance(d, kinds)
    ]


def test_a_policy_without_latencies_is_written_without_them():
    assert "latencies" not in Policy().document()["spec"]["simulation"]


def test_manifests_without_a_scenario_have_the_usual_latencies():
    world = assemble([]).world
    assert world.policy.spec.simulation.latencies == USUAL


def test_null_makes_every_step_instant():
    patch = {"simulation": {"latencies": None}}
    world = assemble([], policy=patch).world
    assert world.policy.spec.simulation.latencies is msgspec.UNSET


@pytest.mark.parametrize("text", ["soon", "uniform(2s,1s)", "exp(1s,2s)", "-1s"])
def test_a_latency_that_is_no_length_is_refused(text):
    spec = {"simulation": {"latencies": {"podStart": text}}}
    with pytest.raises(PolicyError, match="latencies"):
        read_policy({"spec": spec})


def test_a_job_has_its_workload_after_the_time_of_its_creation():
    world = contest({"workloadCreation": "2s"})
    assert times(world, Admit)[0] == (2000, "low")


def test_pods_exist_after_the_start_of_the_job_and_are_ready_after_theirs():
    world = contest({"jobStart": "3s", "podStart": "4s"}, node("n", cpu=8))
    simulate(world, until_ms=2_999)
    assert world.keys("Pod") == []
    simulate(world, until_ms=3_000)
    [made] = world.keys("Pod")
    assert world.get(made).status["phase"] == "Pending"
    simulate(world, until_ms=7_000)
    assert world.get(made).status["phase"] == "Running"


def test_quota_is_held_until_the_end_of_a_job_is_seen():
    world = contest({"completion": "5s"})
    # high runs from 10 s for 20 s, its end is seen 5 s later, and low starts again
    assert times(world, Finish)[0] == (35_000, "high")


def test_a_preempted_workload_holds_its_quota_until_its_pods_are_gone():
    steps = {"suspension": "1s", "termination": "6s", "release": "2s"}
    world = contest(steps, node("n", cpu=8))
    simulate(world, until_ms=18_999)
    queue = world.get(Key("ClusterQueue", "", "a"))
    assert queue.status["flavorsReservation"][0]["resources"][0]["total"] == "4"
    assert (19_000, "low") in times(world, Requeue)


def test_a_node_that_fails_while_its_pods_end_keeps_no_quota():
    world = contest({"termination": "30s"}, node("n1", cpu=4), node("n2", cpu=4))
    simulate(world, until_ms=10_000)
    [victim] = [key for key in world.keys("Pod") if "low" in key.name]
    world.lose_node(world.get(victim).spec["nodeName"], plain("it fails"))
    assert times(world, Admit)[0] == (10_000, "high")


def test_the_preemptor_is_admitted_when_its_victim_has_given_its_quota_back():
    steps = {"suspension": "1s", "termination": "6s", "release": "2s"}
    assert times(contest(steps, node("n", cpu=8)), Admit)[1] == (19_000, "high")


def test_a_pod_has_no_longer_to_end_than_its_grace_period():
    steps = {"termination": "60s"}
    world = contest(steps, node("n", cpu=8), grace=5)
    assert times(world, Admit)[1] == (15_000, "high")


def test_a_world_without_nodes_takes_the_same_time_to_stop():
    steps = {"suspension": "1s", "termination": "6s", "release": "2s"}
    assert times(contest(steps), Admit)[1] == (19_000, "high")


def test_a_victim_that_has_not_started_yet_ends_no_pods():
    steps = {"jobStart": "30s", "suspension": "1s", "termination": "6s"}
    assert times(contest(steps, node("n", cpu=8)), Admit)[1] == (11_000, "high")


def test_a_workload_is_tried_at_the_end_of_the_cycle_that_it_comes_to():
    assert times(contest({"schedulingCycle": "500ms"}), Admit)[0] == (500, "low")


def test_a_cycle_that_admits_lets_the_next_one_wait():
    steps = {"schedulingCycle": "500ms", "admission": "2s"}
    jobs = [job(f"j{n}", queue="a", cpu=1, arrival=f"{n}ms") for n in range(2)]
    world = world_of(
        flavor(),
        cluster_queue("a", cpu=4),
        local_queue("a", cluster_queue="a"),
        *jobs,
        simulation={"latencies": steps},
    )
    assert times(world, Admit) == [(500, "j0"), (3000, "j1")]


def test_cycles_end_when_nothing_changes_any_more():
    world = contest({"schedulingCycle": "100ms"})
    simulate(world, until_ms=9_000)
    before = world.kueue.cluster.cycle
    simulate(world, until_ms=9_900)
    assert world.kueue.cluster.cycle == before


def test_inadmissible_workloads_are_requeued_together_after_a_while():
    jobs = [job(f"j{n}", queue="a", cpu=4, runtime="10s") for n in range(2)]
    world = world_of(
        flavor(),
        cluster_queue("a", cpu=4),
        local_queue("a", cluster_queue="a"),
        *jobs,
        simulation={"latencies": {"reactivation": "3s"}},
    )
    assert times(world, Admit)[1] == (13_000, "j1")


def test_pods_that_never_get_ready_time_out_and_later_attempts_may():
    late = job("late", queue="a", runtime="5s", ready_after="attempts(never,0s)")
    world = world_of(
        flavor(),
        cluster_queue("a"),
        local_queue("a", cluster_queue="a"),
        late,
        kueue={"waitForPodsReady": {"timeout": "10s"}},
    )
    assert times(world, Evict, until_s=20) == [(10_000, "late")]
    assert len(times(world, Finish)) == 1


def test_a_preempted_pod_fills_its_node_until_it_has_ended():
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    high = pod("high", cpu=4, arrival="5s")
    high["spec"]["priorityClassName"] = "high"
    world = world_of(
        node("n", cpu=4),
        classes,
        pod("low", cpu=4, runtime="60s"),
        high,
        stack="kube",
        simulation={"latencies": {"termination": "7s"}},
    )
    simulate(world, until_ms=11_999)
    assert "deletionTimestamp" in world.get(Key("Pod", "default", "low")).metadata
    assert not world.get(Key("Pod", "default", "high")).spec.get("nodeName")
    simulate(world, until_ms=12_000)
    assert world.get(Key("Pod", "default", "high")).spec["nodeName"] == "n"


@pytest.mark.parametrize("step", ["jobStart", "completion"])
def test_a_workload_that_is_edited_while_a_step_goes_on_does_not_start_anew(step):
    edited, left = (contest({step: "5s"}, node("n", cpu=8)) for _ in range(2))
    at = 3_000 if step == "jobStart" else 32_000
    for world in (edited, left):
        simulate(world, until_ms=at)
    [key] = [
        key for key in edited.keys("Workload") if "high" in key.name or at < 10_000
    ]
    known = edited.get(key)
    edited.put(Object(key=key, manifest={**known.manifest}))
    assert times(edited, Finish, Admit) == times(left, Finish, Admit)


LENGTHS = st.sampled_from(["0s", "300ms", "2s", "uniform(0s,4s)", "exp(1s)"])
STEPS = st.fixed_dictionaries(
    {info.encode_name: LENGTHS for info in msgspec.structs.fields(type(USUAL))}
)


def crowd(latencies: dict[str, str], seed: int, nodes: bool) -> World:
    """Return two queues that take from each other, with too many jobs."""
    jobs = [
        job(
            f"j{n}",
            queue="ab"[n % 2],
            cpu=1 + n % 3,
            priority_class="high" if n % 3 else "",
            arrival=f"{n * 700}ms",
            runtime=f"{3 + n % 5}s",
        )
        for n in range(10)
    ]
    quota = {"cohort": "c", "within": "LowerPriority", "reclaim": "Any"}
    return world_of(
        flavor(),
        workload_priority("high", 100),
        cluster_queue("a", cpu=3, **quota),
        cluster_queue("b", cpu=3, **quota),
        local_queue("a", cluster_queue="a"),
        local_queue("b", cluster_queue="b"),
        *jobs,
        *([node("n0", cpu=4), node("n1", cpu=4)] if nodes else []),
        seed=seed,
        simulation={"latencies": latencies},
    )


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 99), st.booleans())
def test_quota_is_never_counted_twice_nor_lost(steps, seed, nodes):
    world = crowd(steps, seed, nodes)
    for _ in range(40):
        run_tick(world)
        invariants.check(world)


def test_a_job_whose_pods_have_ended_is_not_suspended_until_its_end_is_seen():
    world = contest({"completion": "5s"}, node("n", cpu=8))
    simulate(world, until_ms=32_000)  # the pods of high ended at 30 s
    high = world.get(Key("Job", "default", "high"))
    assert high.spec["suspend"] is False
    assert [c["status"] for c in high.status["conditions"]] == ["False"]


@settings(max_examples=10, deadline=None)
@given(STEPS, st.integers(0, 99), st.booleans())
def test_only_an_eviction_suspends_a_job_that_has_started(steps, seed, nodes):
    world = crowd(steps, seed, nodes)
    started: set[str] = set()
    evicted: set[str] = set()
    for _ in range(30):
        decided = run_tick(world)
        stops = [d for d in decided if isinstance(d, Evict | Preempt)]
        evicted |= {name_of(d.subject) for d in stops}
        jobs = map(world.get, world.keys("Job"))
        runs = {job.key.name for job in jobs if job.spec.get("suspend") is False}
        assert started - runs <= evicted
        evicted -= started - runs
        started = runs


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 99), st.booleans(), st.integers(0, 25))
def test_a_stored_world_goes_on_as_the_one_that_was_not_stored(
    steps, seed, nodes, stored
):
    world = crowd(steps, seed, nodes)
    for _ in range(stored):
        run_tick(world)
    world.take()
    again = world.copy()
    for _ in range(15):
        assert run_tick(again) == run_tick(world)
        assert again.hash() == world.hash()


@settings(max_examples=10, deadline=None)
@given(STEPS, st.integers(0, 99))
def test_two_runs_are_alike_to_the_bit(steps, seed):
    one, other = crowd(steps, seed, True), crowd(steps, seed, True)
    for world in (one, other):
        simulate(world, until_ms=40_000)
    assert one.hash() == other.hash()


def test_victims_are_preempted_less_when_stopping_takes_time():
    instant = crowd({}, 1, nodes=False)
    slower = crowd(msgspec.to_builtins(USUAL), 1, nodes=False)
    assert len(times(slower, Preempt)) <= len(times(instant, Preempt))


def test_a_replica_that_was_preempted_is_made_again_as_a_new_pod():
    high_class = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    high = pod("high", cpu=4, arrival="5s", runtime="10s")
    high["spec"]["priorityClassName"] = "high"
    world = world_of(
        node("n", cpu=4),
        high_class,
        pod("low", cpu=4, recreate="true"),
        high,
        stack="kube",
        simulation={"latencies": {"termination": "2s"}},
    )
    simulate(world, until_ms=30_000)
    again = world.get(Key("Pod", "default", "low-r1"))
    assert "deletionTimestamp" not in again.metadata
    assert again.spec["nodeName"] == "n"


def test_victims_of_yunikorn_keep_their_node_until_they_have_ended():
    files = read_sources([SCENARIOS / "yunikorn-notebook"])
    latencies = {"simulation": {"latencies": {"termination": "5s"}}}
    world = assemble(files, policy=latencies).world
    decisions = simulate(world, until_ms=60_000).decisions
    first = next(d for d in decisions if isinstance(d, Preempt))
    bound = next(d for d in decisions if isinstance(d, Bind) and d.subject == first.by)
    assert bound.at_ms == first.at_ms + 5_000


def test_a_cycle_that_waited_for_pods_goes_on_as_soon_as_they_are_ready():
    world = world_of(
        flavor(),
        cluster_queue("a", cpu=8),
        local_queue("a", cluster_queue="a"),
        job("first", queue="a", cpu=1, runtime="60s"),
        job("second", queue="a", cpu=1, runtime="60s"),
        node("n", cpu=8),
        kueue={"waitForPodsReady": {"timeout": "60s", "blockAdmission": True}},
        simulation={
            "latencies": {
                "schedulingCycle": "3s",
                "admission": "200ms",
                "podStart": "10s",
                "readiness": "1s",
            }
        },
    )
    assert times(world, Admit) == [(3000, "first"), (14_200, "second")]


def preempted_twice() -> World:
    """Return a Job on one node whose pod is preempted at 5 s and at 30 s."""
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    urgent = [
        pod(f"urgent-{at}", cpu=4, arrival=f"{at}s", runtime="1s") for at in (5, 30)
    ]
    for one in urgent:
        one["spec"]["priorityClassName"] = "high"
    return world_of(
        node("n", cpu=4),
        high,
        flavor(),
        cluster_queue("a", cpu=8),
        local_queue("a", cluster_queue="a"),
        job("low", queue="a", cpu=4, runtime="60s"),
        *urgent,
        simulation={"latencies": {"termination": "2s"}},
    )


def test_a_job_replaces_a_preempted_pod_after_a_back_off_that_doubles():
    bound = [at for at, name in times(preempted_twice(), Bind) if "low" in name]
    assert bound == [0, 17_000, 52_000]


def test_a_back_off_goes_on_in_a_stored_world():
    world = preempted_twice()
    simulate(world, until_ms=12_000)
    again = world.copy()
    assert times(again, Bind) == times(world, Bind)
