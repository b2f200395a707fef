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
