"""The engine, with all its shortcuts, decides as the text read word for word."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scheduler.errors import SchedulerError
from scheduler.replay import vectors, yunikorn, yunikorn_state
from tests.scheduler.yunikorn.reference.changes import changed, open_order
from tests.scheduler.yunikorn.reference.cycle import MOST_CYCLES, decide

HERE = Path(__file__).parents[2] / "vectors" / "yunikorn"
CASES, MOST_ASKS = 20, 40


def recorded(suite):
    return list(vectors(HERE / f"{suite}.jsonl.gz"))


def plain(told):
    if "outcome" not in told:
        return told
    outcome = told["outcome"]
    if isinstance(outcome, list):
        return told
    why = {key: sorted(texts) for key, texts in outcome["why"].items() if texts}
    return {**told, "outcome": {**outcome, "why": why}}


@pytest.mark.parametrize("suite", ["laws", "nodes", "preemption", "sort"])
def test_the_text_word_for_word_decides_as_the_real_yunikorn_did(suite, monkeypatch):
    monkeypatch.setattr(yunikorn, "_actual", decide)
    for vector in recorded(suite)[::3]:
        assert yunikorn.run(vector) == [], vector["id"]


@pytest.mark.parametrize("seed", range(6))
def test_a_changed_state_is_decided_as_the_text_says(seed, monkeypatch):
    monkeypatch.setattr(yunikorn_state, "_MAX_CYCLES", MOST_CYCLES)
    draw = random.Random(seed)
    small = [
        vector
        for suite in ("cycle", "preemption", "laws", "sort")
        for vector in recorded(suite)
        if len(vector["asks"]) <= MOST_ASKS
    ]
    for vector in draw.sample(small, CASES):
        state = changed(vector, draw)
        try:
            told = yunikorn.show(state)[1]
        except SchedulerError:
            continue  # queues that no configuration may have
        if not open_order(state):
            assert plain(told) == plain(decide(state)), vector["id"]
