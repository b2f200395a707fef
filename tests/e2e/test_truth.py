"""The comparison of page and REST notices a number that is not REST's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.truth import Fact, differs

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
    def found(text: str) -> list[str]:
        return list(differs(Fact("w", "", what, text, "", ""), WAITS, CARDS))

    assert found(right) == []
    assert found(wrong) != []


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

    def found(text: str) -> list[str]:
        return list(differs(Fact("k", "", what, text, "", ""), row, NODES))

    assert found(right) == []
    assert found(wrong) != []
