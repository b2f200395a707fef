"""The advisor's search of larger worlds beside random search and settings by hand.

    ./dev bench tests/bench/bench_advice.py -k "drawn and 101"

Ten worlds by people and twelve drawn by seed, one search by each way; five of each, in a
file that a bench goes on from, is `python -m tests.bench.advice_figures`, an hour and a
half of one core without the compiled engine. What each way is given and what counts as its
answer is in advice_ways.py; figures are shares of the base's loss with seeds that nothing
before used, less is better.
"""

from __future__ import annotations

import json
import sys

import pytest

from tests.bench.advice_figures import measured, table, worlds
from tests.bench.advice_ways import WAYS

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_each_way_through_a_world(world, capsys):
    found = list(measured(world, 1, set()))
    with capsys.disabled():
        sys.stdout.write("\n" + table(found))
    assert [one["way"] for one in found] == list(WAYS)
    assert json.loads(json.dumps(found)) == found
