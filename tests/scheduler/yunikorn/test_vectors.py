"""Decisions of the real yunikorn-core, taken again by ours."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conformance import yunikorn

HERE = Path(__file__).resolve().parents[2] / "vectors" / "yunikorn"
#: More of them than are kept here; minutes, and therefore only when asked for.
ALL = Path(os.environ.get("QUOTALAB_VECTORS", "not given")) / "yunikorn"
SUITES = (
    "sort",
    "nodes",
    "preemption",
    "cycle",
    "laws",
    "thin-combo",
    "thin-preemption",
    "quota-change",
    "limits",
    "gang",
    "placement",
    "config",
)


def _vectors(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path) as lines:
        for line in lines:
            yield msgspec.json.decode(line)


def _differences(path: Path) -> list[str]:
    return [
        f"{vector['id']}: {difference}"
        for vector in _vectors(path)
        for difference in yunikorn.run(vector)
    ]


@pytest.mark.parametrize("suite", SUITES)
def test_our_decisions_are_those_of_the_real_one(suite: str) -> None:
    assert _differences(HERE / f"{suite}.jsonl.gz") == []


@pytest.mark.parametrize("suite", SUITES)
def test_and_so_they_are_over_all_that_were_recorded(suite: str) -> None:
    path = ALL / f"{suite}.jsonl.gz"
    if not path.exists():
        pytest.skip("QUOTALAB_VECTORS names no folder with all recorded decisions")
    assert _differences(path) == []


def test_every_vector_is_recognised() -> None:
    vector = next(_vectors(HERE / "laws.jsonl.gz"))
    assert yunikorn.handles(vector)
    assert not yunikorn.handles({"id": "x", "mode": "cycle"})


def test_a_wrong_expectation_is_distinguished() -> None:
    vector = next(_vectors(HERE / "laws.jsonl.gz"))
    vector["expect"]["outcomes"][0]["victims"] = ["nobody"]
    assert [d.split(":")[0] for d in yunikorn.run(vector)] == ["victims"]
