"""What nodes hold, kept by differences, is what a look at all of them finds."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.analysis.lines import ChangedNodes
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import node, pod, world_of

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
