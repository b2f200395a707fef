"""An application whose requests cannot be scheduled pauses."""

from __future__ import annotations

import pytest

from tests.scheduler.yunikorn.worlds import NOW_MS, World, queue


def _world(backoff: str = "1", **given: str) -> World:
    """Two requests that fit nowhere, and one behind them that would fit."""
    made = World(
        queue(
            "q",
            application_unschedasks_backoff=backoff,
            application_unschedasks_backoff_delay="10s",
        ),
        queue("other"),
        nodes={"half": 8, "n": 4},
        laws="released",
        **given,
    )
    made.running("busy", "root.other", 4, node="half")
    for number in range(2):
        made.waiting(f"large{number}", "root.q", 5, priority=5, age_s=0)
    made.waiting("small", "root.q", 1, age_s=0)
    return made


def test_the_rest_of_its_requests_are_not_looked_at() -> None:
    made = _world()
    made.cycle()
    assert "small" not in made.places()
    assert made.partition.apps["app-of-root.q"].backoff_ms == NOW_MS + 10_000


def test_without_it_the_small_request_is_placed() -> None:
    made = _world("0")
    made.cycle()
    assert "small" in made.places()


@pytest.mark.parametrize(("release", "placed"), [("1.7.0", True), ("1.8.0", False)])
def test_no_application_pauses_before_1_8(release: str, placed: bool) -> None:
    made = _world(release=release)
    made.cycle()
    assert ("small" in made.places()) is placed


def test_too_few_of_them_are_no_reason_to_pause() -> None:
    made = _world("3")
    made.cycle()
    assert "small" in made.places()


def test_nothing_ends_the_pause_early() -> None:
    made = _world()
    made.cycle()
    made.waiting("tiny", "root.q", 1, priority=9, age_s=0)
    made.cycle()
    assert "tiny" not in made.places()


def test_after_the_delay_it_is_looked_at_again() -> None:
    made = _world()
    made.cycle()
    made.waiting("tiny", "root.q", 1, priority=9, age_s=0)
    made.partition.now_ms += 10_000
    made.cycle()
    assert "tiny" in made.places()
