"""Random clusters, edited while they run and read back in between, say what they said before."""

from __future__ import annotations

import pytest

from tests.scheduler.kueue.random_runs.run import digest, kept

KEPT = kept()
SEEDS = list(KEPT)
AT_ONCE = 5
WAY = "python -m tests.scheduler.kueue.random_runs.run"


@pytest.mark.parametrize("first", range(0, len(SEEDS), AT_ONCE))
def test_runs_of_random_clusters_are_as_before(first):
    for seed in SEEDS[first : first + AT_ONCE]:
        assert digest(int(seed)) == KEPT[seed], (
            f"seed {seed} says something else: compare `{WAY} {seed}` of this and the "
            f"last commit; if all of it is meant, `{WAY} --write` keeps the new words."
        )
