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
from sandbox.page.rows.tally import PlacedSums, WorkloadTally
from sandbox.page.rows.transport import KEY
from sandbox.page.wire import QueueSample, Sample
from scheduler.analysis.measures.capacity import Capacity, Entitlement
from scheduler.analysis.measures.fairness import share_error
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


# ------------------------------------------------------------------------
# How far from fair the queues of a page stand.


Amounts = dict[str, int]
_TREE = ("ClusterQueue", "Cohort")


def share_error_of(made_anew: Sequence[Row], tally: WorkloadTally) -> float | None:
    """Return the share error of a page; None where it has no ClusterQueue.

    `made_anew` are the rows of the queues and cohorts; those of worker clusters do not
    count. The same number as a measured run has then. O(queues x log queues).
    """
    rows = [
        row for row in made_anew if row["kind"] in _TREE and MARK not in row["name"]
    ]
    parents = {row["name"]: row["parent"] for row in rows if row["kind"] == "Cohort"}
    queues: dict[str, Entitlement] = {}
    by_group: dict[str, Amounts] = {}
    owned = owned_by_cohorts(rows)
    used: dict[str, Amounts] = {}
    for row in rows:
        group = _tree(row, parents)
        whole, own, held = by_group.setdefault(group, {}), Amounts(), Amounts()
        for cell in row["cells"]:
            resource = cell["resource"]
            nominal = owned.get((row["key"], cell["flavor"], resource))
            if nominal is None:
                nominal = int(cell["nominal"])
            whole[resource] = whole.get(resource, 0) + nominal
            own[resource] = own.get(resource, 0) + nominal
            held[resource] = held.get(resource, 0) + int(cell["used"])
        if row["kind"] == "ClusterQueue":
            queues[row["name"]] = Entitlement(
                group=group, weight=float(row["weight"]), own=own
            )
            used[row["name"]] = held
    if not queues:
        return None
    capacities = Capacity(
        capacity={}, by_group=by_group, queues=queues, places={}, on_nodes=False
    )
    return share_error(capacities, used, tally.asking)


def owned_by_cohorts(rows: Iterable[Row]) -> dict[tuple[str, str, str], int]:
    """Return what cohorts have of their own: (key, flavor, resource) -> amount.

    The row of a cohort has what it and all below bring together; what its children
    bring is taken off. O(cells).
    """
    rows = [row for row in rows if row["kind"] in _TREE]
    keys = {row["name"]: row["key"] for row in rows if row["kind"] == "Cohort"}
    owned = {
        (row["key"], cell["flavor"], cell["resource"]): int(cell["nominal"])
        for row in rows
        if row["kind"] == "Cohort"
        for cell in row["cells"]
    }
    for row in rows:
        above = keys.get(row["parent"] if row["kind"] == "Cohort" else row["cohort"])
        for cell in row["cells"] if above else ():
            place = (above, cell["flavor"], cell["resource"])
            brings = int(cell["nominal"])
            if cell["lendingLimit"] is not None:
                brings = min(brings, int(cell["lendingLimit"]))
            owned[place] = max(0, owned.get(place, 0) - brings)
    return owned


def _tree(row: Row, parents: dict[str, str]) -> str:
    """Return a name for the root of the cohort tree of a row."""
    cohort = row["name"] if row["kind"] == "Cohort" else row["cohort"]
    if not cohort:
        return f"queue {row['name']}"
    seen: set[str] = set()
    while (above := parents.get(cohort)) and cohort not in seen:
        seen.add(cohort)
        cohort = above
    return f"cohort {cohort}"
