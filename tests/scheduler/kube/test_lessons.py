"""The lessons of placement come out as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler import durations
from scheduler.expectations import judge
from scheduler.invariants import check
from scheduler.run import read_sources
from scheduler.scenarios import assemble
from scheduler.simulation import simulate
from scheduler.world import World

LIBRARY = Path(__file__).resolve().parents[3] / "sandbox" / "scenarios"
NAMES = sorted(folder.name for folder in LIBRARY.glob("kube-*"))


def test_every_lesson_that_was_asked_for_is_there() -> None:
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_what_a_lesson_expects_happens(name: str) -> None:
    made = assemble(read_sources([LIBRARY / name]))
    assert made.scenario is not None
    horizon = durations.milliseconds(made.scenario.spec.horizon)
    outcome = simulate(made.world, until_ms=horizon)
    verdicts = judge(made.scenario, outcome.decisions)
    assert verdicts
    assert [verdict.text for verdict in verdicts if not verdict.holds] == []
    check(made.world)


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_speaks_three_languages(name: str) -> None:
    made = assemble(read_sources([LIBRARY / name]))
    assert made.scenario is not None
    spec = made.scenario.spec
    texts = [spec.title, spec.summary]
    for checkpoint in spec.checkpoints:
        texts += [t for t in (checkpoint.say, checkpoint.ask, checkpoint.answer) if t]
    assert all(set(text) == {"en", "zh-Hans", "zh-Hant"} for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_stored_and_loaded_midway_ends_the_same(name: str) -> None:
    made = assemble(read_sources([LIBRARY / name]))
    world = made.world
    simulate(world, until_ms=7_000)
    again = World.decode(world.encode())
    assert again.hash() == world.hash()
    simulate(world, until_ms=40_000)
    simulate(again, until_ms=40_000)
    assert again.hash() == world.hash()
