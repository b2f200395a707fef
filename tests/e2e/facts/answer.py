"""Numbers of decisions and comparisons: events, preemptions step by step, branches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.card import waited_as_written
from tests.e2e.facts.view import clock, in_units, numbers

Row = dict[str, Any]

_OF_EVENTS = ("event", "events", "group", "reason")
_OF_STEPS = ("gained", "moved", "lost", "costs")
_OF_BRANCHES = ("outcomes", "changes", "measures")
KINDS = (*_OF_EVENTS, *_OF_STEPS, *_OF_BRANCHES)
_SHIFT = 2**31


def pairs_of(what: str, text: str, answer: Any) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact of an answer, each with the one that the answer has."""
    kind, _, of = what.partition(" ")
    if kind in _OF_EVENTS:
        yield from _of_events(kind, of, text, answer["items"])
    elif kind in _OF_STEPS:
        yield from _of_steps(kind, of, text, answer)
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


def _of_steps(
    kind: str, of: str, text: str, answer: Row
) -> Iterator[tuple[float, float]]:
    if kind == "lost":
        lost = sum(target["workLostMs"] for target in answer["targets"])
        yield waited_as_written(text.replace("\xa0", " "), lost)
    elif kind == "gained":
        resource, at = of.split(" ")
        yield (
            numbers(text)[0],
            in_units(resource, _gained(answer["search"], resource, int(at))),
        )
    elif kind == "moved":
        row = next(one for one in answer["shares"] if one["name"] == of)
        before, after = (
            math.ceil(float(row[k] or 0) - 1e-9) for k in ("before", "after")
        )
        shown = numbers("\n".join(text.split("\t")[1:]))
        yield from zip(shown, (before, after, after - before), strict=True)
    else:
        nodes = [node["costs"] for node in answer["nodes"] if node["costs"]]
        counted = [
            one["value"] for costs in nodes for one in costs if one["rule"] == of
        ]
        for cell, cost in zip(text.split("\t")[1:], counted, strict=False):
            if cell.strip() not in ("", "?"):
                yield numbers(cell.split("+")[0])[0], _as_written(of, cost)


def _as_written(rule: str, cost: float) -> float:
    """Return what a rule counts as people read it: priorities without their shift, a start in s."""
    if rule == "prioritySum":
        return cost - _SHIFT * max(1, round(cost / _SHIFT))
    return -cost / 1000 if rule == "latestStart" else cost


def _gained(search: Row, resource: str, at: int) -> int:
    """Return what is free once those that were taken up to a step are gone."""
    steps = search["steps"][: at + 1]
    spared = {one["workload"] for one in steps if one["verdict"] == "spared"}
    taken = [one for one in steps if one["verdict"] == "taken"]
    gone = [
        held for one in taken if one["workload"] not in spared for held in one["held"]
    ]
    checks = search["steps"][0]["quotaChecks"]
    free = [one["available"] for one in checks if one["resource"] == resource][:1]
    amounts = [held["amount"] for held in gone if held["resource"] == resource]
    return sum(map(int, (*free, *amounts)))


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
