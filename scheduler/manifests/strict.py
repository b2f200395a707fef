"""Fields that a kind does not have: most are typing errors, so they are refused."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from scheduler.manifests.documents import Document


def expect_known(
    document: Document, holder: dict[str, Any], path: str, known: Sequence[str]
) -> None:
    """Refuse a field that is not one of `known`; suggests the nearest.

    Raises ManifestError naming the field.
    """
    for name in holder:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            where = f"{path}.{name}" if path else str(name)
            raise document.error(
                where, f"unknown field; known: {', '.join(sorted(known))}{hint}"
            )


def expect_texts(document: Document, holder: dict[str, Any], path: str) -> list[str]:
    """Return a list of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return []
    if not isinstance(given, list):
        raise document.error(path, f"expected a list, got {given!r:.60}")
    for index, item in enumerate(given):
        if not isinstance(item, str) or not item:
            raise document.error(
                f"{path}[{index}]", f"expected a text, got {item!r:.60}"
            )
    return given


def expect_labels(document: Document, holder: dict[str, Any], path: str) -> None:
    """Check an object of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return
    if not isinstance(given, dict):
        raise document.error(path, f"expected an object of texts, got {given!r:.60}")
    for name, value in given.items():
        if not isinstance(value, str):
            raise document.error(
                f"{path}.{name}", f"expected a text (in quotes), got {value!r:.60}"
            )


def expect_optional_text(document: Document, holder: dict[str, Any], path: str) -> str:
    """Return a text; absent is empty."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return ""
    if not isinstance(value, str):
        raise document.error(path, f"expected a text, got {value!r:.60}")
    return value


def expect_flag(
    document: Document, holder: dict[str, Any], path: str, *, default: bool
) -> bool:
    """Return true or false; absent is the default."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return default
    if not isinstance(value, bool):
        raise document.error(path, f"expected true or false, got {value!r:.60}")
    return value
