"""Kueue's metrics under Kueue's names and labels.

Source: <https://kueue.sigs.k8s.io/docs/reference/metrics/> (v0.19)
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from api.metrics.exposition import Exposition
from sandbox.explain.counting import WorkloadTotals
from sandbox.page.diffs import Page, Row
from scheduler.engine.kueue.cache.cluster import IS_TERMINATING

#: Kueue exports memory in bytes and CPU in cores.
_MILLI = frozenset({"cpu"})


def add(
    out: Exposition, page: Page, counts: WorkloadTotals, common: dict[str, str]
) -> None:
    """Add everything that the page and the counts hold.

    Of what waits the `inadmissible` are known, and by `counts.waiting` all that a queue
    holds: what waits for its back-off, or behind a stopped LocalQueue, is in none.
    """
    labels = {**common, "replica_role": "standalone"}
    rows = list(page.values())
    roots, finished = _roots(rows), _finished(rows)
    for row in rows:
        match row["kind"]:
            case "ClusterQueue":
                ended = finished.get(("", row["name"]), 0)
                _cluster_queue(out, row, roots, (counts, ended), labels)
            case "LocalQueue":
                _status(out, row, labels)
                if f"ClusterQueue//{row['clusterQueue']}" in page:
                    ended = finished.get((row["namespace"], row["name"]), 0)
                    _local_queue(out, row, (counts, ended), labels)
            case "Cohort":
                _cohort(out, row, roots, labels)
            case _:
                pass
    _build(out, common)
    _workloads(out, rows, labels)
    _subtrees(out, rows, counts.below.told, labels)
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


def _finished(rows: list[Row]) -> Counter[tuple[str, str]]:
    """Return how many Workloads kept are over, by LocalQueue, and by ("", ClusterQueue).

    A ClusterQueue counts those of the LocalQueues that lead to it now.
    """
    leads = {
        (row["namespace"], row["name"]): row["clusterQueue"]
        for row in rows
        if row["kind"] == "LocalQueue" and row["stopPolicy"] in ("", "None")
    }
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["kind"] == "Workload" and row["phase"] == "finished":
            local = row["namespace"], row["localQueue"]
            if local in leads:
                found[local] += 1
                found["", leads[local]] += 1
    return found


def _waiting(row: Row, counts: WorkloadTotals) -> tuple[tuple[str, int], ...]:
    """Return how many a queue holds that are tried, and that are not for now."""
    held = counts.waiting.get(row["key"], 0)
    inadmissible = min(held, row["counts"]["inadmissible"]) if row["active"] else held
    tried, aside = counts.told.get(row["key"], (held - inadmissible, inadmissible))
    return ("active", tried), ("inadmissible", aside)


def _cluster_queue(
    out: Exposition,
    row: Row,
    roots: dict[str, str],
    known: tuple[WorkloadTotals, int],
    common: dict[str, str],
) -> None:
    totals, finished = known
    own = {**common, "cluster_queue": row["name"]}
    counts, cohort = row["counts"], row["cohort"]
    help_ = "Workloads that wait, per ClusterQueue"
    for status, number in _waiting(row, totals):
        labels = {**own, "status": status}
        out.add("kueue_pending_workloads", "gauge", help_, number, labels)
    reserving = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("kueue_reserving_active_workloads", "Workloads that hold quota", reserving),
        ("kueue_admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("kueue_finished_workloads", "Finished Workloads kept", finished),
    ):
        out.add(name, "gauge", help_, number, own)
    status = "terminating" if _is_going(row) else "pending"
    status = "active" if row["active"] else status
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


def _is_going(row: Row) -> bool:
    """Return whether a ClusterQueue waits for its end."""
    return bool(row["inactiveReason"].endswith(IS_TERMINATING))


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
        value = _amount(resource, cell["nominal"])
        name, help_ = "kueue_cohort_subtree_quota", "Quota of the subtree"
        out.add(name, "gauge", help_, value, labels)


def _local_queue(
    out: Exposition,
    row: Row,
    known: tuple[WorkloadTotals, int],
    common: dict[str, str],
) -> None:
    totals, finished = known
    own = {**common, "name": row["name"], "namespace": row["namespace"]}
    counts = row["counts"]
    for status, number in _waiting(row, totals):
        labels = {**own, "status": status}
        name = "kueue_local_queue_pending_workloads"
        out.add(name, "gauge", "Workloads that wait", number, labels)
    reserving = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("reserving_active_workloads", "Workloads that hold quota", reserving),
        ("admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("finished_workloads", "Finished Workloads kept", finished),
    ):
        out.add(f"kueue_local_queue_{name}", "gauge", help_, number, own)


def _status(out: Exposition, row: Row, common: dict[str, str]) -> None:
    own = {**common, "name": row["name"], "namespace": row["namespace"]}
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
    known = {
        row["name"]
        for row in rows
        if row["kind"] == "ClusterQueue" and not _is_going(row)
    }
    leads = {
        (row["name"], row["namespace"]): row["clusterQueue"]
        for row in rows
        if row["kind"] == "LocalQueue" and row["clusterQueue"] in known
    }
    for row in rows:
        if row["kind"] != "Workload":
            continue
        queue, local = row["clusterQueue"], (row["localQueue"], row["namespace"])
        if row["phase"] in ("pending", "inadmissible"):
            reasons[(*local, queue, row["reason"])] += 1
            for resource, amount in row["totals"].items():
                asked[queue, resource] += int(amount)
        elif row["phase"] in ("reserved", "admitted") and leads.get(local) == queue:
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


def _subtrees(
    out: Exposition, rows: list[Row], told: dict[str, int], common: dict[str, str]
) -> None:
    """Add what runs below each cohort, as last `told` of it, and what is held there."""
    above = {row["name"]: row["parent"] for row in rows if row["kind"] == "Cohort"}
    held: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        if row["kind"] != "ClusterQueue":
            continue
        for cohort in _upwards(row["cohort"], above):
            for cell in row["cells"]:
                place = (cohort, cell["flavor"], cell["resource"])
                held[place] += int(cell["used"])
    for cohort, number in sorted((dict.fromkeys(above, 0) | told).items()):
        name, help_ = "kueue_cohort_subtree_admitted_active_workloads", "Admitted below"
        out.add(name, "gauge", help_, number, {**common, "cohort": cohort})
    for (cohort, flavor, resource), used in sorted(held.items()):
        labels = {**common, "cohort": cohort, "flavor": flavor, "resource": resource}
        name, help_ = "kueue_cohort_subtree_resource_reservations", "Reserved below"
        out.add(name, "gauge", help_, _amount(resource, str(used)), labels)


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


#: What is told of a counter or a histogram, by its name less the prefix.
_HELP = {
    "admission_attempts_total": "Attempts by result",
    "admission_checks_wait_time_seconds": "From quota to admission, in seconds",
    "admission_wait_time_seconds": "From creation to admission, in seconds",
    "admitted_until_ready_wait_time_seconds": "From admission to ready pods, in seconds",
    "admitted_workloads_total": "Admitted",
    "borrowed_seconds_total": "Borrowed: amount times seconds",
    "cohort_subtree_admitted_workloads_total": "Admitted below, so far",
    "contended_seconds_total": "Time in which work waits that may use a flavor",
    "evicted_workloads_once_total": "Evicted by reason, each Workload once",
    "evicted_workloads_total": "Evicted by reason",
    "execution_time_seconds": "From admission to the end, in seconds",
    "finished_workloads_total": "Finished",
    "preempted_workloads_total": "Preempted by whose queue",
    "preemptions_total": "Preemptions by who causes them and who bears them",
    "quota_reserved_wait_time_seconds": "From creation to quota, in seconds",
    "quota_reserved_workloads_total": "Got quota",
    "ready_wait_time_seconds": "From creation to ready pods, in seconds",
    "restarts_total": "Work begun again",
    "work_lost_seconds": "Held and thrown away",
}


def _totals(out: Exposition, counts: WorkloadTotals, common: dict[str, str]) -> None:
    for one, number in sorted(counts.counters.items()):
        type_ = "counter" if one.name.endswith("_total") else "gauge"
        out.add(one.name, type_, _help(one.name), number, common | dict(one.labels))
    for one, values in sorted(counts.times.items()):
        out.observe(one.name, _help(one.name), values, common | dict(one.labels))


def _help(name: str) -> str:
    plain = name.partition("_")[2].removeprefix("local_queue_")
    return _HELP[plain]
