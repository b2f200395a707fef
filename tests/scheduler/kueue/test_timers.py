"""Timeouts, backoffs and deadlines are those of the text, read second by second."""

from __future__ import annotations

import random

from scheduler.replay import kueue
from tests.scheduler.kueue.reference.timers import Event, OpenOrderError, Timers, case

CASES = 25


def decided(script: dict) -> list[Event]:
    return [
        (event["tMs"] // 1000, event["ev"], event["wl"][3:], event.get("reason", ""))
        for event in kueue.decide(script)["events"]
    ]


def expected(script: dict) -> tuple[list[Event], int | None]:
    """Return the events of the text, and of how many it tells; None = of all."""
    try:
        return Timers(script).run(), None
    except OpenOrderError as tie:
        return tie.events, len(tie.events)


def test_timers_of_drawn_workloads_are_those_of_the_text():
    seed = random.getrandbits(32)
    draw = random.Random(seed)
    for _ in range(CASES):
        script = case(draw)
        events, recorded = expected(script)
        assert decided(script)[:recorded] == events, seed
