"""The smallest world that still shows an event, found from a sandbox's history."""

from __future__ import annotations

import time
from collections.abc import Callable

from sandbox.base.absences import Absent, NotTaken
from sandbox.base.errors import (
    ConflictError,
    GoneError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.refusals import Refused
from sandbox.models import Event, Sandbox
from sandbox.twins.ticks import was_observed
from sandbox.world import history
from scheduler.analysis.reproduction import (
    Reproduction,
    Start,
    reproduce,
    start_of_world,
)
from scheduler.engine.world import World
from scheduler.model import decisions
from scheduler.model.scenario import Match

#: How long a search may take in the wall's seconds, unless it is given.
PATIENCE_S = 20.0
MOST_RUNS = 2000
#: Events that no engine decides: a person did them.
_DECIDED = frozenset(
    name
    for name, kind in vars(decisions).items()
    if isinstance(kind, type)
    and issubclass(kind, decisions.Decision)
    and name not in ("Decision", "Edit")
)


def reproduce_event(
    sandbox: Sandbox,
    revision: int,
    seq: int,
    *,
    seconds: float = PATIENCE_S,
    most_runs: int = MOST_RUNS,
    hear: Callable[[int, int], None] = lambda runs, left: None,
) -> Reproduction:
    """Return the smallest world found that takes the decision of an event.

    First from the world as it stood before the event, then from the run's first
    state. Not found when only what lies between the two made it so: positions
    in queues and backoffs that objects do not show, or edits. Raises
    NotFoundError and InvalidError.
    """
    event = history.events(sandbox).filter(revision=revision, seq=seq).first()
    if event is None:
        raise NotFoundError(Absent.EVENT.said(event=f"{revision}.{seq}"))
    if event.type not in _DECIDED:
        raise InvalidError(
            NotTaken.EDIT.said(event=f"{revision}.{seq}", type=event.type)
        )
    if was_observed(sandbox, revision):
        raise ConflictError(Refused.REAL_EVENT.said(event=f"{revision}.{seq}"))
    deadline = time.monotonic() + seconds
    return reproduce(
        _starts(sandbox, event),
        _wanted(event),
        most_runs=most_runs,
        go_on=lambda: time.monotonic() < deadline,
        hear=hear,
    )


def _wanted(event: Event) -> Match:
    node = event.data.get("node", "") if isinstance(event.data, dict) else ""
    return Match(
        type=event.type,
        subject=event.subject,
        by=event.by,
        reason=event.reason,
        node=str(node or ""),
    )


def _starts(sandbox: Sandbox, event: Event) -> list[Start]:
    worlds: list[World] = [history.world_at(sandbox, event.revision - 1)]
    try:
        first = history.revision_at(sandbox, 0)
        worlds.append(history.world_at(sandbox, first))
    except (GoneError, NotFoundError):
        pass  # what began it is no longer kept
    return [start_of_world(world, event.t_ms) for world in worlds]
