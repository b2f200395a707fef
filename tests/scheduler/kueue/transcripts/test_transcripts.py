"""Runs of recorded cases and of worlds, and random placements, say word by word what they said when they were kept."""

from __future__ import annotations

import copy
from functools import cache

import pytest

from tests.scheduler.kueue.transcripts import placed, simulated
from tests.scheduler.kueue.transcripts.played import KEPT, Vector, cases, play
from tests.scheduler.kueue.transcripts.simulated import digest
from tests.scheduler.kueue.transcripts.transcript import (
    Objects,
    Transcript,
    read_back,
    written,
)
from tests.scheduler.kueue.transcripts.worlds import WORLDS

DIGESTS = dict(line.split() for line in KEPT.read_text().splitlines())
WORDS = dict(line.split(": ") for line in simulated.KEPT.read_text().splitlines())
PLACES = placed.KEPT.read_text().split()
WAY = "python -m tests.scheduler.kueue.transcripts.played"
SIMULATED = "python -m tests.scheduler.kueue.transcripts.simulated"
PLACED = "python -m tests.scheduler.kueue.transcripts.placed"


@cache
def known() -> dict[str, Vector]:
    return {case["id"]: case for case in cases()}


def played(name: str) -> tuple[Transcript, Objects]:
    return play(copy.deepcopy(known()[name]))  # steps edit the objects


@pytest.mark.parametrize("name", DIGESTS)
def test_a_run_says_what_it_said_before(name):
    digest = played(name)[0].digest()
    assert digest == DIGESTS[name], (
        f"{name} says something else: compare `{WAY} {name}` of this and the last "
        f"commit; if all of it is meant, `{WAY} --write` keeps the new words."
    )


@pytest.mark.parametrize("name", list(DIGESTS)[::2])
def test_what_is_read_back_is_written_alike(name):
    transcript, objects = played(name)
    stage = transcript.stage
    stage.reconcile()  # what is still to be done is done when it is read back
    again = read_back(stage, objects)
    assert [written(again, obj) for obj in objects.values()] == [
        written(stage, obj) for obj in objects.values()
    ]
    assert (again.dump_state(), again.due()) == (stage.dump_state(), stage.due())


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_says_what_it_said_before(name):
    assert digest(WORLDS[name]) == WORDS[name], (
        f"{name} says something else: compare `{SIMULATED} '{name}'` of this and the last "
        f"commit; if all of it is meant, `{SIMULATED} --write` keeps the new words."
    )


@pytest.mark.parametrize("part", range(placed.PARTS))
def test_places_on_random_trees_are_as_before(part):
    assert placed.digest(part) == PLACES[part], (
        f"part {part} says something else: compare `{PLACED} {part}` of this and the "
        f"last commit; if all of it is meant, `{PLACED} --write` keeps the new words."
    )
