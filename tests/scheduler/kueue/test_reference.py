"""The engine, with all its shortcuts, decides as the text read word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import kueue, vectors
from tests.draws import fresh
from tests.scheduler.kueue.reference.changes import Change, changed
from tests.scheduler.kueue.reference.cycle import one_cycle
from tests.scheduler.kueue.reference.settle import settle
from tests.scheduler.kueue.rig import Rig

HERE = Path(__file__).parents[2] / "vectors" / "kueue"
CASES = 15


def recorded(mode):
    return list(vectors(HERE / f"{mode}.jsonl.gz"))


def test_the_text_word_for_word_decides_as_the_real_kueue_did():
    for vector in recorded("cycle")[::5]:
        reported = one_cycle(vector)
        assert reported == {name: vector["expect"][name] for name in reported}
    for vector in recorded("settle")[::5]:
        reported = settle(vector)
        assert reported.pop("converged")
        assert reported == {name: vector["expect"][name] for name in reported}


@pytest.mark.parametrize("part", range(8))
def test_a_cycle_on_a_changed_state_is_that_of_the_text(part):
    seed, draw = fresh(part)
    for vector in draw.sample(recorded("cycle"), CASES):
        state = changed(vector, draw)
        decided, expected = kueue.decide(state), one_cycle(state)
        found = {name: decided[name] for name in expected}
        assert found == expected, (vector["id"], seed)


@pytest.mark.parametrize("part", range(4))
def test_a_run_with_reclaimed_pods_and_pod_level_requests_is_that_of_the_text(part):
    seed, draw = fresh(part)
    for vector in draw.sample(recorded("settle"), CASES):
        change = Change(vector, draw)
        for _ in range(4):
            change.whole()
            change.shrinking()
        expected = settle(change.vector)
        if expected.pop("converged"):
            assert kueue.decide(change.vector) == expected, (vector["id"], seed)


@pytest.mark.parametrize("part", range(4))
def test_a_run_from_a_changed_state_is_that_of_the_text(part):
    seed, draw = fresh(part)
    for vector in draw.sample(recorded("settle"), CASES):
        state = changed(vector, draw)
        reported = settle(state)
        if reported.pop("converged"):
            assert kueue.decide(state) == reported, (vector["id"], seed)


def test_a_stopped_queue_does_not_make_its_cohort_higher():
    rig = Rig()
    for name in ("team", "other"):
        rig.put("Cohort", name, {"parentName": "top"}, namespace="")
    rig.queue("a", cpu=1, cohort="team")
    rig.queue("b", cpu=1, cohort="other")
    rig.stage.settle()
    assert rig.stage.cluster.forest.cohorts["top"].height == 2
    for name, cohort in (("a", "team"), ("b", "other")):
        rig.queue(name, cpu=1, cohort=cohort, stop="HoldAndDrain")
    rig.stage.settle()
    assert rig.stage.cluster.forest.cohorts["top"].height == 1
