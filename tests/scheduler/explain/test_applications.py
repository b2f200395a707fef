"""Why a YuniKorn application waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.analysis.explain.asks import explain_ask
from scheduler.analysis.explain.queues import explain_application
from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import node, world_of
from tests.scheduler.explain.worlds import full_yunikorn

LIBRARY = Path(__file__).parents[3] / "sandbox/scenarios"


def _waiting(world: World) -> str:
    assert world.yunikorn is not None
    return world.yunikorn.partition.asks["default/p"].app.id


def test_an_application_that_waits_says_what_both_laws_would_do() -> None:
    world = full_yunikorn()
    before = world.hash()
    answer = explain_application(world, _waiting(world))
    assert (answer.queue, answer.waiting) == ("root.prod", ["default/p"])
    assert answer.next is not None
    assert {plan.laws for plan in answer.next.plans} == {"released", "documented"}
    assert answer.laws_differ == answer.next.laws_differ
    assert world.hash() == before


def test_an_application_that_runs_has_no_next_ask() -> None:
    world = full_yunikorn()
    assert world.yunikorn is not None
    running = world.yunikorn.partition.asks["default/t0"].app.id
    answer = explain_application(world, running)
    assert "default/t0" in answer.placed
    assert (answer.waiting, answer.next) == ([], None)


def test_only_yunikorn_has_applications() -> None:
    with pytest.raises(SchedulerError, match="no applications"):
        explain_application(world_of(node("n"), stack="kube"), "a")
    with pytest.raises(SchedulerError, match="no application 'none'"):
        explain_application(full_yunikorn(), "none")


@pytest.mark.parametrize(("scenario", "used"), [("equal", 70), ("weighted", 82)])
def test_a_placement_says_how_full_its_node_is_by_the_weights(
    scenario: str, used: int
) -> None:
    folder = LIBRARY / f"yunikorn-score-{scenario}"
    world = assemble(read_sources([folder])).world
    simulate(world, until_ms=15_000)
    found = explain_ask(world, Key("Pod", "default", "fills-hot"))
    assert any(f"on hot, which is {used}% used" in text for text in found.sentences)
    shares = {row.node: round(100 * row.used) for row in found.node_verdicts}
    assert shares == {"hot": used, "even": 80}
