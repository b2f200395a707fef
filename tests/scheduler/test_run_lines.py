"""What nodes hold, kept by differences, is what a look at all of them finds."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.analysis.lines import ChangedNodes, RunLines
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    world_of,
)

NODES = ("n0", "n1", "n2")
NAMES = st.sampled_from(["a", "b", "c"])
#: What happens to a small cluster: "look" is where the differences are taken.
HISTORY = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["tick", "tick", "tick", "look", "look"]), st.just("")
        ),
        st.tuples(st.sampled_from(["node comes", "node goes"]), st.sampled_from(NODES)),
        st.tuples(st.sampled_from(["pod comes", "pod goes"]), NAMES),
    ),
    max_size=30,
)


def happen(world: World, what: str, name: str) -> None:
    """Let one thing happen; what cannot is left."""
    kind, namespace = ("Node", "") if what.startswith("node") else ("Pod", "default")
    key = Key(kind, namespace, name)
    if what == "tick":
        run_tick(world)
    elif what.endswith("goes"):
        if key in world.objects:
            world.delete(key)
    elif key not in world.objects:
        made = node(name) if kind == "Node" else pod(name, cpu="1", runtime="3s")
        status = made.pop("status", {})
        world.put(Object(key=key, manifest=made, status=status))


@settings(max_examples=150, deadline=None)
@given(HISTORY)
@example([*[("tick", "")] * 5, ("node goes", "n0"), ("look", ""), ("tick", "")])
def test_nodes_that_changed_are_all_that_hold_something_else(
    history: list[tuple[str, str]],
) -> None:
    pods = [pod(f"p{n}", cpu="1", runtime=f"{2 + n}s") for n in range(6)]
    world = world_of(*map(node, NODES), *pods)
    nodes, held = ChangedNodes(), {}
    for what, name in [*history, ("look", "")]:
        if what != "look":
            happen(world, what, name)
            continue
        held |= {one: dict(has) for one, has in nodes.since(world, held)}
        there = {one: has for one, has in held.items() if any(has.values())}
        whole = {one: dict(has) for one, has in ChangedNodes().since(world, ())}
        assert there == {one: has for one, has in whole.items() if any(has.values())}


QUEUES = ("a", "b")
COHORTS = ("all", "other", "")
#: What happens to two queues that begin in one cohort.
ENDS = st.lists(
    st.one_of(
        st.tuples(st.just("tick"), st.just(""), st.just(0)),
        st.tuples(st.just("comes"), st.sampled_from("wxyz"), st.integers(1, 5)),
        st.tuples(st.just("goes"), st.sampled_from("wxyz"), st.just(0)),
        st.tuples(st.just("quota"), st.sampled_from(QUEUES), st.integers(0, 6)),
        st.tuples(st.just("moves"), st.sampled_from(QUEUES), st.integers(0, 2)),
        st.tuples(st.just("ends"), st.sampled_from(QUEUES), st.just(0)),
    ),
    max_size=30,
)


def happen_to_queues(world: World, what: str, name: str, amount: int) -> None:
    """Let one thing happen; what cannot is left."""
    key = Key("Job", "default", name)
    if what == "tick":
        run_tick(world)
    elif what == "goes":
        if key in world.objects:
            world.delete(key)
    elif what == "ends":
        if (queue := Key("ClusterQueue", "", name)) in world.objects:
            world.delete(queue)
    elif what in ("quota", "moves"):
        cohort, cpu = ("all", amount) if what == "quota" else (COHORTS[amount], 4)
        made = cluster_queue(name, cohort=cohort, cpu=cpu, reclaim="Any")
        world.put(Object(key=Key("ClusterQueue", "", name), manifest=made))
    elif key not in world.objects:
        made = job(name, queue=QUEUES[amount % 2], cpu=amount, runtime=f"{amount}s")
        world.put(Object(key=key, manifest=made))


@settings(max_examples=100, deadline=None)
@given(ENDS)
@example([("comes", "w", 2), ("tick", "", 0), ("moves", "a", 1), ("tick", "", 0)])
@example([("comes", "w", 2), ("tick", "", 0), ("ends", "a", 0), ("tick", "", 0)])
def test_queues_are_looked_at_whenever_one_of_them_changed(
    history: list[tuple[str, str, int]],
) -> None:
    queues = [
        made
        for name in QUEUES
        for made in (
            cluster_queue(name, cohort="all", cpu=4, reclaim="Any"),
            local_queue(name, cluster_queue=name),
        )
    ]
    world = world_of(flavor(), *queues)
    kept = RunLines(world, 60_000)
    for what, name, amount in history:
        happen_to_queues(world, what, name, amount)
        kept.look(world)
        fresh = RunLines(world, 60_000)
        for line in fresh.names:
            if line.of == "share":  # of an edit's weight and quota, none is in a run
                continue
            assert kept.line(line).values[-1:] == fresh.line(line).values
        for line in kept.names - fresh.names:
            if line.of.startswith("cohort"):
                assert kept.line(line).values[-1] == 0
