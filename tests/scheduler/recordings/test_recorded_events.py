"""The lines of a recording's watch."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.cli.recording_folder import read_events
from scheduler.model.errors import SchedulerError


def line(change: str, **item: Any) -> bytes:
    return msgspec.json.encode(
        {"at": "2026-01-01T00:00:00Z", "type": change, "object": item}
    )


def test_a_bookmark_is_no_change():
    job = line("ADDED", kind="Job", metadata={"name": "j"})
    mark = line("BOOKMARK", kind="Job", metadata={"resourceVersion": "5"})
    assert [event.type for event in read_events([mark, job], "w")] == ["ADDED"]


def test_an_error_of_the_watch_is_named_with_its_line():
    gone = line("ERROR", kind="Status", metadata={}, message="too old")
    with pytest.raises(SchedulerError, match=r"w:1: .* got ERROR: too old"):
        list(read_events([gone], "w"))
