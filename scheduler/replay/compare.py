"""Where two plain values differ, as paths with what was expected and what came."""

from __future__ import annotations

from collections.abc import Iterator

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
