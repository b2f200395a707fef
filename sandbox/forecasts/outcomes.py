"""What came of the forecasts of a sandbox: how right they were, how they correct others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from django.db.models import Min, QuerySet

from sandbox.forecasts.parts import options_of
from sandbox.models import Event, KeptForecast, Revision, Sandbox
from sandbox.world import history
from scheduler.analysis.forecast.present import GivenStart
from scheduler.analysis.forecast.track_record import (
    Correction,
    PastForecast,
    TrackRecord,
    track_record,
)

#: So many of the newest forecasts are scored.
MOST = 100

Starts = dict[str, list[tuple[int, int]]]


def kept_of(sandbox: Sandbox) -> QuerySet[KeptForecast]:
    """Return the sandbox's own forecasts of revisions that are still its past."""
    past = history.rows_of(KeptForecast, sandbox, whole=True)
    return past.filter(sandbox=sandbox)


def record_of(sandbox: Sandbox) -> TrackRecord:
    """Return how the newest forecasts came out; of one revision the newest counts.

    What an edit, an undo or a rewind brought after a forecast says nothing of it: what
    came is known until then. Three queries and two per forecast.
    """
    return track_record(*_past(sandbox))


def correction_of(sandbox: Sandbox, now_ms: int) -> Correction:
    """Return how the earlier forecasts of a twin correct one of this instant."""
    return Correction(*_past(sandbox), now_ms)


def _past(
    sandbox: Sandbox,
) -> tuple[list[PastForecast], Callable[[int, str], int | None]]:
    """Return the newest forecasts, and what says when a workload of one started."""
    kept = _newest(sandbox)
    ends = [_end(sandbox, one.revision) for one in kept]
    starts = _starts(sandbox, min((one.revision for one in kept), default=0))
    past = [
        PastForecast(
            at_ms=one.now_ms,
            horizon_ms=options_of(one).horizon_ms,
            known_ms=end[1],
            # Where nothing waited nothing was given, and the column has its default.
            starts=msgspec.convert(one.given or [], list[GivenStart]),
        )
        for one, end in zip(kept, ends, strict=True)
    ]

    def came(number: int, workload: str) -> int | None:
        first, last = kept[number].revision, ends[number][0]
        found = starts.get(workload, ())
        return next((at for place, at in found if first < place < last), None)

    return past, came


def _newest(sandbox: Sandbox) -> Sequence[KeptForecast]:
    found = kept_of(sandbox).filter(state=KeptForecast.DONE)
    rows = found.defer("world", "answer").order_by("-pk")[:MOST]
    by_revision: dict[int, KeptForecast] = {}
    for one in rows:
        by_revision.setdefault(one.revision, one)
    return [by_revision[revision] for revision in sorted(by_revision)]


def _end(sandbox: Sandbox, revision: int) -> tuple[int, int]:
    """Return the revision before which, and the time until which it is known what came."""
    known = history.rows_of(Revision, sandbox, whole=True)
    own = known.filter(number__gt=revision)
    changed = own.filter(kind__in=(Revision.EDIT, Revision.RERUN))
    first = changed.aggregate(first=Min("number"))["first"]
    if first is None:
        return sandbox.revision + 1, sandbox.now_ms
    before = own.filter(number__lt=first).order_by("-number")
    at = before.values_list("t_ms", flat=True).first()
    return first, 0 if at is None else at


def _starts(sandbox: Sandbox, revision: int) -> Starts:
    """Return the admissions after a revision by Workload, in order: revision and ms."""
    known = history.rows_of(Event, sandbox, whole=True)
    admitted = known.filter(type="Admit", revision__gt=revision)
    rows = admitted.order_by("revision", "seq")
    found: Starts = {}
    for subject, number, at in rows.values_list("subject", "revision", "t_ms"):
        found.setdefault(subject, []).append((number, at))
    return found
