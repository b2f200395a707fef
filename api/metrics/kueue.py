"""Kueue's metrics under Kueue's names and labels.

Source: <https://kueue.sigs.k8s.io/docs/reference/metrics/> (v0.19)
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from api.metrics.counting import WorkloadTotals
from api.metrics.exposition import Exposition
from sandbox.page.diffs import Page, Row

# ------------------------------------------------------------------------
# Kueue's metrics under Kueue's names and labels.


#: Kueue exports memory in bytes and CPU in cores.
_MILLI = frozenset({"cpu"})


def add(
    out: Exposition, page: Page, counts: WorkloadTotals, common: dict[str, str]
) -> None:
    """Add everything that the page and the counts hold."""
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
    _build(out, common)
    _workloads(out, rows, labels)
    _ready(out, rows, counts, labels)
    _subtrees(out, rows, counts, labels)
    add_totals(out, counts, labels)


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
    reserving = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("kueue_reserving_active_workloads", "Workloads that hold quota", reserving),
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
    if not row["implicit"]:
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
    reserving = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("reserving_active_workloads", "Workloads that hold quota", reserving),
        ("admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("finished_workloads", "Finished Workloads kept", counts["finished"]),
    ):
        out.add(f"kueue_local_queue_{name}", "gauge", help_, number, own)
    for word in ("True", "False", "Unknown"):
        labels = {**own, "active": word}
        value = word == str(bool(row["active"]))
        help_ = "1 for the status of the Active condition"
        out.add("kueue_local_queue_status", "gauge", help_, value, labels)


def _build(out: Exposition, common: dict[str, str]) -> None:
    names = ("git_version", "git_commit", "build_date", "go_version", "compiler")
    labels = {**common, **dict.fromkeys((*names, "platform"), "simulated")}
    out.add("kueue_build_info", "gauge", "What runs: a simulation", 1, labels)


def _workloads(out: Exposition, rows: list[Row], common: dict[str, str]) -> None:
    """Add who waits, by reason, and what the waiting ask for and the others hold."""
    reasons: Counter[tuple[str, ...]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    held: Counter[tuple[str, ...]] = Counter()
    used: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row["kind"] != "Workload":
            continue
        queue, local = row["clusterQueue"], (row["localQueue"], row["namespace"])
        if row["phase"] in ("pending", "inadmissible"):
            reasons[(*local, queue, row["reason"])] += 1
            for resource, amount in row["totals"].items():
                asked[queue, resource] += int(amount)
        elif row["phase"] in ("reserved", "admitted"):
            for pod_set in row["podSets"]:
                for resource, flavor in pod_set["flavors"].items():
                    amount = int(pod_set["requests"].get(resource, 0))
                    amount *= pod_set["count"]
                    held[(*local, flavor, resource)] += amount
                    if row["phase"] == "admitted":
                        used[(*local, flavor, resource)] += amount
    _unadmitted(out, reasons, common)
    for (queue, resource), total in sorted(asked.items()):
        labels = {**common, "cluster_queue": queue, "resource": resource}
        name, help_ = "kueue_cluster_queue_resource_pending", "Asked for by who waits"
        out.add(name, "gauge", help_, _amount(resource, str(total)), labels)
    names = ("name", "namespace", "flavor", "resource")
    for word, help_, totals in (
        ("reservation", "Reserved", held),
        ("usage", "Used", used),
    ):
        for place, total in sorted(totals.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            name = f"kueue_local_queue_resource_{word}"
            value = _amount(place[-1], str(total))
            out.add(name, "gauge", f"{help_} by a LocalQueue", value, labels)


def _unadmitted(
    out: Exposition, reasons: Counter[tuple[str, ...]], common: dict[str, str]
) -> None:
    by_queue: Counter[tuple[str, str]] = Counter()
    help_ = "Waiting Workloads by reason"
    for (local, namespace, queue, reason), number in sorted(reasons.items()):
        by_queue[queue, reason] += number
        own = {"name": local, "namespace": namespace, "cluster_queue": queue}
        labels = {**common, **own, "reason": reason, "underlying_cause": ""}
        name = "kueue_local_queue_unadmitted_workloads"
        out.add(name, "gauge", help_, number, labels)
    for (queue, reason), number in sorted(by_queue.items()):
        own = {"cluster_queue": queue, "reason": reason, "underlying_cause": ""}
        out.add("kueue_unadmitted_workloads", "gauge", help_, number, common | own)


def _ready(
    out: Exposition, rows: list[Row], counts: WorkloadTotals, common: dict[str, str]
) -> None:
    """Add how long pods took to get ready: of attempts that go on, and of stopped ones."""
    found: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for name, times in (
        ("kueue_ready", counts.ready),
        ("kueue_local_queue_ready", counts.local_ready),
        ("kueue_local_queue_admitted_until_ready", counts.local_started),
    ):
        found |= {(name, place): list(waits) for place, waits in times.items()}
    for row in rows:
        if row["kind"] != "Workload" or row["readyMs"] is None:
            continue
        last = row["priorityClass"]
        places: dict[str, tuple[str, ...]] = {
            "kueue": (row["clusterQueue"], last),
            "kueue_local_queue": (row["localQueue"], row["namespace"], last),
        }
        for head, place in places.items():
            for word, began in (
                ("ready", "created"),
                ("admitted_until_ready", "admitted"),
            ):
                if row[f"{began}Ms"] is not None:
                    wait = max(0, row["readyMs"] - row[f"{began}Ms"]) / 1000
                    found.setdefault((f"{head}_{word}", place), []).append(wait)
    for (head, place), waits in sorted(found.items()):
        labels = {**common, **dict(zip(_places(place), place, strict=True))}
        help_ = "Until all pods are ready, in seconds"
        out.observe(f"{head}_wait_time_seconds", help_, waits, labels)


def _places(place: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels of a place in a ClusterQueue, or of one in a LocalQueue."""
    if len(place) == 2:
        return ("cluster_queue", "priority_class")
    return ("name", "namespace", "priority_class")


