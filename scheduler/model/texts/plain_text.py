"""Text that no database and no file can hold, and text that no terminal should print.

The first: NUL, and halves of surrogate pairs. The second: what moves the cursor, turns
the direction of writing, ends a line, or cannot be seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

#: What a text looks like that may come to such characters when it is read: raw, or
#: as an escape of JSON or YAML. Everything else need not be walked through.
_SUSPECT = re.compile(rb"\x00|\\u0000|\\U00000000|\\0|\\x00|\\u[dD][89a-fA-F]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_suspect(body: bytes) -> bool:
    """Return whether a JSON or YAML text may hold what cannot be stored. O(bytes)."""
    return _SUSPECT.search(body) is not None


def is_storable(text: str) -> bool:
    """Return whether the text can be written as UTF-8 without a NUL."""
    return _UNSTORABLE.search(text) is None


def unstorable(value: Any, path: str = "") -> Iterator[str]:
    """Yield the places of a document whose text cannot be stored. O(document)."""
    if isinstance(value, str):
        if not is_storable(value):
            yield path or "the document"
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from unstorable(name, f"a name in {path or 'the document'}")
            yield from unstorable(part, f"{path}.{name!s}" if path else str(name))
    elif isinstance(value, list | tuple):
        for n, part in enumerate(value):
            yield from unstorable(part, f"{path}[{n}]")


#: Control characters, marks of format (direction, zero width) and ends of lines.
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
#: Joiners, which some scripts and emoji are written with: fine beside what is seen.
_JOINERS = frozenset("\u200c\u200d")


def unseen(text: str) -> str:
    """Return the first character that a title or a name may not have; "" for none.

    A text of joiners alone has none that is seen.
    """
    for letter in text:
        if letter not in _JOINERS and unicodedata.category(letter) in _UNSEEN:
            return letter
    return text[:1] if text and not text.strip("\u200c\u200d ") and text.strip() else ""


def printable(text: str) -> str:
    """Return a text for one cell of a table: what is not seen is written as an escape.

    So `ESC` is written as `\\x1b`, and a line feed as `\\n`.
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter) not in _UNSEEN
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
