"""Which sentence an English text is: its form, with what fills its holes.

Problems with values are written where they are found, in some two hundred places and
a few dozen forms. Here a text is read back into its form; what is read says in English
the very text that was given. A text in no form is none, and stays English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from scheduler.model.event_words import Befallen, Planned
from scheduler.model.sentence import Hole, Sentence, Words
from scheduler.words.edits import (
    AnyOf,
    Deed,
    Edited,
    Stopped,
)
from scheduler.words.files import FileProblem, Unshown
from scheduler.words.forms import Checked, Form, Several
from scheduler.words.library import ApiServer, NotYaml, plain_word
from scheduler.words.problems import Problem
from scheduler.words.problems_here import ProblemHere
from scheduler.words.requests import Request
from scheduler.words.runs import GivenUp, RunProblem
from scheduler.words.wanted import Wanted
from scheduler.words.wanted_here import WantedHere
from scheduler.words.why import Left

#: Longer texts, more problems in a row and deeper places are not read.
_LONGEST = 1_200
_MOST = 20
_DEEPEST = 6
_HOLE = re.compile(r"\{(\w+)\}")
#: Where another problem begins, behind one in a row of them.
_NEXT = r"; (?!known: |found: )(?=\S*: )"
_NUMBER = r"-?[0-9.]+(?:e\+?[0-9]+)?[a-z%]*"
_ALONE = rf"(?:(?!{_NEXT}).)+?"
#: Hole -> what may fill it; anything where it is not named.
_MAY_BE = {
    "field": r"\S*|\w+ \S+",
    "given": _ALONE,
    "known": _ALONE,
    "name": r"\S+|'[^']*'|\w+ \S+",
    "names": r"[^:]+",
    "key": r"\S+",
    "first": r"[^\s,]+(?:, [^\s,]+)*",
    "last": r"\S+",
    "other": r"\S+",
    "least": _NUMBER,
    "most": _NUMBER,
    "tick": _NUMBER,
    "seconds": r"[0-9]+",
    "kind": r"[\w.]+",
    "literal": r"[A-Z'\"]\S*",
    "who": r"\S+",
    "object": r"\S+",
    "target": r"\S+",
    "number": r"[0-9]+",
    "ticks": r"[0-9]+",
    "days": r"[0-9]+",
    "speed": _NUMBER,
    "long": _NUMBER,
}

_Pattern = tuple[Words, tuple[str, ...]]


def read(text: str) -> Sentence | None:
    """Return the sentence that says this in English; None where it has no form."""
    parts = re.split(_NEXT, text) if len(text) <= _LONGEST else ()
    found = [_read(part, 0) for part in parts[:_MOST]]
    if not found or len(found) < len(parts) or (said := found.pop()) is None:
        return None
    for one in reversed(found):
        if one is None:
            return None
        said = Several.BOTH.said(what=one, rest=said)
    return said


@lru_cache(maxsize=2048)
def read_event(text: str) -> Sentence | None:
    """Return what an edit, a stop of time or a lost node says; None for other texts."""
    if len(text) > _LONGEST:
        return None
    return _first(text, _EVENTS, 0) or read(text)


@lru_cache(maxsize=2048)
def _read(text: str, depth: int) -> Sentence | None:
    if depth > _DEEPEST:
        return None
    return _first(text, _WHOLE, depth)


def _first(text: str, forms: Iterable[_Pattern], depth: int) -> Sentence | None:
    """Return the first of some sentences that is this text."""
    for one, literals in forms:
        if not all(literal in text for literal in literals):
            continue
        found = _matching(one.english).fullmatch(text)
        holes = None if found is None else _holes(found.groupdict(), depth)
        if holes is not None and (said := one.said(**holes)).text == text:
            return said
    return None


def _holes(given: dict[str, str], depth: int) -> dict[str, Hole] | None:
    """Return what fills the holes; None where one is to be a sentence and is none."""
    holes: dict[str, Hole] = {}
    for name, text in given.items():
        hole = _hole(name, text, depth)
        if hole is None:
            return None
        holes[name] = hole
    return holes


def _hole(name: str, text: str, depth: int) -> Hole | None:
    if name in _WITHIN:
        return _within(text, _WITHIN[name], depth)
    if name == "known":
        return plain_word(text)
    return _read(text, depth + 1) if name == "what" else text


def _within(text: str, forms: list[_Pattern], depth: int) -> Hole | None:
    """Return a sentence in the hole of another; an edit may be a text, as it was noted."""
    if depth > _DEEPEST:
        return None
    said = _first(text, forms, depth + 1)
    return text if said is None and (forms is _AWAITED or forms is _EDITS) else said


def _pattern(words: Words) -> _Pattern:
    """Return words with their literal parts."""
    return words, tuple(_HOLE.split(words.english)[::2])


@cache  # not all at the start: that took 25 ms of each
def _matching(english: str) -> re.Pattern[str]:
    """Return what matches a text that was made of these words."""
    found = [
        f"(?P<{part}>{_MAY_BE.get(part, '.+?')})" if n % 2 else re.escape(part)
        for n, part in enumerate(_HOLE.split(english))
    ]
    return re.compile("".join(found), re.DOTALL)


_KINDS: tuple[type[Words], ...] = (
    *(RunProblem, GivenUp, FileProblem, Unshown, NotYaml, ApiServer, ProblemHere),
    *(Problem, Request, Left, Checked, Form),
)
_WHOLE = [_pattern(one) for kind in _KINDS for one in kind]
_WANTED = [_pattern(one) for kind in (WantedHere, Wanted) for one in kind]
_EDITS = [_pattern(one) for one in Edited]
_DEEDS = [_pattern(one) for one in Deed]
_AWAITED = [_pattern(one) for one in AnyOf]
_EVENTS = [
    *_EDITS,
    *(_pattern(one) for kind in (Stopped, Planned, Befallen) for one in kind),
]
#: Hole -> the sentences that may fill it.
_WITHIN = {
    "wanted": _WANTED,
    "edit": _EDITS,
    "deed": _DEEDS,
    "deeds": _DEEDS,
    "awaited": _AWAITED,
}
