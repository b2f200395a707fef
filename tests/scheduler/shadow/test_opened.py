"""A real decision opened: both sides step by step, and the smallest world of it."""

from __future__ import annotations

from scheduler.analysis.explain.shadow_decision import opened
from tests.scheduler.shadow.test_shadow import (
    admitted,
    judge_of,
    preempted,
    workload,
)


def names(documents):
    return [one["metadata"]["name"] for one in documents]


def test_an_admission_that_the_engine_lets_wait_is_shown_with_why() -> None:
    big, other = workload("big", cpu="9"), admitted(workload("other"))
    judge = judge_of((0, big), (1, other), (9000, admitted(big, cpu="9")))
    found = opened(judge, judge.real[-1])
    assert found.difference == "not decided"
    assert [(one.kind, one.queue) for one in found.real] == [("admit", "a")]
    assert [one.kind for one in found.engine if one.subject.endswith("big")] == ["wait"]
    assert "insufficient" in found.engine[-1].text
    assert "other" not in names(found.smallest.documents)
    assert found.smallest.minimal


def test_a_preemption_of_another_victim_has_the_engines_search() -> None:
    old, new = admitted(workload("old")), admitted(workload("new", second=5))
    high = workload("high", priority=9, second=9)
    judge = judge_of(
        (0, old),
        (1, new),
        (9000, high),
        (9100, preempted(old, by="high")),
        within="LowerPriority",
    )
    found = opened(judge, judge.real[-1])
    assert [one.subject for one in found.real] == ["Workload/default/old"]
    decided = [one for one in found.engine if one.kind == "preempt"]
    assert [one.subject for one in decided] == ["Workload/default/new"]
    assert [one for one in found.engine if one.kind == "search"]
    assert {"old", "new", "high"} <= set(names(found.smallest.documents))


def test_the_smallest_world_of_another_decision_first_keeps_who_comes_first() -> None:
    first, second = workload("first"), workload("second", second=1)
    third = workload("third", second=2)
    judge = judge_of(
        (0, first),
        (1, second),
        (2, third),
        (100, admitted(second)),
        strategy="StrictFIFO",
    )
    found = opened(judge, judge.real[0])
    kept = set(names(found.smallest.documents))
    assert found.difference == "another decision first"
    assert {"first", "second"} <= kept
    assert "third" not in kept
