"""What the real Kueue decided on contended states, decided again."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.replay import kueue, vectors

HERE = Path(__file__).parents[2] / "vectors" / "kueue"
ALL = Path(__file__).parents[4] / "shared" / "conformance" / "kueue"


def failures(path: Path) -> list[str]:
    return [
        f"{vector['id']}: {difference}"
        for vector in vectors(path)
        for difference in kueue.run(vector)
    ]


@pytest.mark.parametrize("mode", ["cycle", "settle", "timed"])
def test_decides_as_the_real_kueue_did(mode):
    assert failures(HERE / f"{mode}.jsonl.gz") == []


def test_every_recorded_decision_is_taken_again():
    files = sorted(ALL.glob("*.jsonl.gz"))
    if not files:
        pytest.skip("the full set of recorded decisions is not on this machine")
    assert [line for path in files for line in failures(path)] == []
