"""The first decision that differs, and preemptions that one branch alone has."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest

from sandbox.explain.comparing.branches import Branch, Happened
from sandbox.explain.comparing.shapes import (
    Decided,
    Difference,
    Preempted,
    Preemptions,
)

MOST_LISTED = 500


def first_difference(ours: Branch, theirs: Branch) -> Difference | None:
    """Return the first decision that is not the same in both; None when all are."""
    for one, other in zip_longest(ours.since, theirs.since):
        if one is None or other is None or _what(one) != _what(other):
            return _difference(one, other)
    return None


def _what(happened: Happened) -> tuple[object, ...]:
    """Return what must be equal: who, when, why, and where to."""
    data = happened.data
    place = (data.get("queue"), data.get("node"), data.get("pod_sets"))
    return (*happened[1:6], place)


def _difference(one: Happened | None, other: Happened | None) -> Difference:
    earliest = min((h for h in (one, other) if h is not None), key=lambda h: h.t_ms)
    return Difference(
        tick=earliest.tick,
        t_ms=earliest.t_ms,
        ours=_decided(one, earliest.t_ms),
        theirs=_decided(other, earliest.t_ms),
    )


def _decided(happened: Happened | None, t_ms: int) -> Decided | None:
    """Return the decision, if it is of that instant: later ones are no answer."""
    if happened is None or happened.t_ms > t_ms:
        return None
    return Decided(
        t_ms=happened.t_ms,
        type=happened.type,
        subject=happened.subject,
        by=happened.by,
        reason=happened.reason,
        message=happened.message,
    )


def preemptions(ours: Branch, theirs: Branch) -> Preemptions:
    """Return which preemptions came and went, by victim and preemptor."""
    one, other = _preempted(ours), _preempted(theirs)
    mine = Counter((p.subject, p.by) for p in one)
    others = Counter((p.subject, p.by) for p in other)
    return Preemptions(
        same=(mine & others).total(),
        added=_beyond(other, mine)[:MOST_LISTED],
        removed=_beyond(one, others)[:MOST_LISTED],
    )


def _preempted(branch: Branch) -> list[Preempted]:
    return [
        Preempted(tick=h.tick, t_ms=h.t_ms, subject=h.subject, by=h.by, reason=h.reason)
        for h in branch.since
        if h.type == "Preempt"
    ]


def _beyond(found: list[Preempted], known: Counter[tuple[str, str]]) -> list[Preempted]:
    """Return those that go beyond the known ones, which are used up in order."""
    left = Counter(known)
    beyond: list[Preempted] = []
    for preempted in found:
        pair = (preempted.subject, preempted.by)
        if left[pair] > 0:
            left[pair] -= 1
        else:
            beyond.append(preempted)
    return beyond
