"""Verbs about storage: archive, unarchive, keep, disk."""

from __future__ import annotations

from typing import Any

from api.command.output import Found
from api.command.verbs import Asked, Part, one, verb


@verb(
    "archive",
    "put a sandbox into one file that is kept; its rows go",
    "archive ID",
    arguments=one,
)
def archive(asked: Asked) -> Found:
    """Put a sandbox away as one file, which runs no longer."""
    key = asked.words.sandbox
    found = asked.client.operations.archive(key)
    return Found(document=found, line="archived")


@verb("unarchive", "open an archived sandbox again", "unarchive ID", arguments=one)
def unarchive(asked: Asked) -> Found:
    """Open a sandbox that was put away."""
    key = asked.words.sandbox
    found: Any = asked.client.operations.unarchive(key)
    return Found(document=found, line=f"tick {found['tick']}")


def _keep(part: Part) -> None:
    one(part)
    part.add_argument("--ticks", type=int, help="the last so many; 0 = as the operator")
    part.add_argument("--days", type=int, help="the last so many; 0 = as the operator")


@verb(
    "keep",
    "say how much history is kept",
    "keep ID --ticks 10000",
    "keep ID --days 30 --ticks 0",
    arguments=_keep,
)
def keep(asked: Asked) -> Found:
    """Set how much history a sandbox keeps, where that is given, and print what it keeps."""
    words = asked.words
    given = {"keepTicks": words.ticks, "keepDays": words.days}
    body: Any = {name: value for name, value in given.items() if value is not None}
    found: Any = asked.client.operations.sandboxes_change(words.sandbox, body)
    line = f"ticks {found['keepTicks']}  days {found['keepDays']}"
    return Found(document=found, line=line)


def _disk(part: Part) -> None:
    part.add_argument("sandbox", metavar="ID", nargs="?", help="all when left out")


@verb("disk", "show what sandboxes take on disk", "disk", "disk ID", arguments=_disk)
def disk(asked: Asked) -> Found:
    """Print the bytes of each sandbox, or of one by what they are for."""
    operations = asked.client.operations
    if asked.words.sandbox:
        found: Any = operations.sandboxes_disk_read(asked.words.sandbox)
        parts = [{"part": p, "bytes": size} for p, size in found["parts"].items()]
        return Found(rows=parts, columns=("part", "bytes"))
    whole: Any = operations.disk_read()
    rows = [
        *whole["items"],
        {"id": "in all", "bytes": whole["bytes"], "title": ""},
        {"id": "database", "bytes": whole["database"]["bytes"], "title": ""},
    ]
    return Found(rows=rows, columns=("id", "bytes", "archived", "title"))
