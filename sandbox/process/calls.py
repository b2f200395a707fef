"""Workers are called to what waits: the runs of experiments, the futures of forecasts.

What runs is a row with `state` and `look_at`, and has parts that anybody may take up.
The clock calls workers where parts wait; a visit that ended some calls its successor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast

from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.process.celery import EXPERIMENTS, app

#: One visit: then ticks that wait are served. A part that was begun is ended.
VISIT_S = 0.3
#: How often the clock looks where parts wait.
LOOK_EVERY_S = 1.0
#: Calls sent at one look; who finds no part is done at once.
MOST_CALLS = 16
#: What one look sends workers to; the others are due at the next.
MOST_DUE = 100


@dataclass(frozen=True, slots=True)
class PartWork:
    """One kind of work: the task of a visit, what runs, and the parts to take up."""

    task: str
    running: Callable[[], QuerySet[Any]]
    open_parts: Callable[[], QuerySet[Any]]
    part_of: str  # the column of a part that names the row

    def visit(self, until: float | None, run: Callable[[float], int]) -> int:
        """Run waiting parts for one visit; return how many ended.

        A call that is taken after `until`, by the database's clock, was made again
        since.
        """
        if until is not None and database_seconds() > until:
            return 0
        ended = run(VISIT_S)
        if ended and self.open_parts().exists():
            self.call(1)
        return ended

    def call(self, workers: int) -> None:
        """Ask so many worker processes for a visit; a bus that is away is waited for."""
        until = database_seconds() + 2 * LOOK_EVERY_S
        for _ in range(workers):
            app.send_task(self.task, (until,), retry=False, queue=EXPERIMENTS)

    def look(self, key: str, look_at: float) -> None:
        """Call workers to one that is due, unless somebody else has done so."""
        mine = self.running().filter(pk=key, look_at=look_at)
        if mine.update(look_at=DatabaseTime() + LOOK_EVERY_S):
            waiting = self.open_parts().filter(**{self.part_of: key})
            # One when none waits: what ended may wait to be gone on with.
            self.call(len(waiting.values_list("pk")[:MOST_CALLS]) or 1)


def look(works: Sequence[PartWork]) -> None:
    """Call workers to what runs and has parts that wait or are lost.

    One statement while nothing is due.
    """
    first, *others = (_due(number, work) for number, work in enumerate(works))
    for number, key, look_at in first.union(*others, all=True)[:MOST_DUE]:
        works[number].look(key, look_at)


def _due(number: int, work: PartWork) -> QuerySet[Any, Any]:
    due = work.running().filter(look_at__lte=DatabaseTime()).order_by()
    # Their keys are of different types, which a UNION may not mix.
    named = due.annotate(work=Value(number), key=Cast("pk", TextField()))
    found: QuerySet[Any, Any] = named.values_list("work", "key", "look_at")
    return found
