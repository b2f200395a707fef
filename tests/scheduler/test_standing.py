"""A side of a pair is taken over from the other while both go on alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from scheduler.analysis.pairs import Alter, Side, compare_pair, stops
from scheduler.analysis.standing import apart, standing, unasked
from scheduler.assembly import merge
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.objects import Key, Object
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

HORIZON_MS = 60_000
SEEDS = (7, 8)
EDITS: list[dict[str, Any]] = [
    {"preemption": {"withinClusterQueue": "LowerPriority"}},
    {"preemption": {"withinClusterQueue": "Never"}},
    {"preemption": {"reclaimWithinCohort": "Any"}},
    {"preemption": {"reclaimWithinCohort": "Never"}},
    {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}},
    {"fairSharing": {"weight": "3"}},
    {"stopPolicy": "Hold"},
    {"queueingStrategy": "StrictFIFO"},
]


def drawn(seed: int) -> World:
    """Return queues of a cohort, of enough quota or not, and jobs that come in a minute."""
    draw = random.Random(seed)
    most, two = draw.choice([6, 15, 40]), draw.random() < 0.5
    found = [flavor(), flavor("spot")]
    found += [workload_priority(f"p{n}", n) for n in (1, 2)]
    for name in "abc":
        cpu, within = draw.randint(2, most), draw.choice(["Never", "LowerPriority"])
        reclaim = draw.choice(["Never", "LowerPriority", "Any"])
        queue = cluster_queue(
            name, cpu=cpu, cohort="all", within=within, reclaim=reclaim
        )
        if two:
            quota = [{"name": "cpu", "nominalQuota": draw.randint(0, most)}]
            [group] = queue["spec"]["resourceGroups"]
            group["flavors"].append({"name": "spot", "resources": quota})
        found += [queue, local_queue(name, cluster_queue=name)]
    for n in range(draw.randint(4, 14)):
        priority, cpu = draw.choice(["", "p1", "p2"]), draw.randint(1, 4)
        arrival, took = draw.randint(0, 50), f"uniform(5s, {draw.randint(6, 60)}s)"
        found.append(
            job(
                f"j{n}",
                queue=draw.choice("abc"),
                cpu=cpu,
                priority_class=priority,
                arrival=f"{arrival}s",
                runtime=took,
            )
        )
    if draw.random() < 0.5:
        found += [node(f"n{n}", cpu=8) for n in range(draw.randint(1, 3))]
    fair = {"kueue": {"fairSharing": {}}} if draw.random() < 0.5 else {}
    world = world_of(*found, seed=seed, **fair)
    for _ in range(draw.randint(0, 20)):
        run_tick(world)
    return world


def edit(name: str, spec: dict[str, Any]) -> Alter:
    key = Key("ClusterQueue", "", name)

    def alter(world: World) -> None:
        manifest = merge(world.objects[key].manifest, {"spec": spec})
        world.put(Object(key=key, manifest=manifest))

    return alter


def in_full(world: World) -> Any:
    """Return the run without the change, of which nothing may be taken over."""
    until_ms = world.context.now_ms + HORIZON_MS
    sides = {seed: Side(fork(world, seed=seed), until_ms) for seed in SEEDS}
    return lambda seed, at_ms, hear: sides[seed].at(at_ms, hear)._replace(standing=None)


def kept(world: World) -> Any:
    """Return the run without the change as it is kept: each seed through every stop."""
    begin_ms = world.context.now_ms
    sides = {
        seed: Side(fork(world, seed=seed), begin_ms + HORIZON_MS) for seed in SEEDS
    }
    for side in sides.values():
        for at_ms in stops(begin_ms, begin_ms + HORIZON_MS):
            side.at(at_ms, lambda: None)
    return lambda seed, at_ms, hear: sides[seed].at(at_ms, hear)


def test_a_look_between_two_stops_is_known_of_a_later_seed_too() -> None:
    low = job("low", queue="a", cpu=6, runtime="2500ms")
    high = job(
        "high", queue="a", cpu=4, priority_class="p1", arrival="2s", runtime="9s"
    )
    queues = [cluster_queue("a", cpu=6), local_queue("a", cluster_queue="a")]
    world = world_of(flavor(), workload_priority("p1", 1), *queues, low, high)
    found = compare_pair(
        world,
        edit("a", {"preemption": {"withinClusterQueue": "LowerPriority"}}),
        horizon_ms=HORIZON_MS,
        seeds=SEEDS,
        plain=kept(world),
    )
    assert [one.differs for one in found.seeds] == [True, True]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from("abc"), st.sampled_from(EDITS))
def test_a_pair_of_which_a_side_is_taken_over_is_the_pair_run_in_full(
    seed: int, name: str, spec: dict[str, Any]
) -> None:
    world, alter = drawn(seed), edit(name, spec)
    told: list[list[Any]] = [[], [], []]
    whole = [
        compare_pair(
            world,
            alter,
            horizon_ms=HORIZON_MS,
            seeds=SEEDS,
            tell=told[n].append,
            plain=plain,
        )
        for n, plain in enumerate((None, kept(world), in_full(world)))
    ]
    assert (told[0], whole[0]) == (told[1], whole[1]) == (told[2], whole[2])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from("abc"), st.sampled_from(EDITS[:5]))
def test_worlds_that_stand_alike_stay_alike_until_it_is_asked(
    seed: int, name: str, spec: dict[str, Any]
) -> None:
    assert alike(seed, name, spec, event) is None


def alike(
    seed: int, name: str, spec: dict[str, Any], hear: Callable[[str], None]
) -> int | None:
    """Return the first tick at which two worlds are not alike and nobody asked."""
    one = drawn(seed)
    other = fork(one)
    edit(name, spec)(other)
    for world in (one, other):
        for _ in range(3):
            run_tick(world)
        world.take()
    edited = apart(standing(one), standing(other))
    if not edited:
        hear("not alike" if edited is None else "nothing edited")
        return None
    for tick in range(60):
        decisions = [run_tick(world) for world in (one, other)]
        if not edited <= unasked(one):
            hear("asked later")
            return None
        looks = unasked(one), unasked(other)
        if decisions[0] != decisions[1] or looks[0] != looks[1]:
            return tick
        stand = rest(one), rest(other)
        if stand != (None, None) and apart(*stand) != edited:
            return tick
    hear("never asked")
    return None


def rest(world: World) -> Any:
    """Return where a copy stands; what is asked of the world itself stays noted."""
    return standing(fork(world))


def test_a_look_that_is_not_noted_makes_worlds_part_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        ClusterQueue, "preemption", property(lambda self: self.spec.preemption)
    )
    spec = {"preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Any"}}
    parted = (alike(seed, "a", spec, lambda _: None) for seed in range(40))
    assert any(tick is not None for tick in parted)


def test_the_second_side_is_not_run_where_nobody_asks_what_was_edited() -> None:
    jobs = [job(f"j{n}", queue="a", arrival=f"{n}s", runtime="20s") for n in range(50)]
    queues = [cluster_queue("a", cpu=99), local_queue("a", cluster_queue="a")]
    world = world_of(flavor(), *queues, *jobs)
    known = Side(fork(world), HORIZON_MS)
    for at_ms in stops(0, HORIZON_MS):
        known.at(at_ms, lambda: None)
    heard: list[int] = []
    compare_pair(
        world,
        edit("a", {"preemption": {"withinClusterQueue": "LowerPriority"}}),
        horizon_ms=HORIZON_MS,
        hear=lambda: heard.append(1),
        plain=lambda _, at_ms, hear: known.at(at_ms, hear),
    )
    assert 0 < len(heard) < 10


def test_a_queue_that_is_edited_later_was_asked() -> None:
    world = drawn(1)
    standing(world)
    assert "a" in unasked(world)
    edit("a", {"preemption": {"withinClusterQueue": "Any"}})(world)
    assert "a" not in unasked(world)


def test_where_kueue_does_not_decide_nothing_is_held_against_another() -> None:
    world = world_of(node("n", cpu=4), pod("p"), stack="kube")
    assert (standing(world), unasked(world)) == (None, frozenset())
