"""What the documented laws promise, on any tree of queues and any pods."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.yunikorn.objects import partition
from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.preemption.guaranteed_documented import policy_of
from scheduler.model.hierarchy import QueueConfig
from tests.scheduler.yunikorn.worlds import World, queue

_POLICY = st.sampled_from(["default"] * 5 + ["fence", "disabled"])
_GUARANTEE = st.sampled_from([None, 1, 1, 2, 3])


@st.composite
def _trees(draw: st.DrawFn) -> list[QueueConfig]:
    """Two tenants of two leaves each, and a leaf beside them."""
    tenants = [
        queue(
            f"t{number}",
            *(
                queue(
                    name,
                    guaranteed=draw(_GUARANTEE),
                    preemption_policy=draw(_POLICY),
                    preemption_delay="1s",
                )
                for name in "ab"
            ),
            preemption_policy=draw(_POLICY),
        )
        for number in range(2)
    ]
    return [*tenants, queue("system", guaranteed=draw(_GUARANTEE))]


_LEAVES = ["root.t0.a", "root.t0.b", "root.t1.a", "root.t1.b", "root.system"]
_PODS = st.lists(
    st.tuples(
        st.sampled_from(_LEAVES),
        st.integers(0, 1),  # application of the leaf
        st.sampled_from([0.5, 1, 2]),
        st.sampled_from([0, 0, 0, -5, 5]),
        st.booleans(),  # allows its own preemption
        st.booleans(),  # runs already
        st.integers(0, 300),  # age
    ),
    min_size=8,
    max_size=24,
)


class _Watched(World):
    """Notes every law that a preemption breaks, at the moment it is decided."""

    def __init__(self, *queues: QueueConfig, laws: str = "documented") -> None:
        super().__init__(*queues, nodes={"n": 4, "m": 2}, laws=laws)
        self.broken: list[str] = []
        self.rounds = 0
        self.recorded.preempting = self._preempting  # type: ignore[method-assign]

    def _preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        self.rounds += 1
        self.recorded.victims.extend(victims)
        for victim in victims:
            if victim.priority > ask.priority:
                self.broken.append(f"{victim} is more important than {ask}")
            if victim.app is ask.app:
                self.broken.append(f"{victim} is of the application of {ask}")
            if not self._inside(victim.app.queue, _fence(ask.app.queue)):
                self.broken.append(f"{victim} is outside the fence of {ask}")
            if policy_of(victim.app.queue) == "disabled":
                self.broken.append(f"{victim} is in a disabled queue")
            self._guarantees(victim)
        if len({victim.node for victim in victims}) > 1:
            self.broken.append(f"victims of {ask} on several nodes")

    def _inside(self, leaf: Queue, top: Queue) -> bool:
        return top in leaf.route and leaf is not top

    def _guarantees(self, victim: Ask) -> None:
        """Look at the leaf as it will be once all who were asked to go are gone."""
        leaf = victim.app.queue
        for name, value in (leaf.guaranteed or {}).items():
            left = leaf.allocated.get(name, 0) - leaf.preempting.get(name, 0)
            if left < value:
                self.broken.append(f"{leaf.path} falls to {left} of {value}")


def _fence(leaf: Queue) -> Queue:
    for at in leaf.route:
        if at.parent is None or policy_of(at) == "fence":
            return at
    raise AssertionError


def _filled(tree: list[QueueConfig], pods: list[tuple[object, ...]]) -> _Watched:
    world = _Watched(*tree)
    for number, (path, app, size, priority, allows, runs, age) in enumerate(pods):
        ask = world.pod(
            f"p{number}",
            str(path),
            size,
            app=f"{path}-{app}",
            priority=priority,
            allow_self=allows,
            age_s=age,
        )
        node = next((n for n in world.partition.nodes if n.fits(ask.needs)), None)
        if runs and node is not None:
            world.partition.add_allocation(ask, node)
        else:
            world.partition.add_ask(ask)
    return world


@settings(max_examples=60)
@given(tree=_trees(), pods=_PODS)
def test_no_preemption_breaks_a_law_and_none_goes_on_for_ever(
    tree: list[QueueConfig], pods: list[tuple[object, ...]]
) -> None:
    world = _filled(tree, pods)
    quiet = number = 0
    while quiet < 400 and number < 4000:
        number += 1
        before = world.rounds
        world.cycle()
        for victim in world.leave():
            _come_again(world, victim, number)
        world.partition.now_ms += 100
        quiet = quiet + 1 if world.rounds == before else 0
    assert world.broken == []
    assert quiet == 400, "preemption went on and on"
    assert list(partition.violations(world.partition)) == []


def _come_again(world: World, victim: Ask, number: int) -> None:
    """Put a replica in the place of a victim, as its controller would."""
    world.partition.add_ask(
        Ask(
            key=f"{victim.key}-{number}",
            app=victim.app,
            resource=victim.resource,
            priority=victim.priority,
            create_ms=world.partition.now_ms,
            allow_self=victim.allow_self,
        )
    )
