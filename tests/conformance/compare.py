"""Where two plain values differ, as paths with what was expected and what came."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from scheduler.model.amounts import parse
from scheduler.model.errors import QuantityError

_LONGEST = 160


def differences(expected: object, actual: object, path: str = "") -> list[str]:
    """Return one line per difference; none means equal."""
    return list(_walk(expected, actual, path))


def _walk(expected: object, actual: object, path: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted({*expected, *actual}, key=str):
            inner = f"{path}.{name}" if path else str(name)
            yield from _walk(
                expected.get(name, _ABSENT), actual.get(name, _ABSENT), inner
            )
    elif isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):
            left = expected[index] if index < len(expected) else _ABSENT
            right = actual[index] if index < len(actual) else _ABSENT
            yield from _walk(left, right, f"{path}[{index}]")
    elif expected != actual:
        yield f"{path}: expected {_short(expected)}, got {_short(actual)}"


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


#: By how much recorded amounts of decayed usage may differ: the last bit of a power.
_TOLERANCE = Fraction(1, 10**12)


def with_rounding(expected: Any, actual: Any) -> Any:
    """Return `actual` with quantities that equal the expected ones but for rounding.

    Source: docs/semantics/kueue-admission-fair-sharing.md#arithmetic.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {k: with_rounding(expected.get(k), v) for k, v in actual.items()}
    if isinstance(expected, list) and isinstance(actual, list):
        rest = actual[len(expected) :]
        return [*map(with_rounding, expected, actual), *rest]
    if isinstance(expected, str) and isinstance(actual, str):
        return expected if _near(expected, actual) else actual
    return actual


def _near(expected: str, actual: str) -> bool:
    try:
        left, right = parse(expected), parse(actual)
    except QuantityError:
        return False
    return abs(left - right) <= abs(left) * _TOLERANCE
