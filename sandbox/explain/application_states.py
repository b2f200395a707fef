"""Which states an application of YuniKorn went through, read from the pages kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sandbox.explain.counting import MOST_GONE, CountCache
from sandbox.models import Sandbox
from sandbox.page import diffs
from sandbox.page.diffs import Page
from sandbox.page.rows.transport import KEY
from sandbox.world import history
from scheduler.engine.yunikorn.objects.model import State

#: When a state was entered, in virtual ms, and the state.
Entered = tuple[int, str]

#: The states that may follow each one.
#: Source: docs/semantics/yunikorn.md#application-states
FOLLOWING: Final[dict[State, tuple[State, ...]]] = {
    State.NEW: (State.ACCEPTED, State.REJECTED),
    State.ACCEPTED: (
        State.RUNNING,
        State.STARTING,
        State.COMPLETING,
        State.RESUMING,
        State.FAILING,
    ),
    State.STARTING: (State.RUNNING, State.COMPLETING, State.FAILING),
    State.RUNNING: (State.COMPLETING, State.FAILING),
    State.RESUMING: (State.ACCEPTED, State.FAILING),
    State.COMPLETING: (State.RUNNING, State.COMPLETED),
    State.FAILING: (State.FAILED,),
}


@dataclass(slots=True)
class ApplicationStates:
    """The state log of each application up to `revision`, by its key on the page."""

    revision: int = 0
    entered: dict[str, list[Entered]] = field(default_factory=dict)
    gone: dict[str, None] = field(default_factory=dict)  # left, the last one last


def _read(known: ApplicationStates, sandbox: Sandbox, _: Page) -> None:
    """Read what came since."""
    page, steps = history.steps_from(sandbox, known.revision)
    if not known.revision:
        _note(known, page, page)
    for step in steps:
        diffs.apply(page, step)
        _note(known, page, (*step.updated, *(row["key"] for row in step.added)))
        for key in step.removed:
            if key in known.entered:
                known.gone[key] = None
    while len(known.gone) > MOST_GONE:
        oldest = next(iter(known.gone))
        del known.gone[oldest], known.entered[oldest]
    known.revision = sandbox.revision


def _note(known: ApplicationStates, page: Page, keys: Iterable[str]) -> None:
    for key in keys:
        if not key.startswith("Application/"):
            continue
        if key in known.gone:  # another one of its name
            del known.gone[key], known.entered[key]
        entered = known.entered.setdefault(key, [])
        entered += since(entered, page[KEY]["tMs"], page[key]["state"])


def since(entered: Sequence[Entered], at_ms: int, state: str) -> list[Entered]:
    """Return the states entered at an instant that ends in `state`.

    Between two ticks an application may enter several: they are those of the shortest
    way. New is no entry: an application is New before it is looked at.
    """
    last = entered[-1][1] if entered else State.NEW
    return [(at_ms, str(one)) for one in _way(State(last), State(state))]


def _way(start: State, end: State) -> list[State]:
    """Return the states after `start` up to `end`; `end` alone where no way is known."""
    if start is end:
        return []
    ways = deque([[start]])
    found = {start}
    while ways:
        way = ways.popleft()
        for one in FOLLOWING.get(way[-1], ()):
            if one is end:
                return [*way[1:], one]
            if one not in found:
                found.add(one)
                ways.append([*way, one])
    return [end]


states_of = CountCache(ApplicationStates, _read).brought_to
