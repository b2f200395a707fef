"""The report of an import, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_LEVELS = ("simulated", "configuration", "kept", "refused")


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return a line per file, one per sort of finding with its first places, and
    one per kind with fields that are not followed.
    """
    files, findings = map(_file, report["files"]), _findings(report["findings"])
    return [*files, *findings, *_unread(report["kinds"])]


def _file(file: dict[str, Any]) -> str:
    counts = ", ".join(f"{file[level]} {level}" for level in _LEVELS if file[level])
    kinds = ", ".join(f"{kind} {count}" for kind, count in file["kinds"].items())
    return f"{file['file']}: {counts or 'nothing taken'}" + (kinds and f" ({kinds})")


def _findings(groups: list[dict[str, Any]]) -> Iterator[str]:
    for group in groups:
        effect = f"; {group['effect']}" if group["effect"] else ""
        yield f"{group['level']}: {_places(group)}: {group['problem']}{effect}"


def _unread(kinds: list[dict[str, Any]]) -> Iterator[str]:
    """Yield per kind the fields that are not followed, by what that changes."""
    for kind in kinds:
        by_effect: dict[str, list[str]] = {}
        for field in kind["unread"]:
            named = f"{field['field']} ({field['count']})"
            by_effect.setdefault(field["effect"], []).append(named)
        said = "; ".join(
            f"{', '.join(names)}: {effect}" for effect, names in by_effect.items()
        )
        if said:
            yield f"{kind['kind']}: kept, not followed: {said}"


def _places(group: dict[str, Any]) -> str:
    """Return where a finding is, each place once: a JSON text has only one line."""
    places = list(dict.fromkeys(map(_place, group["places"])))
    more = group["count"] - len(group["places"])
    if len(places) < len(group["places"]):
        return f"{', '.join(places)} ({group['count']} times)"
    return ", ".join(places) + (f" and {more} more" if more > 0 else "")


def _place(place: dict[str, Any]) -> str:
    return f"{place['file']}:{place['line']}" if place["file"] else place["field"]
