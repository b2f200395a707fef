"""What is wrong with JSON, in the words of Go's decoder, which clients know.

Source: <https://pkg.go.dev/encoding/json#SyntaxError>
"""

from __future__ import annotations

import json
import string
from collections import Counter
from typing import Any

_CUT = "unexpected end of JSON input"
TOO_DEEP = "exceeded max depth"
_LONGEST_SHOWN = 30
_ASCII = 0x7F
#: What Python expected -> where Go found something else.
_PLACES = {
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Expecting value": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
}


def problem_of(body: bytes) -> str:
    """Return why a body is no JSON; "" where it is."""
    if body and body[0] > _ASCII:
        return f"invalid character {_quoted(chr(body[0]))} {_PLACES['Expecting value']}"
    text = body.decode(errors="replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return _said(error)
    except RecursionError:
        return TOO_DEEP
    return ""


def _said(error: json.JSONDecodeError) -> str:
    text, at = error.doc, error.pos
    while at < len(text) and text[at].isspace():
        at += 1
    if error.msg.startswith("Illegal trailing comma"):
        at = next((n for n in range(at, len(text)) if text[n] in "}]"), at)
    if at >= len(text) or error.msg.startswith("Unterminated string"):
        return _CUT
    if error.msg.startswith("Invalid control character"):
        return f"invalid character {_quoted(text[at])} in string literal"
    if error.msg.startswith("Invalid \\"):
        found = text[at + 1 : at + 2] or " "
        return f"invalid character {_quoted(found)} in string escape code"
    if error.msg == "Expecting ',' delimiter":
        inside = _innermost(text[:at])
        place = (
            "after object key:value pair" if inside == "{" else "after array element"
        )
    else:
        place = _PLACES.get(error.msg, "looking for beginning of value")
    return f"invalid character {_quoted(text[at])} {place}"


def _quoted(letter: str) -> str:
    return "'\\''" if letter == "'" else f"'{json.dumps(letter)[1:-1]}'"


def _innermost(text: str) -> str:
    """Return the bracket that a beginning of JSON leaves open last."""
    open_: list[str] = []
    within = escaped = False
    for letter in text:
        if within:
            within = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            within = True
        elif letter in "{[":
            open_.append(letter)
        elif letter in "}]" and open_:
            open_.pop()
    return open_[-1] if open_ else ""


def type_of(value: Any) -> str:
    """Return the name of a value's JSON type."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def as_go(value: Any) -> str:
    """Return a value as Go prints it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        pairs = (f"{name}:{as_go(inner)}" for name, inner in sorted(value.items()))
        return f"map[{' '.join(pairs)}]"
    if isinstance(value, list):
        return f"[{' '.join(map(as_go, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown(body: bytes) -> str:
    """Return a body as an API server shows one that it cannot read."""
    if not body:
        return "<empty>"
    text = body.decode(errors="replace") if body[:1] == b"{" else body.hex()
    cut = len(text) > _LONGEST_SHOWN
    return f"{text[:_LONGEST_SHOWN]} ..." if cut else text


class _Twice(dict[str, Any]):
    """An object, and which of its names were given more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(name for name, _ in pairs)
        self.names = [name for name, n in times.items() if n > 1]


def duplicates(body: bytes) -> list[str]:
    """Return the paths of fields that JSON gives more than once."""
    found: list[str] = []
    left = [("", json.loads(body, object_pairs_hook=_Twice))]
    while left:
        path, value = left.pop()
        before = f"{path}." if path else ""
        inner: list[tuple[str, Any]] = []
        if isinstance(value, _Twice):
            found += [f"{before}{name}" for name in value.names]
            inner = [(f"{before}{name}", one) for name, one in value.items()]
        elif isinstance(value, list):
            inner = [(f"{path}[{n}]", one) for n, one in enumerate(value)]
        left += reversed(inner)
    return found


# ------------------------------------------------------------------------
# What is wrong with base64, in the words of Go's decoder, which clients know.


_LETTERS = string.ascii_letters + string.digits
PLAIN = frozenset(_LETTERS + "+/")
URL = frozenset(_LETTERS + "-_")
_GROUP = 4


def illegal(at: int) -> str:
    """Return what is said of a text that is no base64 from this byte on."""
    return f"illegal base64 data at input byte {at}"


def fault_of(
    text: str, letters: frozenset[str] = PLAIN, *, padded: bool = True
) -> int | None:
    """Return the byte at which a text stops to be base64; None where all of it is.

    Ends of lines are passed over. Cost: linear in the text.
    """
    left = [(at, one) for at, one in enumerate(text) if one not in "\r\n"]
    for begin in range(0, len(left), _GROUP):
        group = left[begin : begin + _GROUP]
        for place, (at, one) in enumerate(group):
            if one in letters:
                continue
            if one != "=" or not padded or place < 2:
                return at
            return _after_padding(left[begin + place :], place, len(text))
        if len(group) < _GROUP and (padded or len(group) == 1):
            return group[-1][0] + 1 - len(group)
    return None


def _after_padding(rest: list[tuple[int, str]], place: int, size: int) -> int | None:
    """Return where padding is wrong that begins at this place of a group."""
    wanted = _GROUP - place
    for n in range(1, wanted):
        if n >= len(rest):
            return size
        if rest[n][1] != "=":
            return rest[n][0] - 1  # Go names the byte before it
    return rest[wanted][0] if len(rest) > wanted else None
