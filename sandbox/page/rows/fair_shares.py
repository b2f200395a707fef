"""How far from fair the queues of a page stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox.page.diffs import Row
from sandbox.page.rows.tally import WorkloadTally
from scheduler.analysis.measures.capacity import Capacity, Entitlement
from scheduler.analysis.measures.fairness import share_error
from scheduler.model.objects import MARK

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
