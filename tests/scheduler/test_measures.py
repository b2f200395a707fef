"""Small worlds whose numbers can be worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.measures import Measures, Summary, flat, quantile, waits_of
from scheduler.analysis.measures.capacity import (
    Capacity,
    CapacityPool,
    by_arrays,
    one_by_one,
)
from scheduler.analysis.measures.fairness import Stand, fair_shares
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    small_cluster,
    workload_priority,
    world_of,
)


def measured(world: World, until_ms: int, **options) -> Summary:
    measures = Measures(world, until_ms=until_ms, **options)
    simulate(world, until_ms=until_ms, hear=measures.observe)
    return measures.summary()


def one_after_another() -> World:
    """Four CPUs; jobs of 4 CPUs and 10 s that all come at once."""
    jobs = [job(f"job-{n}", queue="main", cpu=4, runtime="10s") for n in range(3)]
    return world_of(*small_cluster(cpu=4), *jobs)


def test_waits_are_from_arrival_to_the_first_start():
    found = measured(one_after_another(), 60_000)
    assert (found.wait_p50_ms, found.wait_max_ms) == (10_000, 20_000)
    assert found.wait_mean_ms == 10_000


def test_what_never_starts_counts_with_its_wait_so_far_and_is_counted_beside():
    found = measured(one_after_another(), 15_000)
    assert (found.admitted, found.waiting) == (2, 1)
    assert (found.wait_p50_ms, found.wait_max_ms) == (10_000, 15_000)
    assert found.workloads is not None
    assert found.wait_mean_ms == found.workloads.mean_ms
    (own,) = found.classes.values()
    assert (own.count, own.waiting, own.max_ms) == (2, 1, 15_000)


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_what_is_placed_in_the_instant_of_its_coming_has_arrived(stack):
    world = world_of(node("n1", cpu=8), job("one", runtime="10s"), stack=stack)
    found = measured(world, 60_000)
    assert (found.arrived, found.admitted, found.wait_max_ms) == (1, 1, 0)


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_a_pod_that_was_made_with_its_node_starts_where_it_arrives(stack):
    made = pod("one", runtime="10s")
    made["spec"]["nodeName"] = "n1"
    found = measured(world_of(node("n1", cpu=8), made, stack=stack), 60_000)
    assert (found.arrived, found.admitted, found.waiting) == (1, 1, 0)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 50))),
    st.integers(100, 200),
)
def test_to_wait_longer_unseen_never_makes_a_wait_shorter(subjects, end_ms):
    starts = [(a, None if s is None else a + s) for a, s in subjects]
    now, later = waits_of(starts, end_ms), waits_of(starts, end_ms + 10)
    assert all(a <= b for a, b in zip(now.ordered, later.ordered, strict=True))
    started = waits_of([one for one in starts if one[1] is not None], end_ms)
    for share in (0.5, 0.95):
        if started.ordered:
            assert (now.quantile(share) or 0) >= (started.quantile(share) or 0)


def test_the_95th_percentile_lies_between_the_last_two_waits():
    assert measured(one_after_another(), 60_000).wait_p95_ms == 19_000


def test_the_makespan_is_from_the_first_arrival_to_the_last_finish():
    assert measured(one_after_another(), 60_000).makespan_ms == 30_000


def test_a_queue_that_is_always_full_is_used_to_the_whole():
    assert measured(one_after_another(), 60_000).utilisation == {"cpu": 1.0}


def test_what_was_used_is_reported_in_hours_of_cpus():
    found = measured(one_after_another(), 60_000)
    assert found.used_hours == {"main": {"cpu": pytest.approx(4 * 30 / 3600)}}


def test_the_share_that_starts_within_a_limit_counts_what_waits_longer():
    assert measured(one_after_another(), 60_000, limit_ms=10_000).within_limit == 2 / 3


def test_what_came_just_now_says_nothing_about_the_limit():
    jobs = [job(f"job-{n}", queue="main", cpu=4, runtime="60s") for n in range(2)]
    world = world_of(*small_cluster(cpu=4), *jobs)
    measures = Measures(world, limit_ms=10_000)
    run_tick(world)
    measures.observe(world.context.journal.take_decisions())
    assert measures.summary().within_limit == 1.0


def preempted() -> World:
    """A job of low priority loses 3 s of 4 CPUs to one of high priority."""
    return world_of(
        *small_cluster(cpu=4, within="LowerPriority"),
        workload_priority("high", 100),
        job("low", queue="main", cpu=4, runtime="10s"),
        job(
            "urgent",
            queue="main",
            cpu=4,
            runtime="10s",
            priority_class="high",
            arrival="3s",
        ),
    )


def test_work_lost_is_time_held_and_what_was_held():
    found = measured(preempted(), 60_000)
    assert found.work_lost_ms == 3_000
    assert found.work_lost == {"cpu": pytest.approx(4 * 3 / 3600)}
    assert (found.preemptions, found.evictions) == (1, 1)


def test_waits_are_reported_by_priority_class_to_the_first_and_the_last_start():
    classes = measured(preempted(), 60_000).classes
    assert classes["high"].mean_ms == 0
    assert classes[""].mean_ms == 0
    assert classes[""].mean_last_ms == 13_000


def two_queues(weight_b: str = "1") -> list[dict]:
    queues = [
        cluster_queue("a", cohort="all", cpu=0, reclaim="Never", weight="1"),
        cluster_queue("b", cohort="all", cpu=0, reclaim="Never", weight=weight_b),
        cluster_queue("pool", cohort="all", cpu=4),
    ]
    local_queues = [local_queue(name, cluster_queue=name) for name in ("a", "b")]
    return [flavor(), *queues, *local_queues]


def test_who_has_all_while_another_of_equal_weight_waits_is_half_from_fair():
    world = world_of(
        *two_queues(),
        job("first", queue="a", cpu=4, runtime="10s"),
        job("second", queue="b", cpu=4, runtime="10s", arrival="1ms"),
    )
    measures = Measures(world)
    simulate(world, until_ms=9_000, hear=measures.observe)
    world.context.now_ms = 9_000
    # The first look is before the second came, the nine others after it.
    assert measures.summary().share_error == pytest.approx(0.5 * 9 / 10)


def test_the_time_to_fair_is_from_an_arrival_until_queues_have_their_shares():
    jobs = [
        job("first", queue="a", cpu=4, runtime="10s"),
        job("second", queue="b", cpu=4, runtime="10s", arrival="1ms"),
    ]
    found = measured(world_of(*two_queues(), *jobs), 15_000)
    assert found.unfair_spans == 1
    assert (found.time_to_fair_ms, found.time_to_fair_max_ms) == (9_000, 9_000)


def test_a_span_that_is_not_over_counts_up_to_now():
    jobs = [
        job("first", queue="a", cpu=4, runtime="60s"),
        job("second", queue="b", cpu=4, runtime="10s", arrival="1ms"),
    ]
    world = world_of(*two_queues(), *jobs)
    measures = Measures(world)
    simulate(world, until_ms=9_000, hear=measures.observe)
    world.context.now_ms = 9_000
    assert measures.summary().time_to_fair_max_ms == 9_000


def test_what_was_fair_all_the_time_needed_no_time():
    found = measured(world_of(*two_queues(), job("only", queue="a", cpu=4)), 5_000)
    assert (found.unfair_spans, found.time_to_fair_ms) == (0, 0)


def test_fair_shares_fill_up_by_weight_and_stop_at_what_is_wanted():
    stands = [
        Stand(used=0, wanted=1.0, own=0, weight=1),
        Stand(used=0, wanted=1.0, own=0, weight=2),
        Stand(used=0, wanted=0.1, own=0, weight=1),
    ]
    assert fair_shares(stands) == pytest.approx([0.3, 0.6, 0.1])


def test_a_queue_keeps_its_own_before_the_rest_is_shared():
    stands = [
        Stand(used=0, wanted=1.0, own=0.5, weight=1),
        Stand(used=0, wanted=1.0, own=0, weight=1),
    ]
    assert fair_shares(stands) == pytest.approx([0.75, 0.25])


def test_weight_zero_gets_its_own_alone():
    stands = [
        Stand(used=0, wanted=1.0, own=0.1, weight=0),
        Stand(used=0, wanted=1.0, own=0, weight=1),
    ]
    assert fair_shares(stands) == pytest.approx([0.1, 0.9])


def starved(*, arrival: str = "0s") -> Summary:
    """One queue runs a job of 20 s at once; the other has too little for its job."""
    quota = {"rich": 4, "poor": 1}
    return measured(
        world_of(
            flavor(),
            *(cluster_queue(name, cpu=cpu) for name, cpu in quota.items()),
            *(local_queue(name, cluster_queue=name) for name in quota),
            job("runs", queue="rich", cpu=4, runtime="20s"),
            job("waits", queue="poor", cpu=4, runtime="20s", arrival=arrival),
        ),
        60_000,
    )


def test_a_queue_of_which_nothing_ran_is_slowed_down_by_all_that_it_waits():
    found = starved()
    assert found.queues["rich"].slowdown == 1
    assert found.queues["poor"].slowdown == 6  # 60 s where 10 s is the least run
    assert found.slowdown_ratio == 6


def test_what_came_just_now_is_not_slowed_down_yet():
    assert starved(arrival="59s").slowdown_ratio == 1


def test_jain_of_one_queue_that_has_everything_is_one_over_two():
    world = world_of(
        *two_queues(), job("only", queue="a", cpu=4, runtime="10s"), seed=1
    )
    measures = Measures(world)
    simulate(world, until_ms=60_000, hear=measures.observe)
    assert measures.summary().jain == 1.0  # alone among those that used anything


STACKS = ["kube", "yunikorn"]


def on_nodes(stack: str, *manifests) -> World:
    """Return a world of the stack; under YuniKorn everything goes to one queue."""
    fixed = [{"name": "fixed", "value": "root.all", "create": False}]
    queues = queue_tree({"name": "all"}, placementrules=fixed)
    policy = {"yunikorn": {"queues": queues}}
    return world_of(*manifests, stack=stack, **(policy if stack == "yunikorn" else {}))


@pytest.mark.parametrize("stack", STACKS)
def test_pods_wait_for_nodes_in_the_stacks_without_quota(stack):
    pods = [pod(f"pod-{n}", cpu=4, runtime="10s") for n in range(2)]
    found = measured(on_nodes(stack, node("n", cpu=4), *pods), 60_000)
    assert (found.arrived, found.finished) == (2, 2)
    assert found.wait_max_ms == pytest.approx(10_000, abs=100)
    [used] = found.used_hours.values()
    assert used["cpu"] == pytest.approx(4 * 20 / 3600)


@pytest.mark.parametrize("stack", STACKS)
def test_the_pods_of_a_job_give_their_nodes_back_when_it_ends(stack):
    work = job("wide", cpu=1, parallelism=4, runtime="10s")
    world = on_nodes(stack, node("n", cpu=4), work)
    measures = Measures(world)
    simulate(world, until_ms=60_000, hear=measures.observe)
    assert not measures.ledger.held
    assert not measures.ledger.waiting


@pytest.mark.parametrize("stack", [*STACKS, "kueue"])
def test_room_where_nothing_that_waits_fits_is_fragmented(stack):
    """Two nodes of 4 CPUs hold a pod of 3 each; a pod of 2 fits nowhere."""
    small = [pod(f"small-{n}", cpu=3, runtime="100s") for n in range(2)]
    large = pod("large", cpu=2, arrival="1ms")
    nodes = [node(f"n-{n}", cpu=4) for n in range(2)]
    if stack == "kueue":
        small = [
            job(f"small-{n}", queue="main", cpu=3, runtime="100s") for n in range(2)
        ]
        large = job("large", queue="main", cpu=2, arrival="1ms")
        world = world_of(*small_cluster(cpu=7), *nodes, *small, large)
    else:
        world = on_nodes(stack, *nodes, *small, large)
    measures = Measures(world)
    simulate(world, until_ms=50_000, hear=measures.observe)
    world.context.now_ms = 50_000
    capacity = 7 if stack == "kueue" else 8
    assert measures.summary().fragmentation["cpu"] == pytest.approx(2 / capacity)


def test_room_for_what_waits_is_not_fragmented_however_long_it_waits():
    """A ClusterQueue that may not borrow waits beside free quota."""
    queues = [
        cluster_queue("a", cohort="all", cpu=1, borrowing=0),
        cluster_queue("b", cohort="all", cpu=4),
    ]
    world = world_of(
        flavor(),
        *queues,
        local_queue("a", cluster_queue="a"),
        job("held-up", queue="a", cpu=2),
    )
    measures = Measures(world)
    simulate(world, until_ms=50_000, hear=measures.observe)
    world.context.now_ms = 50_000
    assert measures.summary().fragmentation == {"cpu": 0.0}


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "gpu"]), st.integers(0, 9))
SHAPES = st.tuples(
    st.sampled_from(["", "a", "b"]), AMOUNTS.map(lambda asked: tuple(asked.items()))
)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), AMOUNTS, AMOUNTS), min_size=1),
    AMOUNTS.filter(bool),
    st.lists(SHAPES, max_size=4),
    st.booleans(),
)
def test_few_places_and_many_are_judged_alike(places, capacity, shapes, on_nodes):
    capacities = Capacity(
        capacity=capacity,
        by_group={},
        queues={},
        places={
            str(n): CapacityPool(group=group, amounts=has)
            for n, (group, has, _) in enumerate(places)
        },
        on_nodes=on_nodes,
    )
    taken = {str(n): used for n, (_, _, used) in enumerate(places)}
    found = one_by_one(capacities, taken, shapes)
    assert found == by_arrays(capacities, taken, shapes)


def test_a_run_that_begins_in_the_middle_knows_what_runs_and_waits():
    world = one_after_another()
    for _ in range(5):
        run_tick(world)
    world.take()
    later = world.copy()
    measures = Measures(later)
    simulate(later, until_ms=60_000, hear=measures.observe)
    found = measures.summary()
    assert (found.arrived, found.finished) == (2, 3)
    assert found.wait_mean_ms == 15_000  # from their arrival, before the begin
    assert found.utilisation == {"cpu": pytest.approx(1.0)}


def test_measuring_decides_nothing():
    plain, heard = one_after_another(), one_after_another()
    simulate(plain, until_ms=60_000)
    measured(heard, 60_000)
    assert plain.hash() == heard.hash()


def test_numbers_have_flat_names():
    names = flat(measured(preempted(), 60_000))
    assert names["waitMaxMs"] == 0
    assert names["classes.high.p95Ms"] == 0
    assert names["usedHours.main.cpu"] > 0


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1), (0.5, 2.5), (1.0, 4)], ids=str
)
def test_quantiles_are_interpolated(share, expected):
    assert quantile([1, 2, 3, 4], share) == expected


def test_a_run_says_what_its_searches_for_victims_cost():
    queue = cluster_queue("q", within="LowerPriority")
    jobs = [
        job("low", queue="main", cpu=4, runtime="50s"),
        job("high", queue="main", cpu=4, arrival="5s", priority_class="high"),
    ]
    parts = [flavor(), queue, local_queue("main", cluster_queue="q")]
    world = world_of(*parts, workload_priority("high", 10), *jobs)
    found = measured(world, 5_000)
    assert found.preemptions == 1
    assert (found.searches, found.candidates_looked_at, found.simulations) == (2, 1, 1)


def test_a_run_without_kueue_has_no_searches_of_its():
    assert measured(world_of(node("n"), stack="kube"), 1_000).searches is None
