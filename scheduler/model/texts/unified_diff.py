"""Texts before and after as a unified diff, as `git apply` and `patch -p1` take it.

`difflib.unified_diff` is not enough: it skips lines that are frequent in a text of 200
lines or more, so that a few changed manifests among many give a diff of all of them, and
it does not write that a file ends without a newline.
"""

from __future__ import annotations

import difflib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from scheduler.model.texts.rewriting import Edit, rewritten

_CONTEXT = 3


class Changed(NamedTuple):
    """One file before and after; None where it does not exist.

    `edits` make `after` of `before`, in order; without them all of it may differ.
    """

    name: str
    before: str | None
    after: str | None
    edits: Sequence[Edit] = ()


class _Step(NamedTuple):
    """`lines` take the place of the lines from `begin` up to `end`."""

    begin: int
    end: int
    lines: list[str]


def unified(file: Changed) -> str:
    """Return the diff of one file; lines end at "\\n" alone, as git reads them.

    Cost: O(text), and what `difflib` takes for the lines of each edit.
    """
    text = file.before or ""
    edits = file.edits or [Edit(0, len(text), file.after or "")]
    before = _lines(text)
    old = "/dev/null" if file.before is None else _quoted(f"a/{file.name}")
    new = "/dev/null" if file.after is None else _quoted(f"b/{file.name}")
    parts = [f"--- {old}\n+++ {new}\n"]
    grown = 0
    for steps in _together(_steps(text, before, edits)):
        parts += _hunk(steps, before, grown)
        grown += _growth(steps)
    return "".join(parts)


def _steps(text: str, before: list[str], edits: Sequence[Edit]) -> Iterator[_Step]:
    """Yield what differs, of the lines that edits touch."""
    starts = list(accumulate(map(len, before), initial=0))
    for begin, end, those in _touched(starts[:-1], edits):
        at = starts[begin]
        moved = [Edit(b - at, e - at, new) for b, e, new in those]
        after = _lines(rewritten(text[at : starts[end]], moved))
        yield from _differing(begin, before[begin:end], after)


def _touched(
    starts: list[int], edits: Sequence[Edit]
) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield stretches of lines, and the edits within each."""
    begin, end, those = 0, 0, list[Edit]()
    for one in edits:
        first = max(bisect_right(starts, one.begin) - 1, 0)
        if those and first >= end:
            yield begin, end, those
            those = []
        begin = begin if those else first
        end = bisect_right(starts, one.end)
        those.append(one)
    yield begin, end, those


def _differing(at: int, before: list[str], after: list[str]) -> Iterator[_Step]:
    """Yield the steps between two lists of lines; what is equal at both ends is cheap."""
    head = _equal(before, after)
    tail = _equal(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 5000)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield _Step(at + head + a, at + head + b, new[c:d])


def _equal(one: list[str], other: list[str]) -> int:
    count = 0
    for line, twin in zip(one, other, strict=False):
        if line != twin:
            break
        count += 1
    return count


def _together(steps: Iterable[_Step]) -> Iterator[list[_Step]]:
    """Yield the steps of each hunk: those whose context meets."""
    group: list[_Step] = []
    for step in steps:
        if group and step.begin - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _growth(steps: list[_Step]) -> int:
    return sum(len(one.lines) - (one.end - one.begin) for one in steps)


def _hunk(steps: list[_Step], before: list[str], grown: int) -> Iterator[str]:
    """Yield one hunk; the file has `grown` by so many lines above it."""
    begin = max(steps[0].begin - _CONTEXT, 0)
    end = min(steps[-1].end + _CONTEXT, len(before))
    count = end - begin
    new = _span(begin + grown, count + _growth(steps))
    yield f"@@ -{_span(begin, count)} +{new} @@\n"
    at = begin
    for one in steps:
        yield from (_line(" ", line) for line in before[at : one.begin])
        yield from (_line("-", line) for line in before[one.begin : one.end])
        yield from (_line("+", line) for line in one.lines)
        at = one.end
    yield from (_line(" ", line) for line in before[at:end])


def _span(begin: int, count: int) -> str:
    return f"{begin + 1 if count else begin},{count}"


def _line(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return sign + line
    return f"{sign}{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return whole + lines[-1:] if lines[-1] else whole


def _quoted(name: str) -> str:
    """Return a name as git writes it: a tab after spaces, quotes around the unusual."""
    if name.isprintable() and not set(name) & set('"\\'):
        return f"{name}\t" if " " in name else name
    return json.dumps(name, ensure_ascii=False)
