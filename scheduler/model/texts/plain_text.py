"""Text that no database and no file can hold, and text that no terminal should print.

The first: NUL, and halves of surrogate pairs. The second: what moves the cursor, turns
the direction of writing, ends a line, or cannot be seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import re2
import yaml

from scheduler.model.errors import PatternError
from scheduler.model.sentence import plain

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


# ------------------------------------------------------------------------
# Regular expressions that people give, as Go reads them: the only entrance for them.


#: RE2 alone has it: one byte, which may be half a letter.
_BYTE = r"\C"


class Pattern:
    """A regular expression that has been read."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str, compiled: Any) -> None:
        self.text = text
        self._compiled = compiled

    def found_in(self, text: str) -> bool:
        """Return whether it matches anywhere in a text. Cost: linear in the text."""
        try:
            return self._compiled.search(text) is not None
        except UnicodeError:  # half a letter, which no name of a cluster has
            return False


@lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern:
    """Return a regular expression. Raises PatternError for what Go refuses."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(text, options)
    except UnicodeError as error:
        raise PatternError(
            plain(f"expected a regular expression in UTF-8: {error}")
        ) from None
    except re2.error as error:
        raise _refused(text, _reason(error)) from None
    if _has_byte(text):
        raise _refused(text, rf"invalid escape sequence: {_BYTE}")
    return Pattern(text, compiled)


def _refused(text: str, reason: str) -> PatternError:
    problem = (
        f"expected a regular expression as Go has them, got {text!r:.200}: {reason}"
    )
    return PatternError(plain(problem))


def _reason(error: Exception) -> str:
    given = error.args[0] if error.args else ""
    return given.decode(errors="replace") if isinstance(given, bytes) else str(given)


def _has_byte(text: str) -> bool:
    r"""Return whether `\C` is an escape in a pattern, not letters after `\\` or `\Q`."""
    at = 0
    while (at := text.find("\\", at)) >= 0:
        escape = text[at : at + 2]
        if escape == _BYTE:
            return True
        end = text.find(r"\E", at) if escape == r"\Q" else at
        if end < 0:
            return False
        at = end + 2
    return False


# ------------------------------------------------------------------------
# YAML that kubectl reads back as it was.


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Quotes what YAML 1.1 takes for no text, and what kubectl takes for none."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"[yYnN]$"), list("yYnN")
)
# Wider than the numbers there are: a pair of quotes too many does no harm.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9._]+([eEbBoOxX][-+]?[0-9a-fA-F_]*)?$"),
    list("-+.0123456789"),
)


def write(document: Any) -> str:
    """Return one document as YAML, its keys in the order given."""
    return write_all([document])


def write_all(documents: Iterable[Any]) -> str:
    """Return documents as YAML, with a line `---` between them."""
    text: str = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text
