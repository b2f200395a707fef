"""What is wrong with base64, in the words of Go's decoder, which clients know.

Source: <https://pkg.go.dev/encoding/base64#CorruptInputError>
"""

from __future__ import annotations

import string

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
