"""Twins: a sandbox that shows a real cluster, and cannot be edited."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.sandboxes import begin
from sandbox.base import bulk
from sandbox.base.errors import Cause, InvalidError
from sandbox.base.memory import gc_paused
from sandbox.live import limits
from sandbox.models import RecordedTick, Sandbox
from sandbox.world.seen import pack
from scheduler.errors import SchedulerError
from scheduler.qrec.reading import Followed, stamp
from scheduler.twin import beginning
from scheduler.twin.files import read_files


def do_play_recording(
    user: User, files: Sequence[tuple[str, bytes]], *, title: str = ""
) -> Sandbox:
    """Make a sandbox that shows what was recorded of a real cluster; paused at its begin.

    `files` are (name, bytes): what `quotalab record` wrote, what kubectl printed, or
    those of a recording's folder. Raises InvalidError for what is none of these.
    """
    limits.check_sandboxes(user)
    most = settings.LIMITS["bytes_per_import"] or 2**30
    try:
        with gc_paused():
            found = read_files(files, most=16 * most)
            world, left_out = beginning.begin_recording(found)
    except SchedulerError as error:
        problem = str(error)
        raise InvalidError(problem, causes=[Cause(problem=problem)]) from error
    limits.check_objects(len(world.objects))
    ticks = [(tick, pack(seen)) for tick, seen in beginning.ticks_of(found)]
    name = files[0][0]
    with transaction.atomic():
        sandbox = begin(
            user,
            world,
            title=(title or name)[:200],
            source=_source(found, name, ticks[-1][0] if ticks else 0),
            problem="\n".join(left_out[:5]),
        )
        bulk.insert(
            RecordedTick,
            ("sandbox_id", "tick", "body"),
            [(sandbox.pk, tick, body) for tick, body in ticks],
        )
    return sandbox


def _source(found: Followed, name: str, last: int) -> dict[str, object]:
    return {
        "kind": "recording",
        "name": name[:200],
        "startTime": stamp(found.start_us),
        "lastTick": last,
    }
