"""Pods of a plain Job run for themselves, each on its place and for its time."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.measures import Measures
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Checkpoint, Finish
from scheduler.model.objects import Key, Object
from tests import invariants
from tests.builders import (
    job,
    node,
    pod,
    small_cluster,
    workload_priority,
    world_of,
)

SIX = Key("Job", "default", "six")
STACKS = ("kueue", "kube", "yunikorn")


def of_pods(*more: dict, stack: str = "kueue", cpu: int = 4, **of_job: Any) -> World:
    """Quota for six pods of 30 s, and places for four."""
    queue = "main" if stack == "kueue" else ""
    made = job("six", queue=queue, **{"parallelism": 6, "runtime": "30s", **of_job})
    queues = small_cluster(cpu=6) if queue else ()
    return world_of(*queues, node("n1", cpu=cpu), made, *more, stack=stack)


def finished(world: World, until_s: int = 300) -> list[float]:
    """Return the seconds at which Jobs, or their Workloads, end."""
    made = simulate(world, until_ms=until_s * 1000).decisions
    ended = [d for d in made if isinstance(d, Finish) and d.subject.kind != "Pod"]
    return [round(d.at_ms / 1000) for d in ended]


def counts(world: World, *instants_s: float) -> list[tuple[int, int]]:
    """Return how many pods have succeeded, and how many are ready."""
    found = []
    for at in instants_s:
        simulate(world, until_ms=round(at * 1000))
        status = world.get(SIX).status
        found.append((status.get("succeeded", 0), status["ready"]))
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_six_pods_run_four_at_once_and_then_two(stack):
    world = of_pods(stack=stack)
    assert counts(world, 29, 32, 59) == [(0, 4), (4, 2), (4, 2)]
    assert finished(world) == [60]


def _says_gang(made: dict) -> None:
    made["metadata"]["annotations"]["quotalab.dev/gang"] = "true"


def _is_in_pod_group(made: dict) -> None:
    labels = {"scheduling.x-k8s.io/pod-group": "all"}
    made["spec"]["template"]["metadata"] = {"labels": labels}


def _has_task_groups(made: dict) -> None:
    groups = {"yunikorn.apache.org/task-group-name": "all"}
    made["spec"]["template"]["metadata"] = {"annotations": groups}


def _is_in_scheduling_group(made: dict) -> None:
    group = {"podGroupName": "all"}
    made["spec"]["template"]["spec"]["schedulingGroup"] = group


@pytest.mark.parametrize(
    "says",
    [_says_gang, _is_in_pod_group, _has_task_groups, _is_in_scheduling_group],
)
def test_a_job_that_says_it_is_a_gang_works_while_all_its_pods_are_ready(
    says: Callable[[dict], None],
):
    made = job("six", parallelism=6, runtime="30s")
    says(made)
    world = world_of(node("n1", cpu=4), made, stack="kube")
    assert finished(world) == []


def _in_group_of(least: int, made: dict) -> list[dict]:
    _is_in_pod_group(made)
    return [
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "all", "namespace": "default"},
            "spec": {"minMember": least},
        }
    ]


def _in_task_group_of(least: int, made: dict) -> list[dict]:
    _has_task_groups(made)
    group = {"name": "all", "minMember": least, "minResource": {"cpu": "1"}}
    annotations = made["spec"]["template"]["metadata"]["annotations"]
    annotations["yunikorn.apache.org/task-groups"] = json.dumps([group])
    return []


@pytest.mark.parametrize(
    ("stack", "says"), [("kube", _in_group_of), ("yunikorn", _in_task_group_of)]
)
@pytest.mark.parametrize(("least", "ends"), [(2, [60]), (6, [])])
def test_pods_run_alone_whose_group_starts_with_fewer_of_them(stack, says, least, ends):
    made = job("six", parallelism=6, runtime="30s")
    world = world_of(*says(least, made), node("n1", cpu=4), made, stack=stack)
    assert finished(world) == ends


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_no_job_is_elastic_without_kueue(stack):
    made = job("six", parallelism=6, runtime="30s")
    made["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true"
    assert finished(world_of(node("n1", cpu=4), made, stack=stack)) == [60]


def test_a_place_is_free_when_the_pod_on_it_ends():
    late = coming("n2", "20s", 2)
    world = of_pods(late, pod("next", cpu=4, arrival="25s"), stack="kube")
    simulate(world, until_ms=31_000)
    assert world.objects[Key("Pod", "default", "next")].spec["nodeName"] == "n1"
    assert finished(world) == [50]


def test_quota_is_free_for_as_many_pods_as_are_left_over():
    more = job("more", queue="main", cpu=4, arrival="1s", runtime="5s")
    world = of_pods(more)
    simulate(world, until_ms=31_000)
    [first, second] = sorted(
        world.keys("Workload"), key=lambda key: "six" not in str(key)
    )
    assert world.get(first).status["reclaimablePods"] == [{"name": "main", "count": 4}]
    admission = world.get(second).status["admission"]
    assert admission["podSetAssignments"][0]["resourceUsage"] == {"cpu": "4"}


def coming(name: str, at: str, cpu: int) -> dict:
    """A node that comes at this instant, on which the clock stands then."""
    made = node(name, cpu=cpu)
    made["metadata"]["annotations"] = {"quotalab.dev/arrival": at}
    return made


def deleted_at_20s(**of_job: Any) -> World:
    world = of_pods(coming("n2", "20s", 0), cpu=6, **of_job)
    simulate(world, until_ms=20_000)
    world.delete(min(world.keys("Pod")))
    return world


def test_a_pod_that_is_lost_begins_again_and_the_others_go_on():
    world = deleted_at_20s()
    assert counts(world, 31, 49) == [(5, 1), (5, 1)]
    assert finished(world) == [50]


def test_a_pod_goes_on_from_its_own_checkpoint():
    world = deleted_at_20s(checkpoint_every="8s", restart_takes="3s")
    made = simulate(world, until_ms=60_000).decisions
    [kept] = [d for d in made if isinstance(d, Checkpoint)]
    # 16 of 20 s, of one pod among six.
    assert (kept.reason, kept.kept_ms, kept.lost_ms) == ("PodKept", 2666, 666)
    [end] = [d.at_ms for d in made if isinstance(d, Finish)]
    assert end == 20_000 + 3_000 + 14_000


@pytest.mark.parametrize("stack", STACKS)
def test_the_work_of_a_lost_pod_is_counted_for_that_pod_alone(stack):
    world = of_pods(coming("n2", "20s", 0), cpu=6, stack=stack)
    measures = Measures(world)
    simulate(world, until_ms=20_000, hear=measures.observe)
    world.lifetime.lose_pod(min(world.keys("Pod")))
    simulate(world, until_ms=300_000, hear=measures.observe)
    run_lost = [run.lost_ms for run in world.lifetime.runs.values()]
    share = 20_000 // 6 if stack == "kueue" else 20_000
    assert run_lost == [share]
    if stack == "kueue":
        assert measures.summary().work_lost_ms == share


def test_a_pod_of_an_indexed_job_goes_on_from_the_checkpoint_of_its_index():
    made = job("six", parallelism=2, runtime="30s", checkpoint_every="1s")
    made["spec"]["completionMode"] = "Indexed"
    later = coming("n2", "10s", 1), coming("n3", "20s", 0)
    world = world_of(node("n1", cpu=1), *later, made, stack="kube")
    simulate(world, until_ms=20_000)
    for key in world.keys("Pod"):
        world.lifetime.lose_pod(key)
    assert counts(world, 29, 31) == [(0, 2), (1, 1)]
    assert world.get(SIX).status["completedIndexes"] == "0"
    assert counts(world, 39, 41) == [(1, 1), (2, 0)]
    assert world.get(SIX).status["completedIndexes"] == "0-1"


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 5),
    st.integers(1, 12),
    st.sampled_from(STACKS),
    st.integers(0, 90),
)
def test_pods_end_in_turns_of_as_many_as_have_a_place(
    parallelism, places, completions, stack, stored_at_s
):
    """A world that is stored in the middle ends as one that was not."""
    queue = "main" if stack == "kueue" else ""
    made = job(
        "six",
        queue=queue,
        parallelism=parallelism,
        completions=completions,
        runtime="10s",
    )
    queues = small_cluster(cpu=9) if queue else ()
    world = world_of(*queues, node("n1", cpu=places), made, stack=stack)
    simulate(world, until_ms=stored_at_s * 1000)
    again = World.decode(world.encode())
    at_once = min(parallelism, places, completions)
    turns = -(-completions // at_once)
    ends = [] if stored_at_s >= 10 * turns else [10 * turns]
    assert finished(world) == finished(again) == ends
    assert world.hash() == again.hash()


@pytest.mark.parametrize("runtime", ["0s", "never"])
def test_pods_may_take_no_time_or_go_on_for_ever(runtime):
    for stack, completions in itertools.product(STACKS, (6, 9)):
        world = of_pods(stack=stack, runtime=runtime, completions=completions)
        ended = [0] if runtime == "0s" else []
        assert finished(world) == ended, (stack, completions)


def edited(world: World, at_s: int, **spec: Any) -> None:
    """Change fields of the Job at an instant at which a node comes."""
    simulate(world, until_ms=at_s * 1000)
    manifest = copy.deepcopy(world.objects[SIX].manifest)
    manifest["spec"] |= spec
    world.put(Object(key=SIX, manifest=manifest))


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_a_job_that_runs_has_as_many_pods_as_its_parallelism_says(stack):
    tick = coming("n2", "10s", 0)
    world = of_pods(tick, cpu=6, stack=stack, parallelism=2, completions=6)
    edited(world, 10, parallelism=4)
    assert counts(world, 11, 31, 41) == [(0, 4), (2, 4), (4, 2)]
    assert finished(world) == [60]


def test_a_smaller_parallelism_deletes_the_newest_pods():
    world = of_pods(coming("n2", "10s", 0), cpu=6, stack="kube")
    edited(world, 10, parallelism=4)
    assert counts(world, 11, 31) == [(0, 4), (4, 2)]
    assert finished(world) == [60]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("places", [[], [node("n1", cpu=6)]], ids=["bare", "nodes"])
def test_a_job_of_no_parallelism_makes_no_pods_and_does_not_end(stack, places):
    queue = "main" if stack == "kueue" else ""
    made = job("six", queue=queue, runtime="30s", completions=3)
    made["spec"]["parallelism"] = 0
    queues = small_cluster(cpu=6) if queue else ()
    world = world_of(*queues, *places, made, stack=stack)
    assert finished(world) == []
    assert world.get(SIX).status["active"] == 0


def test_a_paused_job_goes_on_when_it_may_have_pods_again():
    tick = coming("n2", "10s", 0), coming("n3", "50s", 0)
    world = of_pods(*tick, cpu=6, stack="kube", parallelism=2, completions=6)
    edited(world, 10, parallelism=0)
    assert counts(world, 49) == [(0, 0)]
    edited(world, 50, parallelism=3)
    assert finished(world) == [110]


def test_a_job_of_no_completions_ends_at_once():
    world = of_pods(stack="kube", completions=0)
    assert finished(world) == [0]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(1, 5),
    st.integers(1, 9),
    st.sampled_from(["", "Indexed"]),
    st.lists(st.integers(0, 25_000), min_size=1, max_size=4, unique=True).map(sorted),
)
def test_a_world_stored_before_a_quota_is_given_back_gives_it_back(
    parallelism, places, completions, mode, instants_ms
):
    """Storing and going on equals going on, at instants between an end and the reclaim."""
    of_job = {"parallelism": parallelism, "completions": completions, "runtime": "5s"}
    first, second = (job(n, queue="main", **of_job) for n in ("six", "more"))
    if mode:
        first["spec"]["completionMode"] = mode
    queues, places = small_cluster(cpu=6), node("n1", cpu=places)
    simulation = {"latencies": {"completion": "4s"}}
    world = world_of(*queues, places, first, second, simulation=simulation)
    stored = []
    for at in instants_ms:
        simulate(world, until_ms=at)
        stored.append(World.decode(world.encode()))
        assert invariants.due_later(stored[-1]) == invariants.due_later(world)
    for one in (world, *stored):
        simulate(one, until_ms=300_000)
    assert {one.hash() for one in stored} == {world.hash()}


def test_pods_that_succeed_while_others_fail_count_as_succeeded():
    fails = "quantiles(5s,5s,5s,5s,60s,60s,60s)"
    made = job("six", parallelism=12, runtime="10s", fails_after=fails)
    made["spec"]["backoffLimit"] = 100
    simulation = {"latencies": None}
    world = world_of(
        node("n1", cpu=8), made, stack="kube", simulation=simulation, seed=5
    )
    simulate(world, until_ms=5_000)
    assert world.get(SIX).status["failed"] == 6
    simulate(world, until_ms=10_000)  # main-10 fails, before main-2 by name
    status = world.get(SIX).status
    assert (status["succeeded"], status["failed"]) == (2, 7)


def test_a_pod_with_little_work_left_succeeds_before_it_would_fail():
    ends = {"fails_after": "20s", "checkpoint_every": "5s"}
    world = of_pods(stack="kube", parallelism=2, **ends)
    assert finished(world) == [50]  # two failures back off for 20 s
    assert world.get(SIX).status["succeeded"] == 2


def _queue_of_work(*more: dict, cpu: int = 8, parallelism: int) -> World:
    """A Job without completions: it makes no more pods after the first success."""
    made = job("six", parallelism=parallelism, runtime="30s")
    del made["spec"]["completions"]
    return world_of(node("n1", cpu=cpu), *more, made, stack="kube")


def test_a_work_queue_of_one_pod_that_gets_more_ends_with_the_last():
    world = _queue_of_work(coming("n2", "10s", 0), parallelism=1)
    edited(world, 10, parallelism=3)
    assert finished(world) == [40]
    assert world.get(SIX).status["succeeded"] == 3


@pytest.mark.parametrize("parallelism", [0, 1, 2])
def test_a_work_queue_with_a_success_leaves_running_pods_alone(parallelism):
    more = coming("n2", "20s", 1), coming("n3", "32s", 0)
    world = _queue_of_work(*more, cpu=3, parallelism=4)
    edited(world, 32, parallelism=parallelism)
    assert counts(world, 33) == [(3, 1)]
    assert finished(world) == [50]
    assert world.get(SIX).status["succeeded"] == 4


def test_a_paused_job_of_one_pod_makes_it_again():
    tick = coming("n2", "10s", 0), coming("n3", "50s", 0)
    world = of_pods(*tick, stack="kube", parallelism=1)
    edited(world, 10, parallelism=0)
    edited(world, 50, parallelism=1)
    assert finished(world) == [80]


def test_a_work_queue_ends_when_its_last_pod_is_lost_after_a_success():
    world = _queue_of_work(coming("n2", "40s", 0), cpu=2, parallelism=3)
    simulate(world, until_ms=40_000)
    [last] = world.lifetime.runs[SIX].pods
    world.lifetime.lose_pod(last)
    assert finished(world) == [40]
    assert world.get(SIX).status["succeeded"] == 2


def evicted_at(at_s: int, *, loses_s: int | None = None, **of_job: Any) -> World:
    """Four of six pods, of which one may be lost, before another Job takes the quota."""
    boss = job("boss", queue="main", cpu=6, priority_class="high", arrival=f"{at_s}s")
    nodes = coming("n2", f"{loses_s or 1}s", 0), node("n1", cpu=9)
    queue = small_cluster(cpu=6, within="LowerPriority")
    made = job("six", queue="main", **{"parallelism": 4, "runtime": "100s", **of_job})
    steps = {"latencies": {"suspension": "3s"}}
    world = world_of(
        *queue, workload_priority("high", 10), *nodes, made, boss, simulation=steps
    )
    if loses_s is not None:
        simulate(world, until_ms=loses_s * 1000)
        world.lifetime.lose_pod(min(world.keys("Pod")))
    return world


def test_a_stop_counts_what_a_lost_pod_lost_only_once():
    world = evicted_at(37, loses_s=39)
    simulate(world, until_ms=40_000)
    [lost] = [run.lost_ms for run in world.lifetime.runs.values() if run.lost_ms]
    assert lost == 40_000


def test_a_stop_says_whether_pods_that_succeeded_or_a_checkpoint_kept_the_work():
    said = []
    for more in ({}, {"checkpoint_every": "1s"}):
        world = evicted_at(15, runtime="10s", completions=9, **more)
        made = simulate(world, until_ms=20_000).decisions
        said += [one.message for one in made if isinstance(one, Checkpoint)]
    assert said == [
        "10 s of work are kept: pods that succeeded have done it",
        "18 s of work are kept by a checkpoint",
    ]


def test_a_pod_that_fails_does_not_put_off_the_suspension_of_its_job():
    world = evicted_at(18, fails_after="20s")
    ended = {"type": "QuotaReserved", "status": "False"}
    seen = []
    for at in (20_900, 21_100):
        simulate(world, until_ms=at)
        [six] = [key for key in world.keys("Workload") if "six" in key.name]
        held = world.get(six).status["conditions"]
        seen.append(any(ended.items() <= one.items() for one in held))
    assert seen == [False, True]


def test_a_job_of_a_least_parallelism_that_is_stored_gets_ready():
    made = job("six", queue="main", parallelism=3, completions=7, runtime="30s")
    least = {"kueue.x-k8s.io/job-min-parallelism": "1"}
    made["metadata"]["annotations"] |= least
    steps = {"latencies": {"readiness": "1s", "podStart": "2s"}}
    queue = small_cluster(cpu=6)
    world = world_of(*queue, node("n1", cpu=4), made, simulation=steps)
    simulate(world, until_ms=2_500)
    again = World.decode(world.encode())
    simulate(world, until_ms=4_000)
    simulate(again, until_ms=4_000)
    assert again.hash() == world.hash()
