"""Numbers of decisions and comparisons: events, branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.view import clock, numbers

Row = dict[str, Any]

_OF_EVENTS = ("event", "events", "group", "reason")
_OF_BRANCHES = ("outcomes", "changes", "measures")
KINDS = (*_OF_EVENTS, *_OF_BRANCHES)


def pairs_of(what: str, text: str, answer: Any) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact of an answer, each with the one that the answer has."""
    kind, _, of = what.partition(" ")
    if kind in _OF_EVENTS:
        yield from _of_events(kind, of, text, answer["items"])
    elif kind in _OF_BRANCHES:
        yield from zip(numbers(text), _of_branches(kind, of, answer), strict=True)


def _of_events(
    kind: str, of: str, text: str, events: list[Row]
) -> Iterator[tuple[float, float]]:
    if kind == "event":
        yield float(_is_event(text, events, of)), 1
    elif kind == "events":
        counts = (min(len(events), int(of)), len(events))
        yield from zip(numbers(text), counts, strict=True)
    elif kind == "reason":
        yield numbers(text)[-1], sum(event["reason"] == of for event in events)
    else:
        first = next(one for one in events if place(one) == of)
        yield from _group(text.split("\n"), first, events)


def place(event: Row) -> str:
    """Return where an event stands in the log."""
    return f"{event['revision']}.{event['seq']}"


def _is_event(text: str, events: list[Row], of: str) -> bool:
    event = next((one for one in events if place(one) == of), None)
    if event is None:
        return False
    first = [f"{event['tick']:,}", clock(event["tMs"]), event["type"]]
    shown = event["reason"] in text and event["message"].strip() in text
    return text.split("\t")[:3] == first and shown


def _group(
    lines: list[str], first: Row, events: list[Row]
) -> Iterator[tuple[float, float]]:
    """Yield the tick of a preemption in the list, and how many gave way in it."""
    alike = [
        one
        for one in events
        if (one["by"], one["tick"]) == (first["by"], first["tick"])
    ]
    values = [line for line in lines if line[:1].isdigit()]
    expected = (first["tick"], len(alike))
    yield from zip((numbers(one)[0] for one in values), expected, strict=True)


def _of_branches(kind: str, of: str, answer: Row) -> list[int]:
    if kind == "outcomes":
        most = max(sum(one.values()) for one in answer["counts"])
        return [len(answer["workloads"]) + answer["moreWorkloads"], most]
    if kind == "measures":
        known = [
            one for one in answer["totals"] if any(v is not None for v in one["values"])
        ]
        return [len(known)]
    one = answer["preemptions"][int(of)]
    return [len(one["added"]), len(one["removed"]), one["same"]]
