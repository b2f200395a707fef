"""Single fields of a document: what they must be, or the error that says where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected


def _value(holder: dict[str, Any], path: str) -> Any:
    return holder.get(path.rsplit(".", 1)[-1])


def expect_object(
    document: Document, holder: dict[str, Any], path: str, *, needed: bool = False
) -> dict[str, Any]:
    """Return the object at the end of `path`; absent is empty unless needed."""
    value = _value(holder, path)
    if value is None and not needed:
        return {}
    if not isinstance(value, dict):
        raise document.error(path, expected(Wanted.OBJECT, given=f"{value!r:.60}"))
    return value


def expect_items(
    document: Document, holder: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, object) of each entry of a list; an absent list is empty."""
    value = _value(holder, path)
    if value is None:
        return
    if not isinstance(value, list):
        raise document.error(path, expected(Wanted.LIST, given=f"{value!r:.60}"))
    for index, item in enumerate(value):
        where = f"{path}[{index}]"
        if not isinstance(item, dict):
            raise document.error(where, expected(Wanted.OBJECT, given=f"{item!r:.60}"))
        yield where, item


def expect_text(document: Document, holder: dict[str, Any], path: str) -> str:
    """Return a text that is not empty."""
    value = _value(holder, path)
    if not isinstance(value, str) or not value:
        raise document.error(path, expected(Wanted.TEXT, given=f"{value!r:.60}"))
    return value


def expect_choice(
    document: Document, holder: dict[str, Any], path: str, choices: Sequence[str]
) -> str:
    """Return one of the choices."""
    value = _value(holder, path)
    if value not in choices:
        known = ", ".join(choices)
        raise document.error(
            path, expected(Wanted.ONE_OF.said(known=known), given=f"{value!r:.60}")
        )
    return str(value)


def expect_whole(
    document: Document,
    holder: dict[str, Any],
    path: str,
    *,
    least: int,
    default: int | None = None,
) -> int:
    """Return a whole number of 64 bits; absent is the default, if there is one."""
    value = _value(holder, path)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise document.error(path, expected(Wanted.WHOLE, given=f"{value!r:.60}"))
    if not least <= value <= amounts.MAX:
        raise document.error(
            path, expected(Wanted.AT_LEAST.said(least=least), given=value)
        )
    return value


def expect_amounts(
    document: Document, holder: dict[str, Any], path: str
) -> dict[str, int]:
    """Return an object of resource quantities, canonical; none may be negative."""
    return {
        name: expect_amount(document, name, text, f"{path}.{name}")
        for name, text in expect_object(document, holder, path).items()
    }


def expect_amount(document: Document, name: str, text: Any, path: str) -> int:
    """Return a quantity of a resource, canonical; it may not be negative."""
    try:
        found = amounts.canonical(name, text)
    except QuantityError as error:
        raise document.error(path, error.said) from error
    if found < 0:
        raise document.error(path, expected(Wanted.NO_NEGATIVE_AMOUNT, text))
    return found
