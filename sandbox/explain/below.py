"""What Kueue counts below each cohort, which a change of the tree does not bring along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Below:
    """The admitted Workloads below each cohort: as counted, and as last told.

    Each change of a Workload with quota takes it out and counts it again below the
    cohorts that its ClusterQueue has then, and tells of those. A ClusterQueue that goes
    to another cohort takes no count along.
    Source: docs/semantics/kueue.md#metrics-of-cohorts.
    """

    counted: dict[str, int] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=dict)

    def begin(self, page: Page) -> None:
        """Count the admitted Workloads of a page."""
        for row in page.values():
            if row["kind"] == "Workload":
                self._count(page, row, 1)

    def note(
        self, page: Page, before: Mapping[str, Row], touched: Iterable[str]
    ) -> None:
        """Count Workloads that a step touched; `before` are the rows that it changed."""
        for key in touched:
            if key.startswith("Workload/"):
                for row, sign in ((before.get(key), -1), (page.get(key), 1)):
                    if row is not None:
                        self._count(page, row, sign)

    def forget(self, cohort: str) -> None:
        """Forget a cohort that is gone."""
        self.counted.pop(cohort, None)
        self.told.pop(cohort, None)

    def _count(self, page: Page, row: Row, sign: int) -> None:
        if row["phase"] not in ("reserved", "admitted"):
            return
        queue = page.get(f"ClusterQueue//{row['clusterQueue']}", {})
        for cohort in above(page, queue):
            more = sign if row["phase"] == "admitted" else 0
            self.counted[cohort] = self.counted.get(cohort, 0) + more
            self.told[cohort] = self.counted[cohort]
