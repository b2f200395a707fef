"""Numbers inside sentences and rows: each must be among those of a part of REST's answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts import unmarked
from tests.e2e.facts.view import numbers
from tests.e2e.figures import amounts, bare, written

KINDS = ("said", "rest")
_UNITS = "KiB|MiB|GiB|TiB|B|ms|min|s|h|CPU|vcore|GPU|more"
_SPAN = re.compile(r"\d[\d,]* h \d+ min\b|\d+ min \d+ s\b")
# A number that stands alone, no part of a name, a time of day or a power, with its unit.
_ALONE = re.compile(
    r"(Candidate )?(?<![\w.:/-])(\d+(?:,\d{3})*(?:\.\d+)?)(?![\w:/-])"
    rf"(?: ?(%)| ((?:{_UNITS})(?:·h)?)(?!\w))?"
)
_TICKS = re.compile(
    r"\b(?:ticks?|since|finished|back at) (\d+(?:,\d{3})*)(?: to (\d+(?:,\d{3})*))?"
)


def wrong(what: str, text: str, answer: Any) -> Iterator[str]:
    """Yield what a text says and the answer does not, each number with its unit."""
    kind, _, of = what.partition(" ")
    if kind == "rest":
        path, drawn = of.split(" ")
        expected = len(part(answer, path)) - int(drawn)
        if numbers(text)[-1] != expected:
            yield f"shows {text!r}, not {expected}"
        return
    found = part(answer, of)
    names = [name for name in of.split("|") if name and not name.isdigit()]
    known = set(written(found, names[-1] if names else ""))
    if isinstance(found, dict) and "resource" in found:
        known |= {bare(resource, value) for resource, value in amounts(found)}
    units = {one.split(" ", 1)[1] for one in known if re.match(r"[\d.,]+ \D", one)}
    for sentence in unmarked.leaves(found):
        known |= set(said(sentence, units)) if " " in sentence else set()
    for one in said(text, units):
        if one not in known:
            yield f"shows {one}, not one of {sorted(known)}"


def part(answer: Any, path: str) -> Any:
    """Return what stands at a place: names and indexes, parted by "|"."""
    for name in path.split("|") if path else ():
        answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    return answer


def said(text: str, units: set[str]) -> Iterator[str]:
    """Yield each number of a text as it stands there, with its unit or the word before it.

    `units`: of this answer beside those that any answer may have, as "fpga".
    """
    plain = text.replace("\xa0", " ")
    for span in _SPAN.finditer(plain):
        yield span[0]
    plain = _SPAN.sub(";", plain)
    for tick in _TICKS.finditer(plain):
        yield from (f"tick {one}" for one in tick.groups() if one)
    for one in _ALONE.finditer(_TICKS.sub(";", plain)):
        after = next((u for u in units if _followed_by(one, u)), "")
        unit = one[3] or one[4] or after
        yield f"{one[1] or ''}{one[2]}{unit and ' ' + unit}"


def _followed_by(number: re.Match[str], unit: str) -> bool:
    """Return whether a number without a known unit is followed by a unit of the answer."""
    after = number.string[number.end() :]
    return re.match(rf" {re.escape(unit)}(?!\w)", after) is not None
