"""A partition decides as the release of YuniKorn that its world names."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.yunikorn.preemption import quota_change
from scheduler.engine.yunikorn.preemption.attempts import scope_of
from tests.scheduler.yunikorn.worlds import HOUR_MS, World, queue

DELAY = {"preemption_delay": "1s"}
HOUR_S = 3600


def released(release: str, *queues: Any, **given: Any) -> World:
    return World(*queues, laws="released", release=release, **given)


# ---- types of the ask


def over_on_one_type(release: str) -> list[tuple[str, ...]]:
    """Return who goes where a queue is over on cores, and holds no memory of its own.

    As TestTryPreemption_VictimQueue_With_OG_And_UG_ResTypes of yunikorn-core.
    """
    victim = queue("victim", guaranteed={"vcore": 10_000, "memory": 2})
    made = released(
        release,
        queue("parent", victim, queue("asks", guaranteed=10, **DELAY)),
        nodes={"n": 10, "m": 10},
    )
    made.running("one", "root.parent.victim", 10, "n", age_s=20)
    made.running("two", "root.parent.victim", 10, "m", age_s=10)
    made.waiting("ask", "root.parent.asks", 5)
    made.cycle()
    return made.preemptions()


def test_a_type_that_is_not_asked_hides_no_victim_since_1_8():
    assert [who[1] for who in over_on_one_type("1.8.0")] == ["two"]
    assert over_on_one_type("1.7.0") == []


def over_on_another_type(release: str) -> list[tuple[str, ...]]:
    """Return who goes for an ask of cores whose queue is over on memory."""
    made = released(
        release,
        queue(
            "parent",
            queue("victim", guaranteed=10),
            queue("asks", guaranteed={"vcore": 10_000, "memory": 2}, **DELAY),
        ),
        nodes={
            "n": {"vcore": 10_000, "memory": 3},
            "m": {"vcore": 10_000, "memory": 3},
        },
    )
    made.running("one", "root.parent.victim", 10, "n", age_s=20)
    made.running("two", "root.parent.victim", 5, "m", age_s=10)
    made.running("own", "root.parent.asks", {"vcore": 5_000, "memory": 3}, "m")
    made.waiting("ask", "root.parent.asks", 5)
    made.cycle()
    return made.preemptions()


def test_a_type_of_which_the_ask_has_too_much_bars_no_other_since_1_8():
    assert [who[1] for who in over_on_another_type("1.8.0")] == ["two"]
    assert over_on_another_type("1.7.0") == []


# ---- attempts


def attempted(release: str) -> list[tuple[str, ...]]:
    """Return who goes for an ask behind ten that may not preempt."""
    made = released(
        release,
        queue("victim", guaranteed=1),
        queue("asks", guaranteed=20, **DELAY),
        nodes={"n": 4},
    )
    made.running("one", "root.victim", 4)
    for number in range(10):
        made.waiting(f"meek-{number}", "root.asks", 3, priority=9, allow_other=False)
    made.waiting("ask", "root.asks", 3)
    made.cycle()
    return made.preemptions()


def test_who_may_not_preempt_uses_no_attempt_up_since_1_8():
    assert len(attempted("1.8.0")) == 1
    assert attempted("1.7.0") == []


# ---- reservations


def overdue(release: str) -> list[tuple[str, ...]]:
    """Return who goes on a node that a lesser ask has kept for five hours."""
    made = released(
        release,
        queue("victim", guaranteed=1),
        queue("asks", guaranteed=20, **DELAY),
        queue("waits"),
        nodes={"n": 4},
    )
    made.running("one", "root.victim", 4)
    lesser = made.waiting("lesser", "root.waits", 3, age_s=5 * HOUR_S, priority=-1)
    made.partition.reserve(lesser, made.partition.nodes.by_name["n"])
    made.waiting("ask", "root.asks", 3)
    made.cycle()
    return [who for who in made.preemptions() if who[0] == "ask"]


def test_a_node_that_is_long_overdue_is_taken_since_1_8():
    assert len(overdue("1.8.0")) == 1
    assert overdue("1.7.0") == []


@pytest.mark.parametrize(("release", "kept"), [("1.9.0", False), ("1.8.0", True)])
def test_a_reservation_that_does_not_fit_its_queue_ends_since_1_9(release, kept):
    made = released(release, queue("full", max=4), nodes={"n": 4, "m": 4})
    made.running("one", "root.full", 3)
    ask = made.waiting("ask", "root.full", 3)
    made.partition.reserve(ask, made.partition.nodes.by_name["m"])
    made.partition.now_ms += 2 * HOUR_MS + 1
    made.cycle()
    assert (ask.reserved_on is not None) is kept


# ---- scope


@pytest.mark.parametrize(
    ("release", "used", "scope"),
    [
        ("1.9.0", 3, "root.team.asks"),
        ("1.8.0", 3, "root"),
        ("1.8.0", 4, "root.team"),
    ],
)
def test_victims_are_looked_for_below_a_full_queue(release, used, scope):
    made = released(release, queue("team", queue("asks"), max=4), nodes={"n": 8})
    made.running("one", "root.team.asks", used)
    ask = made.waiting("ask", "root.team.asks", 2)
    by_next = made.partition.rules.fenced_by_next
    assert scope_of(ask, fenced_by_next=by_next)[0].path == scope


# ---- what came with 1.8


@pytest.mark.parametrize(("release", "there"), [("1.8.0", True), ("1.7.0", False)])
def test_a_lowered_maximum_is_enforced_since_1_8(release, there):
    made = released(release, queue("a"), quota_preemption=True)
    assert quota_change.enabled(made.partition) is there


@pytest.mark.parametrize(("release", "goes"), [("1.9.0", "cores"), ("1.8.0", "young")])
def test_quota_preemption_takes_who_has_the_types_asked_for_first_since_1_9(
    release, goes
):
    made = released(release, queue("a"), nodes={"n": {"vcore": 9_000, "memory": 9}})
    made.running("cores", "root.a", {"vcore": 4_000}, age_s=20)
    made.running("young", "root.a", {"vcore": 4_000, "memory": 4}, age_s=10)
    leaf = made.partition.root.children["a"]
    by_ask = made.partition.rules.victims_by_ask
    chosen = quota_change.choose(leaf, {"vcore": 4_000}, by_ask=by_ask)
    assert [pod.key for pod in chosen] == [goes]
