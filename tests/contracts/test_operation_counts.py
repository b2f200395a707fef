"""What a piece of work does may not grow unnoticed: operations are counted, not time."""

from __future__ import annotations

import json
import math

import pytest

from tests.bench.compare import COUNTED, COUNTS, PYTHON, counted, exponent, ratio

RECORD = json.loads(COUNTS.read_text(encoding="utf-8"))
#: A change may cost so much without a word, and save so much.
FREE, SAVED = 1.03, 1.1


@pytest.mark.skipif(RECORD["python"] != PYTHON, reason="counted on another Python")
@pytest.mark.parametrize("name", COUNTED)
def test_a_case_does_what_was_recorded(name):
    """No more; and no less, or what was saved could be spent again unnoticed."""
    found, before = counted(name), RECORD["cases"][name]
    for what, known in before.items():
        assert known / SAVED <= found[what] <= known * FREE, (
            f"{name}: {found[what]} {what}, {known} were recorded in {COUNTS.name}; "
            "if that is meant, record it with ./dev bench --count"
        )


def test_a_ratio_has_an_interval_around_its_mean():
    low, middle, high = ratio([(1.0, 2.0), (2.0, 4.4), (1.0, 1.8)])
    assert low < middle < high
    assert math.isclose(middle, (2 * 2.2 * 1.8) ** (1 / 3))


def test_what_grows_as_its_size_has_an_exponent_of_one():
    assert math.isclose(exponent([1.0, 4.0, 16.0]), 1.0)
