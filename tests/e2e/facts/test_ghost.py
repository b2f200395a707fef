"""The comparison of ghosts and REST notices a side that is not REST's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.facts import ghost

USED = {"of": "used", "queue": "a", "flavor": "f", "resource": "cpu"}
SIDES = {
    "without": {"atMs": [0, 5000], "values": [1000, 4000]},
    "changed": {"atMs": [0], "values": [1000]},
}
ROW = {"subject": "Workload/ns/w", "fates": ["endsLater"], "laterMs": 85_000}
SUMMED = USED | SIDES | {"of": "cohortUsed", "queue": "c"}
VERDICT = {
    "lines": [USED | SIDES, SUMMED],
    "seeds": [{"verdict": {"workloads": [ROW]}}],
}
CELL = {"flavor": "f", "resource": "cpu", "used": "4000"}
QUEUE = {
    "kind": "ClusterQueue",
    "key": "ClusterQueue//a",
    "name": "a",
    "cohort": "c",
    "cells": [CELL],
}
ROWS = {
    "Sandbox//sandbox": {"kind": "Sandbox", "tMs": 6000, "tickMs": 1000},
    "ClusterQueue//a": QUEUE,
    "Cohort//c": {"kind": "Cohort", "key": "Cohort//c", "name": "c", "parent": ""},
}
BAR = {"key": "ClusterQueue//a", "what": "usage f/cpu", "text": "1, not 4"}
SUM = {"key": "Cohort//c", "what": "usage f/cpu", "text": "1, not 4"}


EQUAL = {"key": "ClusterQueue//a", "what": "usage g/cpu", "text": "1 / 8"}


def seen(
    *drawn: dict[str, str],
    at: str = "tick 6",
    mark: str = "+1:25",
    equal: tuple[dict[str, str], ...] = (),
) -> Any:
    marks = [["Workload/ns/w", "later", mark]]
    facts = [{"key": "ClusterQueue//a", "what": "usage f/cpu"}]
    ghosts = {"at": at, "drawn": drawn, "equal": equal, "marks": marks}
    return {"tick": "6", "facts": facts, "ghosts": ghosts}


def test_what_rest_says_of_both_sides_is_right() -> None:
    assert list(ghost.wrong(seen(BAR, SUM), VERDICT, ROWS)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        seen(),
        seen(BAR | {"text": "4, not 1"}),
        seen(BAR, SUM | {"text": "4, not 1"}),
        seen(BAR, BAR | {"what": "usage f/memory"}),
        seen(BAR, at="tick 5"),
        seen(BAR, mark="+1:24"),
    ],
)
def test_another_number_is_noticed(wrong: Any) -> None:
    assert len(list(ghost.wrong(wrong, VERDICT, ROWS))) == 1


BOTH = USED | {"flavor": "g"} | dict.fromkeys(SIDES, SIDES["changed"])
WITH_BOTH = VERDICT | {"lines": [USED | SIDES, SUMMED, BOTH]}
CELLS = [CELL, CELL | {"flavor": "g", "used": "1000"}]
TWO_CELLS = ROWS | {"ClusterQueue//a": QUEUE | {"cells": CELLS}}


def test_a_number_that_both_sides_have_is_right() -> None:
    one = seen(BAR, equal=(EQUAL,))
    assert list(ghost.wrong(one, WITH_BOTH, TWO_CELLS)) == []


@pytest.mark.parametrize(
    "wrong", [EQUAL | {"text": "2 / 8"}, EQUAL | {"what": "usage f/cpu"}]
)
def test_a_number_that_only_one_side_has_is_noticed(wrong: dict[str, str]) -> None:
    (said,) = ghost.wrong(seen(BAR, equal=(wrong,)), WITH_BOTH, TWO_CELLS)
    assert said.startswith("equal in")


def test_a_run_that_became_something_else_is_noticed() -> None:
    rows = ROWS | {"ClusterQueue//a": QUEUE | {"cells": [CELL | {"used": "3000"}]}}
    (said,) = ghost.wrong(seen(BAR), VERDICT, rows)
    assert said.startswith("without the change a uses 4000")
