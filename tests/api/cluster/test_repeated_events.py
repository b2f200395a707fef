"""Failures that repeat are one event, as kubectl shows them."""

from __future__ import annotations

from typing import Any

from api.cluster import events
from sandbox.models import Event


def failed(seq: int, *, count: int, message: str = "no room") -> Event:
    return Event(
        revision=seq,
        seq=0,
        tick=seq,
        t_ms=seq * 1000,
        type="Fail",
        subject="Pod/default/a",
        reason="Unschedulable",
        message=message,
        data={"count": count, "times": 1, "first_ms": 1000},
    )


def shown(*found: Event) -> list[dict[str, Any]]:
    return [
        events._document(event, told, 0, 0, {})
        for event in events._without_repeats(found)
        for told in events._told(event, {}, events.Past())
    ]


def test_equal_failures_are_the_last_one_with_count_and_first_time():
    (only,) = shown(failed(1, count=1), failed(3, count=2), failed(5, count=3))
    assert only["count"] == 3
    assert only["firstTimestamp"].endswith("00:00:01Z")
    assert only["lastTimestamp"].endswith("00:00:05Z")


def test_another_reason_is_an_event_of_its_own():
    both = shown(failed(1, count=1), failed(2, count=1, message="no such label"))
    assert [document["message"] for document in both] == ["no room", "no such label"]


def test_an_event_of_before_counts_are_kept_happened_once():
    old = failed(1, count=1)
    old.data = {}
    assert shown(old)[0]["count"] == 1
