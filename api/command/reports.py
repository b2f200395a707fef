"""The report of an import, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_LEVELS = ("simulated", "configuration", "kept", "refused")


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return a line per file, then one per sort of finding with its first places."""
    return [*map(_file, report["files"]), *_findings(report["findings"])]


def _file(file: dict[str, Any]) -> str:
    counts = ", ".join(f"{file[level]} {level}" for level in _LEVELS if file[level])
    kinds = ", ".join(f"{kind} {count}" for kind, count in file["kinds"].items())
    return f"{file['file']}: {counts or 'nothing taken'}" + (kinds and f" ({kinds})")


def _findings(groups: list[dict[str, Any]]) -> Iterator[str]:
    for group in groups:
        effect = f"; {group['effect']}" if group["effect"] else ""
        yield f"{group['level']}: {_places(group)}: {group['problem']}{effect}"


def _places(group: dict[str, Any]) -> str:
    """Return where a finding is, each place once: a JSON text has only one line."""
    places = list(dict.fromkeys(map(_place, group["places"])))
    more = group["count"] - len(group["places"])
    if len(places) < len(group["places"]):
        return f"{', '.join(places)} ({group['count']} times)"
    return ", ".join(places) + (f" and {more} more" if more > 0 else "")


def _place(place: dict[str, Any]) -> str:
    return f"{place['file']}:{place['line']}" if place["file"] else place["field"]
