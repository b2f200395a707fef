"""A recording as a sandbox begins with it: the world of its begin, and its ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from sandbox.base import bulk
from sandbox.base.errors import Cause, InvalidError
from sandbox.models import RecordedTick, Sandbox
from sandbox.world.seen import pack
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused
from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.reading import stamp
from scheduler.recorded.twin import beginning
from scheduler.recorded.twin.files import read_files

#: Of what was left out, so much stands on the page.
_MOST_NOTES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording that was read: its world at tick 0, and what each tick saw."""

    world: World
    ticks: Sequence[tuple[int, bytes]]
    source: dict[str, object]
    left_out: Sequence[str]

    def columns(self) -> dict[str, Any]:
        """Return the columns of a sandbox that shows it."""
        notes = "\n".join(self.left_out[:_MOST_NOTES])
        return {"source": self.source, "problem": notes}

    def keep(self, sandbox: Sandbox) -> None:
        """Write what comes with each tick, for the sandbox that shows it."""
        rows = [(sandbox.pk, tick, body) for tick, body in self.ticks]
        bulk.insert(RecordedTick, ("sandbox_id", "tick", "body"), rows)


def read_recording(files: Sequence[tuple[str, bytes]]) -> Recording:
    """Return the recording that files (name, bytes) are, called as the first of them.

    Raises InvalidError for files that are none.
    """
    most = settings.LIMITS["bytes_per_import"] or 2**30
    values = settings.LIMITS["yaml_values"]
    try:
        with gc_paused():
            found = read_files(files, most=16 * most, values=values)
            world, left_out = beginning.begin_recording(found)
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error
    ticks = [(tick, pack(seen)) for tick, seen in beginning.ticks_of(found)]
    source: dict[str, object] = {
        "kind": "recording",
        "name": files[0][0][:200],
        "startTime": stamp(found.start_us),
        "lastTick": ticks[-1][0] if ticks else 0,
    }
    return Recording(world=world, ticks=ticks, source=source, left_out=left_out)