def _subtrees(
    out: Exposition, rows: list[Row], counts: WorkloadTotals, common: dict[str, str]
) -> None:
    """Add what runs and was admitted below each cohort."""
    above = {row["name"]: row["parent"] for row in rows if row["kind"] == "Cohort"}
    active: Counter[str] = Counter(dict.fromkeys(above, 0))
    total: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["kind"] != "ClusterQueue":
            continue
        for cohort in _upwards(row["cohort"], above):
            active[cohort] += row["counts"]["admitted"]
            for (queue, priority_class), number in counts.admitted.items():
                if queue == row["name"]:
                    total[cohort, priority_class] += number
    for cohort, number in sorted(active.items()):
        name, help_ = "kueue_cohort_subtree_admitted_active_workloads", "Admitted below"
        out.add(name, "gauge", help_, number, {**common, "cohort": cohort})
    for (cohort, priority_class), number in sorted(total.items()):
        own = {"cohort": cohort, "priority_class": priority_class}
        name = "kueue_cohort_subtree_admitted_workloads_total"
        out.add(name, "counter", "Admitted below, so far", number, common | own)


def _upwards(cohort: str, above: dict[str, str]) -> list[str]:
    found: list[str] = []
    while cohort and cohort not in found:
        found.append(cohort)
        cohort = above.get(cohort, "")
    return found


def _amount(resource: str, text: str | None) -> float:
    """Return an amount in Kueue's unit; a limit that is not set is +Inf."""
    if text is None:
        return math.inf
    return int(text) / 1000 if resource in _MILLI else int(text)


def _share(text: str) -> float:
    """Return a weighted share; weight 0 while borrowing is NaN, as in Kueue."""
    return math.nan if text == "inf" else float(text)


# ------------------------------------------------------------------------
# Kueue's counters and histograms: what happened since the run began.


def add_totals(out: Exposition, counts: WorkloadTotals, common: dict[str, str]) -> None:
    """Add them, per ClusterQueue and per LocalQueue."""
    _totals(out, counts, common)
    _local_totals(out, counts, common)


def _local_totals(
    out: Exposition, counts: WorkloadTotals, common: dict[str, str]
) -> None:
    names = ("name", "namespace", "priority_class")
    for word, found in (
        ("quota_reserved", counts.local_reserved),
        ("admitted", counts.local_admitted),
        ("finished", counts.local_finished),
    ):
        for place, number in sorted(found.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            name = f"kueue_local_queue_{word}_workloads_total"
            out.add(name, "counter", f"{word} so far", number, labels)
    causes = (*names, "reason", "underlying_cause")
    for place, number in sorted(counts.local_evicted.items()):
        labels = {**common, **dict(zip(causes, place, strict=True))}
        name = "kueue_local_queue_evicted_workloads_total"
        out.add(name, "counter", "Evicted by reason", number, labels)
    for word, times in (
        ("quota_reserved_wait", counts.local_waits),
        ("admission_wait", counts.local_admissions),
        ("admission_checks_wait", counts.local_checks),
        ("execution", counts.local_ran),
    ):
        for place, values in sorted(times.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            name = f"kueue_local_queue_{word}_time_seconds"
            out.observe(name, "In seconds", values, labels)


def _totals(out: Exposition, counts: WorkloadTotals, common: dict[str, str]) -> None:
    for (result,), number in sorted(counts.attempts.items()):
        labels = {**common, "result": result}
        name, help_ = "kueue_admission_attempts_total", "Attempts by result"
        out.add(name, "counter", help_, number, labels)
    names = ("cluster_queue", "priority_class")
    for name, help_, found in (
        ("kueue_quota_reserved_workloads_total", "Got quota", counts.reserved),
        ("kueue_admitted_workloads_total", "Admitted", counts.admitted),
        ("kueue_finished_workloads_total", "Finished", counts.finished),
    ):
        for place, number in sorted(found.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            out.add(name, "counter", help_, number, labels)
    for place, number in sorted(counts.restarts.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        name = "quotalab_restarts_total"
        out.add(name, "counter", "Work begun again", number, labels)
    for place, lost in sorted(counts.lost_ms.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        name = "quotalab_work_lost_seconds"
        out.add(name, "gauge", "Held and thrown away", lost / 1000, labels)
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
    for name, help_, times in (
        ("quota_reserved", "From creation to quota, in seconds", counts.waits),
        ("admission", "From creation to admission, in seconds", counts.admissions),
        ("admission_checks", "From quota to admission, in seconds", counts.checks),
    ):
        for place, waits in sorted(times.items()):
            labels = {**common, **dict(zip(names, place, strict=True))}
            out.observe(f"kueue_{name}_wait_time_seconds", help_, waits, labels)
    for place, ran in sorted(counts.ran.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        name, help_ = "kueue_execution_time_seconds", "From admission to the end"
        out.observe(name, help_, ran, labels)
