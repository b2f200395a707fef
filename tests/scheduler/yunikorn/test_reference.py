"""The engine, with all its shortcuts, decides as the text read word for word."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scheduler.input.manifests.queues_yaml import read_text
from scheduler.model.errors import ManifestError, SchedulerError
from tests.conformance import vectors, yunikorn, yunikorn_state
from tests.draws import fresh
from tests.scheduler.yunikorn.reference import configuration, placement, quota_change
from tests.scheduler.yunikorn.reference.changes import changed, open_order
from tests.scheduler.yunikorn.reference.configurations import Drawn
from tests.scheduler.yunikorn.reference.cycle import MOST_CYCLES, decide
from tests.scheduler.yunikorn.reference.limits import LimitedRun
from tests.scheduler.yunikorn.reference.steps import (
    other_applications,
    other_quotas,
    other_users,
)

HERE = Path(__file__).parents[2] / "vectors" / "yunikorn"
CASES, MOST_ASKS, CONFIGURATIONS = 20, 40, 300
THIN = ("thin-combo", "thin-preemption")


def recorded(suite):
    return list(vectors(HERE / f"{suite}.jsonl.gz"))


def plain(answer):
    if "outcome" not in answer:
        return answer
    outcome = answer["outcome"]
    if isinstance(outcome, list):
        return answer
    why = {key: sorted(texts) for key, texts in outcome["why"].items() if texts}
    return {**answer, "outcome": {**outcome, "why": why}}


@pytest.mark.parametrize(
    "suite",
    ["laws", "nodes", "preemption", "sort", "thin-combo", "thin-preemption"],
)
def test_the_text_word_for_word_decides_as_the_real_yunikorn_did(suite, monkeypatch):
    monkeypatch.setattr(yunikorn, "_actual", decide)
    for vector in recorded(suite)[::3]:
        assert yunikorn.run(vector) == [], vector["id"]


@pytest.mark.parametrize("part", range(6))
def test_a_changed_state_is_decided_as_the_text_says(part, monkeypatch):
    monkeypatch.setattr(yunikorn_state, "_MAX_CYCLES", MOST_CYCLES)
    seed, draw = fresh(part)
    small = [
        vector
        for suite in ("cycle", "preemption", "laws", "sort", *THIN)
        for vector in recorded(suite)
        if len(vector["asks"]) <= MOST_ASKS
    ]
    for vector in draw.sample(small, CASES):
        state = changed(vector, draw)
        try:
            answer = yunikorn.show(state)[1]
        except SchedulerError:
            continue  # queues that no configuration may have
        if not open_order(state):
            assert plain(answer) == plain(decide(state)), (vector["id"], seed)


def test_a_changed_quota_takes_what_the_text_says():
    seed, draw = fresh()
    for vector in draw.sample(recorded("quota-change"), MOST_ASKS):
        state = other_quotas(vector, draw)
        try:
            outcome = yunikorn.show(state)[1]["outcome"]
        except SchedulerError:
            continue  # quotas that no configuration may have
        taken = [event["keys"] for event in outcome["trace"]]
        assert taken == quota_change.passes(state), (vector["id"], seed)


def test_applications_are_placed_as_the_text_says():
    seed, draw = fresh()
    for vector in draw.sample(recorded("placement"), MOST_ASKS):
        state = other_applications(vector, draw)
        try:
            outcome = yunikorn.show(state)[1]["outcome"]
        except SchedulerError:
            continue  # rules that no configuration may have
        assert outcome["placed"] == placement.placed(state), (vector["id"], seed)


def test_limits_hold_as_the_text_says():
    seed, draw = fresh()
    for vector in draw.sample(recorded("limits"), CASES):
        state = other_users(vector, draw)
        outcome = yunikorn.show(state)[1]["outcome"]
        if not open_order(state):
            assert outcome["trace"] == LimitedRun(state).trace, (vector["id"], seed)


def test_configurations_are_accepted_and_refused_as_the_text_says():
    seed, draw = fresh()
    for number in range(CONFIGURATIONS):
        config = Drawn(draw).config()
        try:
            read_text(yaml.dump(config, Dumper=yaml.CSafeDumper))
            ours = None
        except ManifestError as error:
            ours = error
        wanted = configuration.refused(config)
        assert (ours is None) == (wanted is None), (seed, number, wanted, ours)
