"""Fields that a kind does not have: most are typing errors, so they are refused."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.model.errors import ManifestError
from scheduler.model.problems import Form, Wanted, expected


def expect_known(
    document: Document, holder: dict[str, Any], path: str, known: Sequence[str]
) -> None:
    """Refuse a field that is not one of `known`; suggests the nearest.

    Raises ManifestError naming the first.
    """
    unknown = [str(name) for name in holder if name not in known]
    if unknown:
        raise unknown_field(document, path, unknown, known)


def unknown_field(
    document: Document, path: str, unknown: Sequence[str], known: Sequence[str]
) -> ManifestError:
    """Return the error about the first field that an object at `path` does not have."""
    near = difflib.get_close_matches(unknown[0], known, n=1)
    names = ", ".join(sorted(known))
    problem = Form.UNKNOWN.said(known=names)
    if near:
        problem = Form.UNKNOWN_NEAR.said(known=names, near=near[0])
    return document.error(f"{path}.{unknown[0]}" if path else unknown[0], problem)


def expect_texts(document: Document, holder: dict[str, Any], path: str) -> list[str]:
    """Return a list of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return []
    if not isinstance(given, list):
        raise document.error(path, expected(Wanted.LIST, given=f"{given!r:.60}"))
    for index, item in enumerate(given):
        if not isinstance(item, str) or not item:
            raise document.error(
                f"{path}[{index}]", expected(Wanted.TEXT, given=f"{item!r:.60}")
            )
    return given


def expect_labels(document: Document, holder: dict[str, Any], path: str) -> None:
    """Check an object of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return
    if not isinstance(given, dict):
        raise document.error(
            path, expected(Wanted.OBJECT_OF_TEXTS, given=f"{given!r:.60}")
        )
    for name, value in given.items():
        if not isinstance(value, str):
            raise document.error(
                f"{path}.{name}", expected(Wanted.QUOTED, given=f"{value!r:.60}")
            )


def expect_optional_text(document: Document, holder: dict[str, Any], path: str) -> str:
    """Return a text; absent is empty."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return ""
    if not isinstance(value, str):
        raise document.error(path, expected(Wanted.TEXT, given=f"{value!r:.60}"))
    return value


def expect_flag(
    document: Document, holder: dict[str, Any], path: str, *, default: bool
) -> bool:
    """Return true or false; absent is the default."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return default
    if not isinstance(value, bool):
        raise document.error(path, expected(Wanted.FLAG, given=f"{value!r:.60}"))
    return value
