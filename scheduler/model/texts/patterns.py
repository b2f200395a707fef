"""Regular expressions that people give, as Go reads them: the only entrance for them.

They run in time that grows with the text alone, whatever the pattern is.
Why: docs/decisions/patterns-by-re2.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from scheduler.model.errors import PatternError
from scheduler.model.sentence import plain

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
