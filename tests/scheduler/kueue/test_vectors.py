"""What the real Kueue decided on contended states, decided again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance import kueue, kueue_topology, vectors

HERE = Path(__file__).parents[2] / "vectors" / "kueue"
#: More of them than are kept here; minutes, and therefore only when asked for.
ALL = Path(os.environ.get("QUOTALAB_VECTORS", "not given")) / "kueue"


#: Suites of parts of Kueue that are not simulated yet.
LATER = ("jobs.",)


def failures(path: Path) -> list[str]:
    return [
        f"{vector['id']}: {difference}"
        for vector in vectors(path)
        for difference in (
            kueue_topology if kueue_topology.handles(vector) else kueue
        ).run(vector)
    ]


@pytest.mark.parametrize(
    "name",
    [
        "cycle",
        "deep",
        "settle",
        "timed",
        "script",
        "afs",
        "checks",
        "transform",
        "topology",
        "topology-cycles",
    ],
)
def test_decides_as_the_real_kueue_did(name):
    assert failures(HERE / f"{name}.jsonl.gz") == []


def test_every_recorded_decision_is_taken_again():
    files = [
        path
        for path in sorted(ALL.glob("*.jsonl.gz"))
        if not path.name.startswith(LATER)
    ]
    if not files:
        pytest.skip("QUOTALAB_VECTORS names no folder with all recorded decisions")
    assert [line for path in files for line in failures(path)] == []
