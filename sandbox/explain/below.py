"""What Kueue last told of a cohort's subtree, where the tree changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sandbox.page.diffs import Page

Row = dict[str, Any]


def above(rows: Page, row: Row) -> Iterator[str]:
    """Yield the cohorts above a ClusterQueue or a cohort, the nearest first."""
    name, seen = row.get("cohort") or row.get("parent"), set[str]()
    while name and name not in seen:
        yield name
        seen.add(name)
        name = rows.get(f"Cohort//{name}", {}).get("parent")


def note_below(known: dict[str, int], page: Page, before: dict[str, Row]) -> None:
    """Note what runs below cohorts whose tree changes; forget it once that is told anew.

    `before` are the rows of queues, cohorts and Workloads that a step touched.

    Source: docs/semantics/kueue.md#metrics-of-cohorts.
    """
    trees = [key for key in before if key.startswith(("ClusterQueue/", "Cohort/"))]
    was = {**page, **before} if trees else {}
    moved = [
        key
        for key in trees
        if [*above(was, was[key])] != [*above(page, page.get(key, {}))]
    ]
    if moved:
        queues = [row for key, row in was.items() if key.startswith("ClusterQueue/")]
        ran: Counter[str] = Counter()
        for row in queues:
            for cohort in above(was, row):
                ran[cohort] += row["counts"]["admitted"]
        for key in moved:
            for cohort in (*above(was, was[key]), *above(page, page.get(key, {}))):
                known.setdefault(cohort, ran[cohort])
    if not known:
        return
    for key, row in before.items():
        if key.startswith("Workload/") and row["phase"] in ("reserved", "admitted"):
            queue = page.get(f"ClusterQueue//{row['clusterQueue']}", {})
            for cohort in above(page, queue):
                known.pop(cohort, None)
