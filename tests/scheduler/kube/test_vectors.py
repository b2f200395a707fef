"""Decisions of the real kube-scheduler, taken again by ours."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import msgspec
import pytest

from tests.conformance import kube

HERE = Path(__file__).resolve().parents[2] / "vectors" / "kube"
#: More of them than are kept here; minutes, and therefore only when asked for.
ALL = Path(os.environ.get("QUOTALAB_VECTORS", "not given")) / "kube"
#: Permit time-outs of one instant: the real timers fired in another order.
RACES = {"coscheduling-bound/A/0837"}
SUITES = sorted(path.name for path in HERE.glob("*.jsonl.gz"))


def _differences(path: Path) -> list[str]:
    with gzip.open(path) as lines:
        vectors = [msgspec.json.decode(line) for line in lines]
    return [
        f"{vector['id']}: {difference}"
        for vector in vectors
        if vector["id"] not in RACES
        for difference in kube.run(vector)
    ]


@pytest.mark.parametrize("suite", SUITES)
def test_our_decisions_are_those_of_the_real_one(suite: str) -> None:
    assert _differences(HERE / suite) == []


@pytest.mark.parametrize("suite", SUITES)
def test_and_so_they_are_over_all_that_were_recorded(suite: str) -> None:
    if not (ALL / suite).exists():
        pytest.skip("QUOTALAB_VECTORS names no folder with all recorded decisions")
    assert _differences(ALL / suite) == []


def test_a_wrong_expectation_is_reported_by_name_and_place() -> None:
    with gzip.open(HERE / "filters.jsonl.gz") as lines:
        vector = msgspec.json.decode(next(lines))
    vector["expected"]["pods"][0]["feasible"] = ["elsewhere"]
    assert any("feasible" in difference for difference in kube.run(vector))
