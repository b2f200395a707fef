"""Scenarios of the library as live sandboxes."""

from __future__ import annotations

import re
from itertools import zip_longest

import pytest

from sandbox import actions
from sandbox.base import library
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from scheduler.model import durations
from tests.sandbox.conftest import check_rows, row, tick

pytestmark = pytest.mark.django_db


def made_of(person, name: str) -> Sandbox:
    sandbox = actions.do_create(person, scenario=name).sandbox
    actions.do_play(person, sandbox.pk)
    return sandbox


@pytest.mark.parametrize(
    "name",
    [
        "active-off-and-on",
        "dynamic-reclaim",
        "extender-refuses",
        "kueue-generator",
        "node-failure",
        "one-world-yunikorn",
        "stop-policy",
    ],
)
def test_a_scenario_ticks_in_rows_as_it_does_in_memory(person, name):
    sandbox = made_of(person, name)
    world = assemble(library.files_of(name)).world
    for part in range(3):
        worlds.forget_all()
        tick(sandbox, 35)
        for _ in range(35):
            run_tick(world)
        assert row(sandbox).hash == world.hash(), f"after {35 * (part + 1)} ticks"
    check_rows(sandbox)


def test_every_scenario_of_the_folder_is_in_the_library():
    folders = {path.name for path in library.FOLDER.iterdir() if path.is_dir()}
    assert set(library.names()) == folders
    horizons = [library.scenario_named(name).spec.horizon for name in library.names()]
    assert all(durations.milliseconds(horizon) for horizon in horizons)


def test_the_board_at_an_answer_has_got_to_the_time_that_the_answer_names():
    """An answer that begins with a time is seen then; it is seen at the next stop else."""
    early = []
    for name in library.names():
        stops = library.scenario_named(name).spec.checkpoints
        for stop, after in zip_longest(stops, stops[1:]):
            named = re.match(r"At (\d+) s\b", stop.answer.get("en", ""))
            at = durations.span_ms(stop.at)
            then = durations.span_ms(after.at) if after else at + 10_000
            shown = durations.span_ms(stop.shown) if stop.shown else then
            if named and int(named[1]) * 1000 > shown:
                early.append(f"{name} at {stop.at}: {named[0]}")
    assert early == []
