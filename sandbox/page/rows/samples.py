"""The numbers of one tick, for the curves."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from sandbox.models import Sandbox
from sandbox.page.diffs import Page, Row
from sandbox.page.events import EventRecord
from sandbox.page.rows.fair_shares import owned_by_cohorts, share_error_of
from sandbox.page.rows.tally import PlacedSums, WorkloadTally
from sandbox.page.rows.transport import KEY
from sandbox.page.wire import QueueSample, Sample
from scheduler.engine.stage import SearchTally
from scheduler.model.objects import MARK


def sample_of(
    sandbox: Sandbox,
    page: Page,
    tally: WorkloadTally,
    lines: Iterable[EventRecord],
    searched: SearchTally,
) -> Row:
    """Return the sample of the tick that made this page and these events."""
    phases = +tally.phases or _pods(tally.placed_on(page))
    types = Counter(line.type for line in lines)
    queues = _of_queues([page[key] for key in tally.anew], tally)
    used, capacity = queues.used, queues.capacity
    if not capacity:
        placed = tally.placed_on(page)
        used, capacity = _texts(placed.used), _texts(placed.capacity)
    sample = Sample(
        tick=sandbox.tick,
        t_ms=sandbox.now_ms,
        pending=phases["pending"] + phases["inadmissible"],
        admitted=phases["admitted"] + phases["reserved"],
        finished=phases["finished"],
        preemptions=types["Preempt"],
        evictions=types["Evict"],
        used=used,
        capacity=capacity,
        queues=queues.lines,
        cost=(page.get(KEY) or {}).get("cost"),
        searches=searched.searches,
        candidates_looked_at=searched.looked,
        simulations=searched.simulations,
        share_error=queues.share_error,
    )
    plain: Row = msgspec.to_builtins(sample)
    return plain


@dataclass
class QueueNumbers:
    """What a sample says of queues, and the rows and requests that it was made of."""

    rows: list[Row]
    asked: int
    used: dict[str, str]
    capacity: dict[str, str]
    lines: list[QueueSample]
    share_error: float | None


def _of_queues(rows: list[Row], tally: WorkloadTally) -> QueueNumbers:
    """Return the numbers of these rows; those of the tick before where none changed."""
    known = tally.sampled
    same = (
        isinstance(known, QueueNumbers)
        and known.asked == tally.asked
        and len(known.rows) == len(rows)
        and all(map(operator.is_, known.rows, rows))
    )
    if same:
        assert isinstance(known, QueueNumbers)
        return known
    error = share_error_of(rows, tally)
    lines = sorted(_queues(rows), key=lambda line: line.queue)
    made = QueueNumbers(rows, tally.asked, *_sums(rows), lines, error)
    tally.sampled = made
    return made


_POD_PHASES = {
    "gated": "pending",
    "pending": "pending",
    "waiting": "pending",
    "bound": "admitted",
    "running": "admitted",
    "ready": "admitted",
    "succeeded": "finished",
    "failed": "finished",
}


def _pods(placed: PlacedSums) -> Counter[str]:
    """Count pods where there are no Workloads."""
    phases: Counter[str] = Counter()
    for phase, count in placed.pods.items():
        phases[_POD_PHASES[phase]] += count
    return phases


def _sums(made_anew: Sequence[Row]) -> tuple[dict[str, str], dict[str, str]]:
    """Return used and capacity by resource, of queues and cohorts."""
    used: Counter[str] = Counter()
    capacity: Counter[str] = Counter()
    rows = [row for row in made_anew if row["kind"] == "ClusterQueue"]
    # What a manager reserves is used in a worker: where there are any, they count.
    workers = [row for row in rows if MARK in row["name"]]
    for row in workers or rows:
        for cell in row["cells"]:
            used[cell["resource"]] += int(cell["used"])
            capacity[cell["resource"]] += int(cell["nominal"])
    if not workers:  # what is in use of a cohort's own quota, its queues hold
        for (_, _, resource), own in owned_by_cohorts(made_anew).items():
            capacity[resource] += own
    return _texts(used), _texts(capacity)


def _texts(values: Counter[str]) -> dict[str, str]:
    return {name: str(values[name]) for name in sorted(values)}


def _queues(made_anew: Iterable[Row]) -> Iterable[QueueSample]:
    for row in made_anew:
        if row["kind"] == "ClusterQueue":
            used: Counter[str] = Counter()
            for cell in row["cells"]:
                used[cell["resource"]] += int(cell["used"])
            counts = row["counts"]
            yield QueueSample(
                queue=row["name"],
                share=None if row["share"] == "inf" else float(row["share"]),
                used=_texts(used),
                pending=counts["pending"] + counts["inadmissible"],
            )
        elif row["kind"] == "Queue" and row["leaf"]:
            yield QueueSample(
                queue=row["name"],
                share=row["share"],
                used=row["allocated"],
                pending=row["applications"],
            )
