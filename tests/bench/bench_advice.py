"""The advisor's search of larger worlds beside random search and settings by hand.

    ./dev bench tests/bench/bench_advice.py -k "drawn_by_seed and 101"

Ten worlds by people and twelve drawn by seed, one search by each way; more of them, in a
file that a bench goes on from, is `python -m tests.bench.advice.figures`. What each way is given and what counts as its
answer is in advice_ways.py; figures are shares of the base's loss with seeds that nothing
before used, less is better.
"""

from __future__ import annotations

import json
import sys

import pytest

from tests.bench.advice.drawn import MEASURED, drawn_world
from tests.bench.advice.figures import measured, table
from tests.bench.advice.ten import KEPT_ASIDE, LOOKED_AT
from tests.bench.advice.ways import WAYS
from tests.bench.advice.worlds import LargerWorld
from tests.bench.size import sized, some

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("world", some([*LOOKED_AT, *KEPT_ASIDE]), ids=lambda w: w.name)
def test_each_way_through_a_world_by_people(world, capsys):
    write_of(world._replace(jobs=sized(world.jobs, 30)), capsys)


@pytest.mark.parametrize("seed", some(MEASURED))
def test_each_way_through_a_world_drawn_by_seed(seed, capsys):
    write_of(drawn_world(seed), capsys)


def write_of(world: LargerWorld, capsys) -> None:
    """Write what each way comes to in a world."""
    found = list(measured(world, 1, set()))
    with capsys.disabled():
        sys.stdout.write("\n" + table(found))
    assert [one["way"] for one in found] == list(WAYS)
    assert json.loads(json.dumps(found)) == found
