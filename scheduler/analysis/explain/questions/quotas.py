"""How much more quota, or how much higher a limit, would let a workload in."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scheduler.analysis.explain.changes import (
    add_quota,
    listed,
    without_limit,
)
from scheduler.analysis.explain.questions.question import CandidateChange, Question
from scheduler.analysis.explain.shapes import Explanation, FlavorRow
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.world import World
from scheduler.model.english import several
from scheduler.model.objects import Key

Added = dict[tuple[str, str], int]
_SHORT = ("noFit", "noCandidates", "preempt", "reclaim")
#: A ladder of quota has at most this many candidates up to what is short.
_MOST_STEPS = 32
_MOST_FLAVORS = 3
_BEYOND = (10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)


def short_of(answer: Explanation) -> dict[str, list[FlavorRow]]:
    """Return the rows that are short, by flavor in order."""
    found: dict[str, list[FlavorRow]] = {}
    for row in answer.flavors:
        if row.verdict in _SHORT and int(row.shortfall) > 0:
            found.setdefault(row.flavor, []).append(row)
    return dict(list(found.items())[:_MOST_FLAVORS])


def _missing(rows: list[FlavorRow]) -> Added:
    """Return what is short per place; several podsets ask one after the other."""
    short: Added = {}
    for row in rows:
        place = (row.flavor, row.resource)
        short[place] = max(short.get(place, 0), int(row.shortfall))
    return short


def quota_questions(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about nominal quota of the ClusterQueue, in each flavor that is short."""
    key = Key(queue.kind, "", queue.name)
    for flavor, rows in short_of(answer).items():
        short = _missing(rows)
        ladder, hint = _ladder(short, rows)
        yield Question(
            id=f"nominalQuota/{flavor}",
            kind="nominalQuota",
            now=several(listed({(f, r): _nominal(queue, (f, r)) for f, r in short})),
            candidates=[
                CandidateChange(
                    subject=(
                        f"{queue.name} has +{several(listed(added))} nominal quota "
                        f"in flavor {flavor}"
                    ),
                    change=add_quota(world, key, added),
                    value=flavor,
                    amounts=listed(added),
                )
                for added in ladder
            ],
            hint=hint,
        )


def _nominal(queue: ClusterQueue, place: tuple[str, str]) -> int:
    resource_node = queue.resource_nodes.get(place)
    return resource_node.nominal if resource_node is not None else 0


def _ladder(short: Added, rows: list[FlavorRow]) -> tuple[list[Added], int]:
    """Return amounts in equal steps up to what is short, then in growing ones.

    Others who wait may take what is added first, so that more than what is
    short may be needed: up to 16 times that. The step is one that request and shortfall are multiples of, where that is
    not too fine. The hint is what is short.
    """
    first = next(iter(short))
    unit = math.gcd(short[first], *(int(r.requested) for r in rows if r.requested))
    count = max(1, min(_MOST_STEPS, short[first] // max(1, unit)))
    beyond = sorted({-(-count * eighths // 8) for eighths in _BEYOND})
    steps = [*range(1, count + 1), *(step for step in beyond if step > count)]
    ladder = [
        {place: -(-amount * step // count) for place, amount in short.items()}
        for step in steps
    ]
    return ladder, count - 1


def limit_questions(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about borrowing limits of the ClusterQueue that a short row runs into."""
    key = Key(queue.kind, "", queue.name)
    for flavor, rows in short_of(answer).items():
        limited = {
            place: amount
            for place, amount in _missing(rows).items()
            if place in queue.resource_nodes
            and queue.resource_nodes[place].borrowing_limit is not None
        }
        if not limited or queue.parent is None:
            continue
        ladder, hint = _ladder(limited, rows)
        candidates = [
            CandidateChange(
                subject=(
                    f"borrowingLimit of {queue.name} in flavor {flavor} is "
                    f"+{several(listed(added))}"
                ),
                change=add_quota(world, key, added, "borrowingLimit"),
                value=flavor,
                amounts=listed(added),
            )
            for added in ladder
        ]
        removed = CandidateChange(
            subject=f"{queue.name} has no borrowingLimit in flavor {flavor}",
            change=without_limit(world, key, set(limited)),
            value=flavor,
        )
        now = {
            place: queue.resource_nodes[place].borrowing_limit or 0 for place in limited
        }
        yield Question(
            id=f"borrowingLimit/{flavor}",
            kind="borrowingLimit",
            now=several(listed(now)),
            candidates=[*candidates, removed],
            hint=hint,
        )
