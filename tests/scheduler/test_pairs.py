"""A run and the same run with a change, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.lines import LineName, RunLine
from scheduler.analysis.pairs import Alter, Mark, PairVerdict, Side, compare_pair, stops
from scheduler.assembly import merge
from scheduler.engine.kueue.tree.quota import weighted_share
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.amounts import UNLIMITED
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
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

HORIZON_MS = 60_000
QUEUE = Key("ClusterQueue", "", "main")


def give(amount: int) -> Any:
    """Return what gives the ClusterQueue this many CPUs."""

    def alter(world: World) -> None:
        manifest = world.objects[QUEUE].manifest
        (group,) = manifest["spec"]["resourceGroups"]
        (flavor,) = group["flavors"]
        quota = {"name": "cpu", "nominalQuota": str(amount)}
        flavors = [{**flavor, "resources": [quota]}]
        patch = {"spec": {"resourceGroups": [{**group, "flavors": flavors}]}}
        world.put(Object(key=QUEUE, manifest=merge(manifest, patch)))

    return alter


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Return a small world some ticks old, in which work arrives, runs and waits."""
    within = draw(st.sampled_from(("Never", "LowerPriority")))
    jobs = [
        job(
            f"train-{n}",
            queue="main",
            cpu=str(draw(st.integers(1, 4))),
            priority_class=draw(st.sampled_from(("", "high"))),
            arrival=f"{draw(st.integers(0, 9))}s",
            runtime=draw(st.sampled_from(("3s", "uniform(2s, 20s)", "10m"))),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    queue = small_cluster(cpu="4", within=within)
    world = world_of(*queue, workload_priority("high", 100), *jobs)
    for _ in range(draw(st.integers(0, 6))):
        run_tick(world)
    return world


@settings(max_examples=10, deadline=None)
@given(worlds())
def test_a_change_that_changes_nothing_gives_an_empty_verdict(world: World) -> None:
    found = compare_pair(
        world, lambda _: None, horizon_ms=HORIZON_MS, seeds=[world.context.seed, 9]
    )
    assert not found.differs
    for one in found.seeds:
        assert (one.verdict.workloads, one.only_with, one.only_without) == ([], [], [])
    assert {v for one in found.sums.values() for v in one.values} <= {0, None}


def test_what_still_waits_at_the_horizon_counts_from_its_arrival() -> None:
    world = world_of(*small_cluster(cpu="4"), job("big", queue="main", cpu="8"))
    for _ in range(5):
        run_tick(world)
    found = compare_pair(world, give(8), horizon_ms=HORIZON_MS)
    (one,) = found.seeds
    assert [each.fates[0] for each in one.verdict.workloads] == ["only"]
    waited = world.context.now_ms + HORIZON_MS
    assert (one.without.waiting, one.without.wait_max_ms) == (1, waited)
    assert one.changed.waiting == 0


def test_seeds_that_agree_are_said_to_and_others_give_an_interval() -> None:
    jobs = [
        job(f"train-{n}", queue="main", cpu="4", runtime="uniform(2s, 30s)")
        for n in range(3)
    ]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    found = compare_pair(world, give(8), horizon_ms=HORIZON_MS, seeds=[1, 2, 3])
    assert found.sums["onlyWith"].same
    waits = found.sums["waitMeanMs"]
    assert (waits.same, len(waits.values), found.same) == (False, 3, False)
    assert waits.interval is not None
    assert waits.interval.mean == pytest.approx(sum(map(float, waits.values)) / 3)


def test_a_subject_that_is_there_on_one_side_alone_is_named() -> None:
    world = world_of(*small_cluster(cpu="4"), job("a", queue="main", runtime="10m"))
    run_tick(world)
    (key,) = [one for one in world.objects if one.kind == "Workload"]
    found = compare_pair(
        world,
        lambda side: side.delete(Key("Job", key.namespace, "a")),
        horizon_ms=5_000,
    )
    assert found.differs
    assert found.seeds[0].only_without == [str(key)]


@settings(max_examples=10, deadline=None)
@given(worlds(), st.integers(0, 8))
def test_a_verdict_so_far_is_that_of_a_nearer_horizon(
    world: World, amount: int
) -> None:
    told: list[PairVerdict] = []
    compare_pair(world, give(amount), horizon_ms=HORIZON_MS, tell=told.append)
    begin = world.context.now_ms
    assert [one.to_ms for one in told] == stops(begin, begin + HORIZON_MS)[1:-1]
    for far in told:
        near = compare_pair(world, give(amount), horizon_ms=far.to_ms - begin)
        assert far.seeds[0].verdict == near.seeds[0].verdict
        assert far.seeds[0].only_with == near.seeds[0].only_with
        for side, other in (
            (far.seeds[0].without, near.seeds[0].without),
            (far.seeds[0].changed, near.seeds[0].changed),
        ):
            assert side.waiting == other.waiting
            assert side.wait_mean_ms == other.wait_mean_ms
            assert side.share_error == pytest.approx(other.share_error)


def test_a_run_without_the_change_that_is_kept_gives_the_same_verdict() -> None:
    jobs = [job(f"j{n}", queue="main", cpu="3", runtime="20s") for n in range(3)]
    world = world_of(*small_cluster(cpu="4"), *jobs)
    run_tick(world)
    kept: dict[int, Side] = {}

    def plain(seed: int, at_ms: int, hear: Callable[[], None]) -> Mark:
        if seed not in kept:
            kept[seed] = Side(fork(world, seed=seed), HORIZON_MS + 1000)
        return kept[seed].at(at_ms, hear)

    found = [
        compare_pair(world, give(amount), horizon_ms=HORIZON_MS, plain=plain)
        for amount in (8, 2, 8)
    ]
    fresh = [
        compare_pair(world, give(amount), horizon_ms=HORIZON_MS) for amount in (8, 2)
    ]
    assert found == [*fresh, fresh[0]]
    assert len(kept) == 1


def values_of(world: World) -> dict[LineName, float | None]:
    """Return what the lines of a world say where it stands."""
    assert world.kueue is not None
    found: dict[LineName, float | None] = {}
    for name, queue in world.kueue.cluster.forest.queues.items():
        share = weighted_share(queue)
        found[LineName("share", name)] = None if share == UNLIMITED else share
        found[LineName("held", name)] = len(queue.admitted.workloads)
        for place, quota in queue.resource_nodes.items():
            found[LineName("used", name, *place)] = quota.usage
    return found


def held_at(line: RunLine, at_ms: int) -> float | None:
    """Return the value of a line at an instant."""
    return (line.until(at_ms).values or [0])[-1]  # not there yet: nothing


@settings(max_examples=15, deadline=None)
@given(worlds(), st.integers(0, 8))
def test_the_lines_say_at_each_tick_what_runs_tick_by_tick_do(
    world: World, amount: int
) -> None:
    found = compare_pair(world, give(amount), horizon_ms=HORIZON_MS)
    lines = {
        LineName(one.of, one.queue, one.flavor, one.resource): one
        for one in found.lines
    }
    for side, alter in (("without", lambda _: None), ("changed", give(amount))):
        run = fork(world)
        alter(run)
        for _ in range(HORIZON_MS // 1000):
            run_tick(run)
            said = {
                name: held_at(getattr(line, side), run.context.now_ms)
                for name, line in lines.items()
                if name.of not in ("waiting", "node") and name.queue
            }
            assert said.items() <= values_of(run).items()


def test_sides_that_are_equal_have_no_lines() -> None:
    world = world_of(*small_cluster(), job("a", queue="main", cpu="1", runtime="9s"))
    assert compare_pair(world, lambda _: None, horizon_ms=HORIZON_MS).lines == []


def test_a_queue_that_differs_has_its_equal_lines_too_and_others_have_none() -> None:
    queues = [cluster_queue(name, cpu=4) for name in ("main", "other")]
    local = [local_queue(name, cluster_queue=name) for name in ("main", "other")]
    waits = [job(name, queue=name, cpu=5) for name in ("main", "other")]
    world = world_of(flavor(), *queues, *local, *waits)
    found = compare_pair(world, give(5), horizon_ms=HORIZON_MS)
    lines = {one.of: one for one in found.lines if one.queue == "main"}
    assert lines["share"].without == lines["share"].changed
    assert {one.queue for one in found.lines} == {"", "main"}


def crowded(stack: str) -> tuple[World, Alter]:
    """Return a world of three nodes, and what comes to two of them."""
    fixed = [{"name": "fixed", "value": "root.all", "create": False}]
    queues = {"queues": queue_tree({"name": "all"}, placementrules=fixed)}
    policy: dict[str, Any] = {"yunikorn": queues} if stack == "yunikorn" else {}
    world = world_of(*(node(f"n-{n}") for n in range(3)), stack=stack, **policy)

    def more(side: World) -> None:
        for name in ("a", "b"):
            manifest = pod(name, cpu=3, runtime="20s")
            side.put(Object(key=Key("Pod", "default", name), manifest=manifest))

    return world, more


def used_on(world: World, name: str) -> dict[str, int]:
    """Return what pods hold on a node, as its row on the page says."""
    if world.kube is not None:
        return world.kube.used_on(name)[0]
    assert world.yunikorn is not None
    return world.yunikorn.partition.used_on(name)[0]


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_lines_say_at_each_tick_what_pods_hold_on_a_node(stack: str) -> None:
    world, more = crowded(stack)
    found = compare_pair(world, more, horizon_ms=HORIZON_MS)
    lines = [one for one in found.lines if one.of == "node"]
    assert len({one.queue for one in lines}) == 2
    for side, alter in (("without", lambda _: None), ("changed", more)):
        run = fork(world)
        alter(run)
        for _ in range(HORIZON_MS // 1000):
            run_tick(run)
            for line in lines:
                value = held_at(getattr(line, side), run.context.now_ms)
                assert value == used_on(run, line.queue).get(line.resource, 0)


def test_nodes_that_are_too_many_to_tell_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scheduler.analysis.lines.MOST_NODE_VALUES", 0)
    world, more = crowded("kube")
    found = compare_pair(world, more, horizon_ms=HORIZON_MS)
    told = {one.queue for one in found.lines if one.of == "node"}
    assert (len(told), found.nodes_left_out) == (1, 1)


def test_the_largest_share_and_the_idle_hours_of_each_side_are_figures() -> None:
    # With the change `other` may borrow, and so runs 6 of the 8 CPUs for 30 s.
    world = world_of(
        flavor(),
        cluster_queue("main", cohort="all"),
        cluster_queue("other", cohort="all", borrowing=0),
        local_queue("other", cluster_queue="other"),
        job("big", queue="other", cpu="6", runtime="30s"),
    )
    lent = Key("ClusterQueue", "", "other")
    free = cluster_queue("other", cohort="all")
    found = compare_pair(
        world,
        lambda side: side.put(Object(key=lent, manifest=free)),
        horizon_ms=HORIZON_MS,
    )
    without, changed = found.seeds[0].without, found.seeds[0].changed
    assert (changed.largest_share, changed.largest_share_queue) == (250, "other")
    assert changed.largest_share_ms == pytest.approx(30_000, abs=1000)
    assert (without.largest_share, without.largest_share_ms) == (None, 0)
    idle = [side.idle_hours["cpu"] * 3600 for side in (without, changed)]
    assert idle == [pytest.approx(8 * 60, abs=1), pytest.approx(8 * 60 - 6 * 30, abs=8)]
    assert found.sums["idleHours cpu"].values == [(idle[1] - idle[0]) / 3600]


def test_a_verdict_says_how_much_work_runs_for_a_time_that_nobody_gave() -> None:
    told = job("told", queue="main", runtime="5s")
    bare = [job(name, queue="main", cpu=1) for name in "ab"]
    world = world_of(*small_cluster(), told, *bare)
    found = compare_pair(world, give(8), horizon_ms=HORIZON_MS)
    (said,) = found.assumed
    assert str(said).startswith("2 objects of kind Job have no run time, so 60s is")


def test_another_release_tells_its_rules_and_the_reasons_that_differ() -> None:
    jobs = [job(f"j{n}", queue="main", runtime="1h") for n in range(3)]
    world = world_of(*small_cluster(cpu=1), *jobs, release={"kueue": "0.19.2"})

    def newer(side: World) -> None:
        document = side.policy.document()
        document["spec"]["release"] = {"kueue": "main"}
        side.set_policy(read_policy(document))

    found = compare_pair(world, newer, horizon_ms=HORIZON_MS)
    assert {one.rule: one.has for one in found.rules} == {
        "pending-reasons": True,
        "overlapping-targets": True,
    }
    assert found.rules[0].gate == "UnadmittedWorkloadsObservability"
    assert found.rules[0].given is False
    assert found.reasons == {"Pending": [1, 0], "WaitingForQuota": [0, 1]}
    same = compare_pair(world, lambda _: None, horizon_ms=HORIZON_MS)
    assert (same.rules, same.reasons) == ([], {})
