"""What is tried first: quota by work, then settings of several kinds in turn."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

from scheduler.analysis.advice.candidates import alike, drawn_anew, free, kind_of
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.moves import moves
from scheduler.analysis.advice.shares import guesses
from scheduler.analysis.advice.space import Point, Space
from scheduler.model import streams

#: How many settings are drawn, of which those are tried that were not before.
_DRAWS = 40


def screening(space: Space, base: Numbers, seed: int, most: int) -> list[Point]:
    """Return up to `most` settings, each once, by what the base did.

    After the first guesses, in turn: one kind alike for all, and a single change, of
    each kind in turn, as there are far more transfers of quota than switches.
    """
    both = shuffled(alike(space, space.base), seed, "alike")
    ways = [both, _single(space, seed)]
    found = dict.fromkeys([*guesses(space, base), *in_turn(ways)])
    return list(found)[:most]


def in_turn(series: Iterable[Iterable[Point]]) -> Iterator[Point]:
    """Yield the first of each, the second of each, and so on until all are used up."""
    for row in itertools.zip_longest(*series):
        yield from (point for point in row if point is not None)


def _single(space: Space, seed: int) -> Iterator[Point]:
    kinds: dict[tuple[str, str], list[Point]] = {}
    for point in shuffled(moves(space, space.base), seed, "screening"):
        changed = space.dimensions[space.edited(point)[0]]
        kinds.setdefault(kind_of(changed), []).append(point)
    return in_turn(kinds.values())


def drawn(space: Space, around: Point, seed: int, number: int) -> list[Point]:
    """Return settings of which all that shares no total is drawn; none where all does.

    Only so is found what helps together: weights once fair sharing is on, while each
    by itself does nothing, or harm. `number` tells one draw from the next.
    """
    which = free(space)
    draw = random.Random(streams.bits(seed, "drawn", str(number)))
    found = [
        drawn_anew(space, around, which, draw) for _ in range(_DRAWS if which else 0)
    ]
    return list(dict.fromkeys(point for point in found if point is not None))


def shuffled(points: Iterable[Point], seed: int, why: str) -> list[Point]:
    """Return settings in an order of this seed and purpose alone."""
    return sorted(points, key=lambda point: streams.bits(seed, why, repr(point)))
