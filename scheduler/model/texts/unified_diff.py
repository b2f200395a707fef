"""Texts before and after as a unified diff, as `git apply` and `patch -p1` take it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import NamedTuple

_CONTEXT = 3


class Changed(NamedTuple):
    """One file before and after; `after` is None where it goes."""

    name: str
    before: str
    after: str | None
    new: bool = False


def unified(file: Changed) -> str:
    """Return the diff of one file; lines end at "\\n" alone, as git reads them.

    Cost: O(text), and what `difflib` takes between the first and last line that differ.
    """
    before, after = _lines(file.before), _lines(file.after or "")
    old = "/dev/null" if file.new else _quoted(f"a/{file.name}")
    new = "/dev/null" if file.after is None else _quoted(f"b/{file.name}")
    parts = [f"--- {old}\n+++ {new}\n"]
    for one in _groups(before, after):
        parts += _hunk(one, before, after)
    return "".join(parts)


def _groups(before: list[str], after: list[str]) -> Iterator[list[_Step]]:
    """Yield the hunks: what is equal at both ends is left out before it is compared."""
    head = _equal(before, after)
    tail = _equal(before[head:][::-1], after[head:][::-1])
    head, tail = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=len(middle[0]) > 5000)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield [
            (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in group
        ]


_Step = tuple[str, int, int, int, int]


def _equal(one: list[str], other: list[str]) -> int:
    count = 0
    for line, twin in zip(one, other, strict=False):
        if line != twin:
            break
        count += 1
    return count


def _hunk(steps: list[_Step], before: list[str], after: list[str]) -> Iterator[str]:
    (_, a, _, c, _), (_, _, b, _, d) = steps[0], steps[-1]
    yield f"@@ -{_span(a, b)} +{_span(c, d)} @@\n"
    for tag, a, b, c, d in steps:
        if tag == "equal":
            yield from (_line(" ", one) for one in before[a:b])
            continue
        yield from (_line("-", one) for one in before[a:b])
        yield from (_line("+", one) for one in after[c:d])


def _span(begin: int, end: int) -> str:
    count = end - begin
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
