"""What an older version stored in English alone, as a sentence with its code.

Events and revisions keep code and holes since migration 0026 and format 6 of archives,
which ask here for those of before. What is read says the very text that was given; a
text in no form stays English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from scheduler.model.event_words import Befallen, Planned
from scheduler.model.problems import GivenUp
from scheduler.model.sentence import Hole, Sentence, Words
from scheduler.words.edits import AnyOf, Deed, Edited, Stopped

#: Longer texts and deeper places are not read.
_LONGEST = 1_200
_DEEPEST = 6
_HOLE = re.compile(r"\{(\w+)\}")
_NUMBER = r"-?[0-9.]+(?:e\+?[0-9]+)?[a-z%]*"
#: Hole -> what may fill it; anything where it is not named.
_MAY_BE = {
    "name": r"\S+|'[^']*'|\w+ \S+",
    "tick": _NUMBER,
    "kind": r"[\w.]+",
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


#: Types whose messages are in words of this program: others are a scheduler's own.
TYPES = ("Edit", "NodeChange", "Checkpoint")
REASON = "NodeLost"


def said_of_event(type_: str, reason: str, message: str) -> Sentence | None:
    """Return what an event of an older version says; None where it is a scheduler's."""
    return read_event(message) if type_ in TYPES or reason == REASON else None


@lru_cache(maxsize=2048)
def read_event(text: str) -> Sentence | None:
    """Return what an edit, a stop of time or a lost node says; None for other texts."""
    return _first(text, _EVENTS, 0) if len(text) <= _LONGEST else None


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
    """Return what fills the holes; None if a hole must be a sentence and is not."""
    holes: dict[str, Hole] = {}
    for name, text in given.items():
        hole = _within(text, _WITHIN[name], depth) if name in _WITHIN else text
        if hole is None:
            return None
        holes[name] = hole
    return holes


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
    found, known = [], set[str]()
    for n, part in enumerate(_HOLE.split(english)):
        if n % 2 == 0:
            found.append(re.escape(part))
        elif part in known:
            found.append(f"(?P={part})")
        else:
            found.append(f"(?P<{part}>{_MAY_BE.get(part, '.+?')})")
            known.add(part)
    return re.compile("".join(found), re.DOTALL)


_EDITS = [_pattern(one) for one in Edited]
_DEEDS = [_pattern(one) for one in Deed]
_AWAITED = [_pattern(one) for one in AnyOf]
_EVENTS = [
    *_EDITS,
    *(_pattern(one) for kind in (Stopped, Planned, Befallen) for one in kind),
    _pattern(GivenUp.TICK_FAILED),
]
#: Hole -> the sentences that may fill it.
_WITHIN = {"edit": _EDITS, "deed": _DEEDS, "deeds": _DEEDS, "awaited": _AWAITED}
