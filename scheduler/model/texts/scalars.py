"""Plain scalars as kubectl understands them.

It reads YAML by rules of its own between YAML 1.1 and 1.2: `yes` and `off` are
booleans, `0644` is octal, `1e3` and `08` are numbers, a date is a text. One letter, `y`
or `n`, stays a text here: kubectl makes a boolean of it too and then refuses nearly all
that has it, a queue `n` or a dimension `y`.

Source: <https://github.com/kubernetes-sigs/yaml>
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

_CASES = (str.lower, str.title, str.upper)
_WORDS: dict[str, bool | None] = {
    case(word): value
    for value, words in (
        (True, ("yes", "true", "on")),
        (False, ("no", "false", "off")),
        (None, ("", "~", "null")),
    )
    for word in words
    for case in _CASES
}
_WHOLE = re.compile(r"([-+]?)(?:0x([0-9a-f]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_USUAL = re.compile(
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?"
)
#: The widest whole numbers: of 64 bits, with or without a sign.
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
#: From here on a whole number is written with an exponent, and stays a float.
_WHOLE_FLOATS = 1e21
_LONGEST_NUMBER = 400


@lru_cache(maxsize=65536)
def plain(text: str) -> Any:
    """Return the value of an unquoted scalar: None, bool, int, float or the text."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    digits = text if first == "." else text.replace("_", "")
    found = _whole(digits)
    return _float(digits, text) if found is None else found


def unchanged(text: str) -> Any:
    """Return the value of an unquoted scalar whose text is that value; else the text.

    For a reader that knows which fields are texts, as YuniKorn's of queues.yaml does:
    a queue `n`, `08` or `0x1` keeps its name.
    """
    return plain(text) if _USUAL.fullmatch(text) else text


def key(value: Any, text: str) -> str:
    """Return the key that a scalar of this value is: `on` is `true`, `0x10` is `16`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else text


def _whole(digits: str) -> int | None:
    match = _WHOLE.fullmatch(digits.lower())
    if match is None:
        return None
    sign, *forms = match.groups()
    number = next(
        int(form, base) for form, base in zip(forms, _BASES, strict=True) if form
    )
    number = -number if sign == "-" else number
    return number if _LEAST <= number <= _MOST else None


def _float(digits: str, text: str) -> float | int | str:
    if not _FLOAT.fullmatch(digits):
        return text
    number = float(digits)
    if math.isinf(number):
        return text
    whole = number.is_integer() and abs(number) < _WHOLE_FLOATS
    return int(number) if whole else number
