"""A film shows the decision that was made, and asks before it tells."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scheduler.analysis.explain.film.moments import (
    film_now,
    film_of,
    other_strategy,
)
from scheduler.analysis.explain.shapes.film import Film
from scheduler.cli.run import assemble_as, read_sources
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Bind, Decision, PermitWait, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import job
from tests.scheduler.explain.worlds import lender_and_borrower

FILMED = ("Admit", "Preempt", "Bind", "PermitWait", "Wait", "Fail")
#: Scenario -> how many ticks of it hold a decision of each kind that is wanted of it.
SCENARIOS = {
    "classical-fill-back": 32,
    "fair-strategies-in-order": 65,
    "friday-rush": 66,
    "rack-local-training": 12,
    "kube-points-of-a-cycle": 32,
    "kube-gang-in-tree": 30,
    "kube-two-schedulers": 20,
    "preemption-budget": 15,
    "yunikorn-spark-driver": 40,
    "yunikorn-order-of-queues": 20,
    "yunikorn-daemonset": 40,
}


def _films(name: str, ticks: int) -> Iterator[tuple[Decision, Film]]:
    """Yield the film of the first decision of each kind in a scenario."""
    world = assemble_as(read_sources([f"sandbox/scenarios/{name}"]), "").world
    seen = set[str]()
    for _ in range(ticks):
        before = fork(world)
        for decision in run_tick(world):
            kind = type(decision).__name__
            subject = decision.by if kind == "Preempt" else decision.subject
            if kind in seen or kind not in FILMED or subject is None:
                continue
            seen.add(kind)
            yield decision, film_of(before, subject, decision)
        world.take()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_film_ends_with_what_was_decided(name: str) -> None:
    found = list(_films(name, SCENARIOS[name]))
    assert found
    for decision, film in found:
        moved: dict[str, str] = {}
        for frame in film.frames:
            moved |= frame.moves
        if isinstance(decision, Preempt):
            assert film.frames[-1].moves[str(decision.subject)] == "line"
        elif isinstance(decision, Bind | PermitWait):
            assert moved[film.subject] == f"Node/{decision.node}"
        elif type(decision).__name__ == "Admit":
            assert moved[film.subject] == "in"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_question_has_no_answer_in_it(name: str) -> None:
    for _, film in _films(name, SCENARIOS[name]):
        for frame, after in zip(film.frames, film.frames[1:], strict=False):
            if frame.bet is None:
                continue
            assert all(test.holds is None for test in frame.tests)
            assert (frame.moves, frame.marks, frame.used) == ({}, {}, {})
            assert after.said.text not in frame.said.text
            assert 0 <= frame.bet.right < len(frame.bet.choices)
        assert film.frames[-1].bet is None


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_step_has_a_sentence_of_its_own(name: str) -> None:
    """A screen reader says what changed: a sentence that was just said, it does not."""
    for _, film in _films(name, SCENARIOS[name]):
        before = ""
        for frame in film.frames:
            assert frame.title.code
            assert frame.said.code
            assert frame.said.text.strip()
            assert f"{frame.title.text} {frame.said.text}" != before
            before = f"{frame.title.text} {frame.said.text}"


def _reclaim() -> World:
    world = lender_and_borrower(
        *(job(f"b{n}", queue="borrower", cpu=2) for n in range(4)),
        job("p", queue="lender", cpu=3, arrival="5s"),
    )
    for _ in range(4):
        run_tick(world)
    return world


def test_the_same_moment_is_shown_under_the_other_strategy() -> None:
    world = _reclaim()
    subject = Key("Workload", "default", "job-p-ch2n9")  # it arrives in this tick
    one, other = film_of(world, subject), film_of(other_strategy(world), subject)
    assert {one.law, other.law} == {"Classical", "FairSharing"}


def test_a_moment_without_a_cycle_is_no_film() -> None:
    world = _reclaim()
    with pytest.raises(SchedulerError, match="no scheduling cycle"):
        film_of(world, Key("Workload", "default", "nobody"))


def test_who_holds_quota_would_not_be_tried() -> None:
    world = _reclaim()
    held = next(k for k in world.objects if k.kind == "Workload" and "b0" in k.name)
    with pytest.raises(SchedulerError, match="holds quota"):
        film_now(world, held)
