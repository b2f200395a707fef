"""Kueue's metrics under Kueue's names and labels.

Source: Kueue, Prometheus metrics reference (v0.19).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from api.metrics.counting import Counts
from api.metrics.exposition import Exposition
from sandbox.diffs import Page, Row

#: Kueue exports memory in bytes and CPU in cores.
_MILLI = frozenset({"cpu"})


def add(out: Exposition, page: Page, counts: Counts, common: dict[str, str]) -> None:
    """Add everything that the page and the counts tell."""
    labels = {**common, "replica_role": "standalone"}
    rows = list(page.values())
    roots = _roots(rows)
    for row in rows:
        match row["kind"]:
            case "ClusterQueue":
                _cluster_queue(out, row, roots, labels)
            case "LocalQueue":
                _local_queue(out, row, labels)
            case "Cohort":
                _cohort(out, row, roots, labels)
            case _:
                pass
    _unadmitted(out, rows, labels)
    _totals(out, counts, labels)


def _roots(rows: list[Row]) -> dict[str, str]:
    """Return the root of every cohort."""
    parents = {row["name"]: row["parent"] for row in rows if row["kind"] == "Cohort"}
    roots = {}
    for name in parents:
        at, steps = name, 0
        while parents.get(at) and steps < len(parents):
            at, steps = parents[at], steps + 1
        roots[name] = at
    return roots


def _cluster_queue(
    out: Exposition, row: Row, roots: dict[str, str], common: dict[str, str]
) -> None:
    own = {**common, "cluster_queue": row["name"]}
    counts, cohort = row["counts"], row["cohort"]
    help_ = "Workloads that wait, per ClusterQueue"
    for status, number in (
        ("active", counts["pending"]),
        ("inadmissible", counts["inadmissible"]),
    ):
        labels = {**own, "status": status}
        out.add("kueue_pending_workloads", "gauge", help_, number, labels)
    holding = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("kueue_reserving_active_workloads", "Workloads that hold quota", holding),
        ("kueue_admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("kueue_finished_workloads", "Finished Workloads kept", counts["finished"]),
    ):
        out.add(name, "gauge", help_, number, own)
    status = "active" if row["active"] else "pending"
    for word in ("pending", "active", "terminating"):
        labels = {**own, "status": word}
        help_ = "1 for the status that the ClusterQueue has"
        out.add("kueue_cluster_queue_status", "gauge", help_, word == status, labels)
    info = {**own, "parent_cohort": cohort, "root_cohort": roots.get(cohort, cohort)}
    help_ = "Where the ClusterQueue hangs"
    out.add("kueue_cluster_queue_info", "gauge", help_, 1, info)
    labels = {**own, "cohort": cohort}
    name = "kueue_cluster_queue_weighted_share"
    out.add(name, "gauge", "Weighted share", _share(row["share"]), labels)
    for cell in row["cells"]:
        _cell(out, cell, labels)


def _cell(out: Exposition, cell: dict[str, Any], own: dict[str, str]) -> None:
    resource = cell["resource"]
    labels = {**own, "flavor": cell["flavor"], "resource": resource}
    for name, help_, field in (
        ("nominal_quota", "Nominal quota", "nominal"),
        ("borrowing_limit", "Borrowing limit", "borrowingLimit"),
        ("lending_limit", "Lending limit", "lendingLimit"),
        ("resource_reservation", "Quota reserved", "used"),
        ("resource_usage", "Quota used", "used"),
    ):
        value = _amount(resource, cell[field])
        out.add(f"kueue_cluster_queue_{name}", "gauge", help_, value, labels)


def _cohort(
    out: Exposition, row: Row, roots: dict[str, str], common: dict[str, str]
) -> None:
    own = {**common, "cohort": row["name"]}
    info = {
        **own,
        "parent_cohort": row["parent"],
        "root_cohort": roots.get(row["name"], ""),
    }
    out.add("kueue_cohort_info", "gauge", "Where the cohort hangs", 1, info)
    name, share = "kueue_cohort_weighted_share", _share(row["share"])
    out.add(name, "gauge", "Weighted share", share, own)
    for cell in row["cells"]:
        resource = cell["resource"]
        labels = {**own, "flavor": cell["flavor"], "resource": resource}
        for name, help_, field in (
            ("subtree_quota", "Quota of the subtree", "nominal"),
            ("subtree_resource_reservations", "Reserved in the subtree", "used"),
        ):
            value = _amount(resource, cell[field])
            out.add(f"kueue_cohort_{name}", "gauge", help_, value, labels)


def _local_queue(out: Exposition, row: Row, common: dict[str, str]) -> None:
    own = {**common, "name": row["name"], "namespace": row["namespace"]}
    counts = row["counts"]
    for status, number in (
        ("active", counts["pending"]),
        ("inadmissible", counts["inadmissible"]),
    ):
        labels = {**own, "status": status}
        name = "kueue_local_queue_pending_workloads"
        out.add(name, "gauge", "Workloads that wait", number, labels)
    holding = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("reserving_active_workloads", "Workloads that hold quota", holding),
        ("admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("finished_workloads", "Finished Workloads kept", counts["finished"]),
    ):
        out.add(f"kueue_local_queue_{name}", "gauge", help_, number, own)
    for word in ("True", "False", "Unknown"):
        labels = {**own, "active": word}
        value = word == str(bool(row["active"]))
        help_ = "1 for the status of the Active condition"
        out.add("kueue_local_queue_status", "gauge", help_, value, labels)


def _unadmitted(out: Exposition, rows: list[Row], common: dict[str, str]) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["kind"] == "Workload" and row["phase"] in ("pending", "inadmissible"):
            found[row["clusterQueue"], row["reason"]] += 1
    for (queue, reason), number in sorted(found.items()):
        labels = {
            **common,
            "cluster_queue": queue,
            "reason": reason,
            "underlying_cause": "",
        }
        name, help_ = "kueue_unadmitted_workloads", "Waiting Workloads by reason"
        out.add(name, "gauge", help_, number, labels)


def _totals(out: Exposition, counts: Counts, common: dict[str, str]) -> None:
    for (result,), number in sorted(counts.attempts.items()):
        labels = {**common, "result": result}
        name, help_ = "kueue_admission_attempts_total", "Attempts by result"
        out.add(name, "counter", help_, number, labels)
    names = ("cluster_queue", "priority_class")
    for name, help_, found in (
        ("kueue_quota_reserved_workloads_total", "Got quota", counts.admitted),
        ("kueue_admitted_workloads_total", "Admitted", counts.admitted),
        ("kueue_finished_workloads_total", "Finished", counts.finished),
    ):
        for place, number in sorted(found.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            out.add(name, "counter", help_, number, labels)
    evictions = Counter(place[1:] for place in counts.once)
    causes = ("cluster_queue", "priority_class", "reason", "underlying_cause")
    for name, found in (
        ("kueue_evicted_workloads_total", counts.evicted),
        ("kueue_evicted_workloads_once_total", evictions),
    ):
        for place, number in sorted(found.items()):
            labels = {**common, **dict(zip(causes, place, strict=True))}
            out.add(name, "counter", "Evicted by reason", number, labels)
    for (queue, reason), number in sorted(counts.preempted.items()):
        labels = {**common, "preempting_cluster_queue": queue, "reason": reason}
        name, help_ = "kueue_preempted_workloads_total", "Preempted by whose queue"
        out.add(name, "counter", help_, number, labels)
    for place, waits in sorted(counts.waits.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        for name in ("quota_reserved", "admission"):
            help_ = "From creation to admission, in seconds"
            out.observe(f"kueue_{name}_wait_time_seconds", help_, waits, labels)


def _amount(resource: str, text: str | None) -> float:
    """Return an amount in Kueue's unit; a limit that is not set is +Inf."""
    if text is None:
        return math.inf
    return int(text) / 1000 if resource in _MILLI else int(text)


def _share(text: str) -> float:
    """Return a weighted share; weight 0 while borrowing is NaN, as in Kueue."""
    return math.nan if text == "inf" else float(text)
