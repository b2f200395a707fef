"""What happened to pods so far, counted from events; each event is read once per process."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from api.metrics.count_cache import CountCache
from sandbox.models import Sandbox
from sandbox.page.diffs import Page
from sandbox.world import history

_TYPES = ("Arrive", "Bind", "Fail", "Finish", "Evict", "Preempt")


@dataclass(slots=True)
class PodCounts:
    """The totals of one sandbox up to `revision`; `place` is (queue, scheduler)."""

    revision: int = 0
    place_of: dict[str, tuple[str, str]] = field(default_factory=dict)
    arrived: dict[str, int] = field(default_factory=dict)  # pod -> ms
    tried: Counter[str] = field(default_factory=Counter)  # pod -> failed attempts
    scheduled: Counter[str] = field(default_factory=Counter)  # by scheduler
    unschedulable: Counter[str] = field(default_factory=Counter)
    allocated: Counter[str] = field(default_factory=Counter)  # by queue
    released: Counter[str] = field(default_factory=Counter)
    attempts: list[int] = field(default_factory=list)  # of each pod that was bound
    waits: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    victims: Counter[tuple[str, int]] = field(default_factory=Counter)  # (by, at)
    events: int = 0


def _read(counts: PodCounts, sandbox: Sandbox, page: Page) -> None:
    """Count what came since; one query."""
    for key, row in page.items():
        if row["kind"] == "Pod":
            counts.place_of[key] = (row["queue"], row["scheduler"])
    events = (
        history.events(sandbox)
        .filter(
            type__in=_TYPES,
            revision__gt=counts.revision,
            revision__lte=sandbox.revision,
            subject__startswith="Pod/",
        )
        .order_by("revision", "seq")
        .values_list("type", "subject", "by", "t_ms", "data")
    )
    for type_, subject, by, t_ms, data in events.iterator():
        counts.events += 1
        _count(counts, type_, subject, by, t_ms, int((data or {}).get("times", 1)))
    counts.revision = sandbox.revision


def _count(
    counts: PodCounts, type_: str, subject: str, by: str, t_ms: int, times: int
) -> None:
    queue, scheduler = counts.place_of.get(subject, ("", ""))
    match type_:
        case "Arrive":
            counts.arrived[subject] = t_ms
        case "Fail":
            counts.tried[subject] += times
            counts.unschedulable[scheduler] += times
        case "Bind":
            attempts = counts.tried.pop(subject, 0) + 1
            counts.attempts.append(attempts)
            counts.scheduled[scheduler] += 1
            counts.allocated[queue] += 1
            wait = max(0, t_ms - counts.arrived.get(subject, t_ms)) / 1000
            counts.waits[attempts].append(wait)
        case "Preempt":
            counts.victims[by, t_ms] += 1
            counts.released[queue] += 1
        case _:
            counts.released[queue] += 1


counts_of = CountCache(PodCounts, _read).brought_to
