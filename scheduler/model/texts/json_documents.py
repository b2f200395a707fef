"""JSON to documents, at the speed of its parser; lines are looked up when asked for.

What `kubectl get -o json` prints is a List of everything: as YAML it would be read
thirty times slower, each value with its line. Here an item has the line where it
begins, and its fields get theirs when a finding is about one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

_WHITE = " \t\n\r"


class NotPlainError(ValueError):
    """The text is not one JSON object that can be read so: it is read as YAML."""


def decode(text: str, *, depth: int) -> dict[str, Any]:
    """Return the object that the text is.

    Raises NotPlainError for anything else, for a key that is given twice, and for
    what is nested deeper than `depth`: as YAML it is refused with its line.
    """
    try:
        data = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotPlainError(str(error)) from error
    if not isinstance(data, dict) or is_deeper(data, depth):
        raise NotPlainError("not an object, or nested too deep")
    return data


def decode_many(text: str, *, depth: int) -> tuple[list[dict[str, Any]], ItemLines]:
    """Return objects one after the other, as JSON lines, or those of one array.

    Raises NotPlainError for anything else, as `decode` does.
    """
    at = _begin(text)
    in_array = text[at : at + 1] == "["
    at = _begin(text, at + 1) if in_array else at
    found: list[dict[str, Any]] = []
    spans: list[tuple[int, int, int]] = []
    line, seen = 1, 0
    while at < len(text) and text[at] != "]":
        try:
            data, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise NotPlainError(str(error)) from error
        if not isinstance(data, dict) or is_deeper(data, depth):
            raise NotPlainError("not an object, or nested too deep")
        line += text.count("\n", seen, at)
        seen = at
        found.append(data)
        spans.append((at, end, line))
        at = _begin(text, end)
        if in_array and text[at : at + 1] == ",":
            at = _begin(text, at + 1)
    rest = text[at + 1 :] if in_array else text[at:]
    if rest.strip() or (in_array and at >= len(text)):
        raise NotPlainError("more than objects, or a list without an end")
    return found, ItemLines(text=text, spans=spans)


def _begin(text: str, at: int = 0) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotPlainError("a key is given twice")
    return found


def _refuse(text: str) -> NoReturn:
    raise NotPlainError(f"not JSON: {text}")


_DECODER = JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
_QUICK = JSONDecoder()


def is_deeper(data: dict[str, Any], depth: int) -> bool:
    """Return whether objects and lists stand deeper in each other than `depth`."""
    level: list[Any] = [data]
    while level and depth > 0:
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        depth -= 1
    return bool(level)


@dataclass(slots=True, kw_only=True)
class ItemLines:
    """Where the items of a List begin and end; found at the first question."""

    text: str = field(repr=False)
    spans: list[tuple[int, int, int]] | None = None  # begin, end, line of the begin

    def line(self, index: int) -> int:
        """Return the line in which the item begins."""
        return self._spans()[index][2]

    def kind_line(self, index: int) -> int:
        """Return the line in which the item begins: its kind is near."""
        return self.line(index)

    def slice(self, index: int) -> str:
        """Return the text of the item."""
        begin, end, _ = self._spans()[index]
        return self.text[begin:end]

    def _spans(self) -> list[tuple[int, int, int]]:
        if self.spans is None:
            self.spans = list(_items(self.text))
        return self.spans


def _items(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (begin, end, line) of each item of a text that `decode` has read."""
    at, line, seen = _first_item(text), 1, 0
    while text[at] != "]":
        end = _QUICK.raw_decode(text, at)[1]
        line += text.count("\n", seen, at)
        seen = at
        yield at, end, line
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _first_item(text: str) -> int:
    """Return where the first of `items` begins, or its closing bracket."""
    at = _skip(text, _skip(text, 0) + 1)
    while True:
        name, at = scanstring(text, at + 1)
        at = _skip(text, _skip(text, at) + 1)
        if name == "items":
            return _skip(text, at + 1)
        at = _skip(text, _QUICK.raw_decode(text, at)[1])
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while text[at] in _WHITE:
        at += 1
    return at


def looks_like_json(text: str) -> bool:
    """Return whether it is worth a try: the text begins with a brace or bracket."""
    return text[:1000].lstrip().startswith(("{", "["))
