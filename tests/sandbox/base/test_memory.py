"""What a process that holds worlds lets go of is freed in time."""

from __future__ import annotations

import gc
import weakref

import pytest

from sandbox.base import memory
from sandbox.base.memory import LEAST_RELEASED, note_released


class Knot:
    """Something that only the collector frees, as the parts of a world."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def knot(monkeypatch):
    monkeypatch.setattr(memory, "_seldom", True)
    monkeypatch.setattr(memory, "_released", 0)
    gc.disable()
    yield weakref.ref(Knot())
    gc.enable()


def test_many_objects_that_were_let_go_are_collected(knot):
    note_released(LEAST_RELEASED + 1, kept=0)
    assert knot() is None


def test_few_beside_what_is_kept_are_not_worth_it(knot):
    note_released(LEAST_RELEASED + 1, kept=10 * LEAST_RELEASED)
    assert knot() is not None


def test_they_are_counted_over_many_times(knot):
    for _ in range(3):
        note_released(LEAST_RELEASED // 2, kept=0)
    assert knot() is None
