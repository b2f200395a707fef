"""Text that no database and no file can hold: NUL, and halves of surrogate pairs."""

from __future__ import annotations

import re
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
