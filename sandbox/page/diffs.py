"""Pages and diffs: what two pages differ in, and how to get from one to the other.

A page is every row by key, as plain values under their names on the wire.
State + diffs = fresh state: applying the diffs in order to an old page gives
exactly the page that would be made anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

Row = dict[str, Any]
Page = dict[str, Row]

#: What a coalesced diff keeps of each list: the newest.
MOST_EVENTS = 200
MOST_SAMPLES = 600

#: Edits after which a sandbox has another past than before.
HISTORY_EDITS = frozenset({"Rewind", "Undo", "Redo"})


class Delta(msgspec.Struct, kw_only=True):
    """What differs between two pages; `updated` holds changed fields only."""

    added: list[Row] = []
    updated: dict[str, Row] = {}
    removed: list[str] = []

    def empty(self) -> bool:
        """Return whether the pages are equal."""
        return not (self.added or self.updated or self.removed)


class RevisionDiff(msgspec.Struct, kw_only=True):
    """A diff as it travels and as it is stored: the message `diff` of the wire."""

    type: str = "diff"
    from_revision: int = msgspec.field(name="from")
    revision: int
    tick: int
    added: list[Row] = []
    updated: dict[str, Row] = {}
    removed: list[str] = []
    samples: list[Row] = []
    events: list[Row] = []

    def rewrites_history(self) -> bool:
        """Return whether it gives the sandbox another past: curves are to be read anew."""
        return any(_of_history(event) for event in self.events)


class Patch(Delta, kw_only=True):
    """The part of a stored diff that makes pages: no samples, no events."""

    from_revision: int = msgspec.field(name="from")
    revision: int


decode_patch = msgspec.json.Decoder(Patch).decode
encode_step = msgspec.json.Encoder().encode
decode_step = msgspec.json.Decoder(RevisionDiff).decode


def between(before: Mapping[str, Row], after: Mapping[str, Row]) -> Delta:
    """Return what leads from one page to another. O(rows)."""
    delta = Delta(removed=[key for key in before if key not in after])
    for key, row in after.items():
        note(delta, before.get(key), row)
    return delta


def note(delta: Delta, before: Row | None, after: Row) -> None:
    """Add to `delta` what one row changed."""
    if before is None:
        delta.added.append(after)
    elif before != after:
        delta.updated[after["key"]] = {
            name: value for name, value in after.items() if before.get(name) != value
        }


def apply(page: Page, change: Delta | RevisionDiff) -> None:
    """Bring the page forward, in place. Rows are replaced, never written into."""
    for key in change.removed:
        page.pop(key, None)
    for row in change.added:
        page[row["key"]] = row
    for key, patch in change.updated.items():
        page[key] = {**page[key], **patch}


def merge(steps: Sequence[RevisionDiff]) -> RevisionDiff:
    """Return one diff that does what these consecutive ones do.

    Raises ValueError when they are not consecutive. Samples and events are
    cut to the newest MOST_SAMPLES and MOST_EVENTS; an edit of history is kept, since
    its readers have to ask for another past.
    """
    if len(steps) == 1:
        return steps[0]
    merged = _Merged()
    at = steps[0].from_revision
    for step in steps:
        if step.from_revision != at:
            raise ValueError(f"expected a diff from {at}, got {step.from_revision}")
        merged.take(step)
        at = step.revision
    return RevisionDiff(
        from_revision=steps[0].from_revision,
        revision=at,
        tick=steps[-1].tick,
        added=list(merged.added.values()),
        updated=merged.updated,
        removed=list(merged.removed),
        samples=_newest((s for step in steps for s in step.samples), MOST_SAMPLES),
        events=_newest_events([e for step in steps for e in step.events]),
    )


def _newest(lines: Iterable[Row], most: int) -> list[Row]:
    return list(lines)[-most:]


def _newest_events(lines: list[Row]) -> list[Row]:
    cut = [event for event in lines[:-MOST_EVENTS] if _of_history(event)]
    return cut + lines[-MOST_EVENTS:]


def _of_history(event: Row) -> bool:
    return event.get("type") == "Edit" and event["reason"] in HISTORY_EDITS


class _Merged:
    """Rows added, updated and removed so far.

    A key that is removed and added again stays in `removed` too: `apply`
    removes first, so the new row is whole.
    """

    def __init__(self) -> None:
        self.added: Page = {}
        self.updated: dict[str, Row] = {}
        self.removed: dict[str, None] = {}

    def take(self, step: RevisionDiff) -> None:
        for key in step.removed:
            self.updated.pop(key, None)
            if self.added.pop(key, None) is None or key in self.removed:
                self.removed[key] = None
        for row in step.added:
            self.added[row["key"]] = row
        for key, patch in step.updated.items():
            if key in self.added:
                self.added[key] = {**self.added[key], **patch}
            else:
                self.updated[key] = {**self.updated.get(key, {}), **patch}
