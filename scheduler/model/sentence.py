"""A sentence with its code and what fills its holes; English is made of both.

In the English words `{name}` is a hole. Forms of a number are parted by "|", one and
many; the hole `n` chooses. A hole is a text or number, another sentence, or one of the
parts below, which each language writes in its own way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import EnumMeta, StrEnum
from functools import cache
from typing import Any, Protocol, Self

import msgspec

from scheduler.model.ranges import INTEGER

_HOLE = re.compile(r"\{(\w+)\}")


class Part(msgspec.Struct, frozen=True):
    """Something that fills a hole, and that languages write differently."""


class Quantity(Part, frozen=True):
    """An amount of a resource, canonical: "8 GPU"."""

    resource: str
    amount: str

    def __str__(self) -> str:
        return quantity(self.resource, self.amount)


class Named(Part, frozen=True):
    """An object by its key text; people read its name."""

    key: str

    def __str__(self) -> str:
        return bare(self.key)


class Place(Part, frozen=True):
    """A place in a line, from 1: "2nd"."""

    place: int

    def __str__(self) -> str:
        return ordinal(self.place)


class Items(Part, frozen=True):
    """Several in a row: all of them, or the first few and how many more."""

    items: tuple[Hole, ...]
    all: bool = False

    def __str__(self) -> str:
        texts = [text_of(item) for item in self.items]
        return ", ".join(texts) if self.all else listed(texts)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence: its code, the same in English, and what fills the holes of its words.

    A hole is a text, a number, another sentence, `{resource, amount}`, `{key}` of an
    object, `{place}` in a line from 1, or `{items, all}`.
    """

    code: str
    text: str
    holes: dict[str, Any] = {}

    def __str__(self) -> str:
        return self.text


#: What fills a hole.
Hole = str | int | float | Quantity | Named | Place | Items | Sentence


class _Coding(EnumMeta):
    """Makes the code of each member of which English words alone are given."""

    def __new__(metacls, name: str, bases: Any, given: Any, *, prefix: str = "") -> Any:
        """Make the class; a code is its prefix and the name of the member."""
        for member in list(given._member_names):
            parts = (
                given[member] if isinstance(given[member], tuple) else (given[member],)
            )
            if sum(type(part) is str for part in parts) == 1:
                first, *rest = member.lower().split("_")
                code = first + "".join(word.capitalize() for word in rest)
                code = f"{prefix}.{code}" if prefix else code
                dict.__setitem__(given, member, (code, *parts))
        return super().__new__(metacls, name, bases, given)


class Coded(StrEnum, metaclass=_Coding):
    """Codes, each with its English words; made to be extended.

    `NO_ROOM = "no room"` in a class with the prefix "why" has the code "why.noRoom";
    one that is called otherwise is given as `("why.otherwise", "no room")`.
    """

    english: str

    def __new__(cls, code: str, english: str) -> Self:
        """Make one of its code and English words."""
        made = str.__new__(cls, code)
        made._value_ = code
        made.english = english
        return made


class Words(Coded):
    """Codes of sentences whose words may have holes; made to be extended."""

    def said(self, **holes: Hole) -> Sentence:
        """Return the sentence with its holes filled."""
        return Sentence(str(self.value), filled(self.english, holes), holes)


class Stated(Words):
    """Codes of problems: what fills a hole stands as it was given; made to be extended.

    A number keeps its digits in every language, and a word alone is a sentence.
    """

    def said(self, **holes: object) -> Sentence:
        """Return the sentence with its holes filled by the texts of what is given."""
        return super().said(**{name: _exact(hole) for name, hole in holes.items()})


def _exact(hole: object) -> Hole:
    if isinstance(hole, Words):
        return hole.said()
    if isinstance(hole, Sentence | Quantity | Named | Place | Items):
        return hole
    return str(hole)


def filled(words: str, holes: dict[str, Hole]) -> str:
    """Return English words with their holes filled; KeyError names one that is not."""
    forms = words.split("|")
    form = forms[0] if len(forms) == 1 or holes["n"] == 1 else forms[-1]
    return "".join(
        text_of(holes[part]) if n % 2 else part for n, part in enumerate(_parts(form))
    )


@cache
def _parts(form: str) -> list[str]:
    """Return words in turn with the names of the holes between them."""
    return _HOLE.split(form)


def text_of(hole: Hole) -> str:
    """Return the English text of a hole."""
    return f"{hole:g}" if isinstance(hole, float) else str(hole)


def plain(text: object) -> Sentence:
    """Return a text as a sentence without a code, which stays as it is everywhere."""
    return Sentence("", str(text))


def shortened(said: Sentence, most: int) -> Sentence:
    """Return a sentence whose text, and each text in its holes, has `most` letters."""
    if len(said.text) <= most:
        return said
    holes = {name: _shortened(hole, most) for name, hole in said.holes.items()}
    return Sentence(said.code, f"{said.text[:most]}…", holes)


def _shortened(hole: Any, most: int) -> Any:
    if isinstance(hole, Sentence):
        return shortened(hole, most)
    return f"{hole[:most]}…" if isinstance(hole, str) and len(hole) > most else hole


def named(keys: Iterable[str]) -> Items:
    """Return objects by their key texts, the first few of them."""
    return Items(tuple(Named(key) for key in keys))


def few(texts: Iterable[Hole]) -> Items:
    """Return the first few of several, and how many more there are."""
    return Items(tuple(texts))


# ------------------------------------------------------------------------
# Amounts, shares and names as an English sentence says them.


_SIZES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEP = 1024
#: Beyond this many of a list, the rest is a number.
_MOST = 3


class Amount(Protocol):
    """An amount of one resource, canonical."""

    resource: str
    amount: str


def quantity(resource: str, amount: int | str) -> str:
    """Return "1.5 CPU", "2 GiB", "8 GPU" or "3 example.com/foo"."""
    value = int(amount)
    if value >= INTEGER.most:
        return f"unlimited {_unit(resource)}"
    if resource == "cpu":
        return f"{_short(Decimal(value) / 1000)} CPU"
    if resource == "vcore":
        return f"{_short(Decimal(value) / 1000)} vcore"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return _size(value)
    if resource == "pods":
        return counted(value, "pod")
    return f"{value} {_unit(resource)}"


def _unit(resource: str) -> str:
    if resource == "cpu":
        return "CPU"
    return "GPU" if resource.endswith("/gpu") else resource


def _size(value: int) -> str:
    number, at = Decimal(value), 0
    while abs(number) >= _STEP and at + 1 < len(_SIZES):
        number, at = number / _STEP, at + 1
    return f"{_short(number)} {_SIZES[at]}B"


def _short(number: Decimal) -> str:
    text = f"{number:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def several(parts: Iterable[Amount]) -> str:
    """Return amounts joined as a sentence lists them."""
    return listed([quantity(part.resource, part.amount) for part in parts])


def share(value: float | None) -> str:
    """Return a weighted share, rounded up as Kueue does: "80", "134", "∞"."""
    return "∞" if value is None else str(math.ceil(value - 1e-9))


def listed(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and 4 more"."""
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return names[0] if names else "nobody"


def bare(key: str) -> str:
    """Return the name of a key text without its kind and namespace."""
    return key.rpartition("/")[2]


def counted(number: int, one: str, many: str = "") -> str:
    """Return "1 workload", "2 workloads"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "11th"."""
    teen = 10 < number % 100 < 14
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
