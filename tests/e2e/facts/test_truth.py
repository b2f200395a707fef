"""The comparison of page and REST notices a number that is not REST's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.facts.board import Fact
from tests.e2e.facts.truth import Row, differs

CELLS = [
    {"resource": "cpu", "used": "1500", "nominal": "4000"},
    {"resource": "cpu", "used": "500", "nominal": str(2**63 - 1)},
]
QUEUE: dict[str, Any] = {"kind": "ClusterQueue", "cells": CELLS, "share": None}
NODES = {
    name: {"kind": "Node", "state": state}
    for name, state in (("a", "ready"), ("b", "ready"), ("c", "failed"))
}


WAITS = {
    "kind": "Workload",
    "key": "w",
    "phase": "inadmissible",
    "createdMs": 500,
    "clusterQueue": "a",
    "sticky": False,
    "priority": 1,
    "orderUs": "7",
    "uid": "w",
    "totals": {"cpu": "8000", "nvidia.com/gpu": "8"},
}
SOONER = WAITS | {"key": "v", "uid": "v", "orderUs": "6"}
CARDS = {
    "Sandbox//sandbox": {"kind": "Sandbox", "tMs": 90_600},
    "w": WAITS,
    "v": SOONER,
}


def agrees(
    key: str, source: str, what: str, text: str, row: Row, rows: dict[str, Row]
) -> bool:
    return not list(differs(Fact(key, source, what, text, "", ""), row, rows))


@pytest.mark.parametrize(
    ("what", "right", "wrong"),
    [
        ("wait", "1 min 30 s", "1 min 29 s"),
        ("rank", "#2", "#1"),
        ("request", "4 × 2 GPU", "4 × 1 GPU"),
        ("request", "8 GPU · worker-1", "1 GPU · worker-1"),
    ],
)
def test_a_number_of_a_card_is_held_against_its_row(
    what: str, right: str, wrong: str
) -> None:
    assert agrees("w", "", what, right, WAITS, CARDS)
    assert not agrees("w", "", what, wrong, WAITS, CARDS)


@pytest.mark.parametrize(
    ("what", "right", "wrong"),
    [
        ("at cells|0|used cpu", "1.5", "1.6"),
        ("at cells|1|nominal cpu", "∞", "4"),
        ("at share share", "∞", "0"),
        ("cells used cpu", "2", "1.5"),
        ("amounts totals", "4 CPU, 512 MiB", "4 CPU, 1 GiB"),
        ("nodes", "2 ready of 3: 0 cordoned, 1 not ready", "3 ready of 3: 0, 0"),
        ("rows Node", "1 to 3 of 3", "1 to 3 of 4"),
    ],
)
def test_a_number_is_held_against_its_place(what: str, right: str, wrong: str) -> None:
    row = QUEUE | {"totals": {"cpu": "4000", "memory": str(2**29), "pods": "1"}}

    assert agrees("k", "", what, right, row, NODES)
    assert not agrees("k", "", what, wrong, row, NODES)


EVENTS = {
    "items": [
        {"revision": 3, "seq": n, "tick": 7, "tMs": 6500, "type": "Preempt", "by": "w"}
        | {"reason": "InClusterQueue", "message": "for w"}
        for n in (1, 2)
    ]
}
FILM = {
    "targets": [{"workload": "a"}, {"workload": "b"}],
    "tick": 7,
}


@pytest.mark.parametrize(
    ("answer", "what", "right", "wrong"),
    [
        (
            EVENTS,
            "event 3.1",
            "7\t00:00:06\tPreempt\tInClusterQueue for w",
            "8\t00:00:06",
        ),
        (EVENTS, "group 3.1", "w\n7\n2 victims", "w\n7\n1 victim"),
        (EVENTS, "events 200", "2 of 2", "2 of 3"),
        (EVENTS, "reason InClusterQueue", "2", "1"),
        (FILM, "at tick before", "Fork at 6", "Fork at 7"),
        (FILM, "said", "at tick 7", "at tick 6"),
        (FILM, "rest targets 1", "and 1 more", "and 2 more"),
    ],
)
def test_a_number_of_an_answer_is_held_against_it(
    answer: dict[str, Any], what: str, right: str, wrong: str
) -> None:
    assert agrees("", "/x", what, right, answer, {})
    assert not agrees("", "/x", what, wrong, answer, {})
