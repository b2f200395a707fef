"""Kueue's metrics under Kueue's names and labels.

Source: <https://kueue.sigs.k8s.io/docs/reference/metrics/> (v0.19)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from api.metrics.exposition import Exposition
from sandbox.explain.below import above
from sandbox.explain.counting import WorkloadTotals
from sandbox.page.diffs import Page, Row
from scheduler.engine.kueue.cache.cluster import IS_TERMINATING
from scheduler.model.amounts import CPU


def add(out: Exposition, page: Page, counts: WorkloadTotals) -> None:
    """Add everything that the page and the counts hold.

    Of what waits the `inadmissible` are known, and by `counts.waiting` all that a queue
    holds: what waits for its back-off, or behind a stopped LocalQueue, is in none.
    """
    names = ("git_version", "git_commit", "build_date", "go_version", "compiler")
    simulated = dict.fromkeys((*names, "platform"), "simulated")
    build, out = out, out.under(replica_role="standalone")
    rows = list(page.values())
    finished = _finished(rows)
    for row in rows:
        match row["kind"]:
            case "ClusterQueue":
                own = out.under(cluster_queue=row["name"])
                ended = finished["", row["name"]]
                _counts(own, "kueue", row, counts, ended)
                _cluster_queue(own, row, page)
            case "LocalQueue":
                own = out.under(name=row["name"], namespace=row["namespace"])
                words, now = ("True", "False", "Unknown"), str(bool(row["active"]))
                help_ = "1 for the status of the Active condition"
                _status(own, "kueue_local_queue_status", help_, "active", words, now)
                if f"ClusterQueue//{row['clusterQueue']}" in page:
                    ended = finished[row["namespace"], row["name"]]
                    _counts(own, "kueue_local_queue", row, counts, ended)
            case "Cohort":
                _cohort(out.under(cohort=row["name"]), row, page)
            case _:
                pass
    build.gauge("kueue_build_info", "What runs: a simulation", 1, **simulated)
    _workloads(out, rows)
    _subtrees(out, page, counts.below.told)
    _totals(out, counts)


def _root(page: Page, row: Row) -> str:
    """Return the cohort at the top of the tree of a ClusterQueue or of a cohort."""
    return [str(row["name"]) if row["kind"] == "Cohort" else "", *above(page, row)][-1]


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


def _counts(
    out: Exposition, prefix: str, row: Row, totals: WorkloadTotals, finished: int
) -> None:
    """Add how many Workloads a ClusterQueue or a LocalQueue has, by what they do."""
    counts, held = row["counts"], totals.waiting.get(row["key"], 0)
    inadmissible = min(held, counts["inadmissible"]) if row["active"] else held
    tried, aside = totals.told.get(row["key"], (held - inadmissible, inadmissible))
    for status, number in (("active", tried), ("inadmissible", aside)):
        name, help_ = f"{prefix}_pending_workloads", "Workloads that wait"
        out.gauge(name, help_, number, status=status)
    reserving = counts["reserved"] + counts["admitted"]
    for name, help_, number in (
        ("reserving_active_workloads", "Workloads that hold quota", reserving),
        ("admitted_active_workloads", "Admitted Workloads", counts["admitted"]),
        ("finished_workloads", "Finished Workloads kept", finished),
    ):
        out.gauge(f"{prefix}_{name}", help_, number)


def _status(
    out: Exposition, name: str, help_: str, label: str, words: Iterable[str], now: str
) -> None:
    """Add a sample for each word that a status may be."""
    for word in words:
        out.gauge(name, help_, word == now, **{label: word})


def _cluster_queue(out: Exposition, row: Row, page: Page) -> None:
    words = ("pending", "active", "terminating")
    status = "terminating" if _is_going(row) else "pending"
    status = "active" if row["active"] else status
    help_ = "1 for the status that the ClusterQueue has"
    _status(out, "kueue_cluster_queue_status", help_, "status", words, status)
    name, help_ = "kueue_cluster_queue_info", "Where the ClusterQueue hangs"
    cohort = row["cohort"]
    out.gauge(name, help_, 1, parent_cohort=cohort, root_cohort=_root(page, row))
    out = out.under(cohort=cohort)
    name = "kueue_cluster_queue_weighted_share"
    out.gauge(name, "Weighted share", _share(row["share"]))
    for cell in row["cells"]:
        resource = cell["resource"]
        own = out.under(flavor=cell["flavor"], resource=resource)
        for name, help_, field in (
            ("nominal_quota", "Nominal quota", "nominal"),
            ("borrowing_limit", "Borrowing limit", "borrowingLimit"),
            ("lending_limit", "Lending limit", "lendingLimit"),
            ("resource_reservation", "Quota reserved", "used"),
            ("resource_usage", "Quota used", "used"),
        ):
            value = _amount(resource, cell[field])
            own.gauge(f"kueue_cluster_queue_{name}", help_, value)


def _is_going(row: Row) -> bool:
    """Return whether a ClusterQueue waits for its end."""
    return bool(row["inactiveReason"].endswith(IS_TERMINATING))


def _cohort(out: Exposition, row: Row, page: Page) -> None:
    if not row["implicit"]:
        name, help_ = "kueue_cohort_info", "Where the cohort hangs"
        parent, root = row["parent"], _root(page, row)
        out.gauge(name, help_, 1, parent_cohort=parent, root_cohort=root)
    out.gauge("kueue_cohort_weighted_share", "Weighted share", _share(row["share"]))
    for cell in row["cells"]:
        flavor, resource = cell["flavor"], cell["resource"]
        value = _amount(resource, cell["nominal"])
        name, help_ = "kueue_cohort_subtree_quota", "Quota of the subtree"
        out.gauge(name, help_, value, flavor=flavor, resource=resource)


def _workloads(out: Exposition, rows: list[Row]) -> None:
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
    _unadmitted(out, reasons)
    for (queue, resource), total in sorted(asked.items()):
        name, help_ = "kueue_cluster_queue_resource_pending", "Asked for by who waits"
        value = _amount(resource, total)
        out.gauge(name, help_, value, cluster_queue=queue, resource=resource)
    names = ("name", "namespace", "flavor", "resource")
    for word, help_, totals in (
        ("reservation", "Reserved by a LocalQueue", held),
        ("usage", "Used by a LocalQueue", used),
    ):
        for place, total in sorted(totals.items()):
            labels = dict(zip(names, place, strict=True))
            name = f"kueue_local_queue_resource_{word}"
            out.gauge(name, help_, _amount(place[-1], total), **labels)


def _unadmitted(out: Exposition, reasons: Counter[tuple[str, ...]]) -> None:
    by_queue: Counter[tuple[str, ...]] = Counter()
    for place, number in reasons.items():
        by_queue[place[2:]] += number
    names = ("name", "namespace", "cluster_queue", "reason")
    for prefix, named, found in (
        ("kueue_local_queue", names, reasons),
        ("kueue", names[2:], by_queue),
    ):
        for place, number in sorted(found.items()):
            labels = dict(zip(named, place, strict=True))
            name, help_ = (
                f"{prefix}_unadmitted_workloads",
                "Waiting Workloads by reason",
            )
            out.gauge(name, help_, number, **labels, underlying_cause="")


def _subtrees(out: Exposition, page: Page, told: dict[str, int]) -> None:
    """Add what runs below each cohort, as last `told` of it, and what is held there."""
    held: Counter[tuple[str, str, str]] = Counter()
    admitted = {}
    for row in page.values():
        if row["kind"] == "Cohort":
            admitted[row["name"]] = 0
        elif row["kind"] == "ClusterQueue":
            for cohort in above(page, row):
                for cell in row["cells"]:
                    place = (cohort, cell["flavor"], cell["resource"])
                    held[place] += int(cell["used"])
    for cohort, number in sorted((admitted | told).items()):
        name, help_ = "kueue_cohort_subtree_admitted_active_workloads", "Admitted below"
        out.gauge(name, help_, number, cohort=cohort)
    for (cohort, flavor, resource), used in sorted(held.items()):
        name, help_ = "kueue_cohort_subtree_resource_reservations", "Reserved below"
        own = out.under(cohort=cohort, flavor=flavor, resource=resource)
        own.gauge(name, help_, _amount(resource, used))


def _amount(resource: str, amount: str | int | None) -> float:
    """Return memory in bytes, CPU in cores; a limit that is not set is +Inf."""
    if amount is None:
        return math.inf
    return int(amount) / 1000 if resource == CPU else int(amount)


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


def _totals(out: Exposition, counts: WorkloadTotals) -> None:
    for one, number in sorted(counts.counters.items()):
        add = out.counter if one.name.endswith("_total") else out.gauge
        add(one.name, _help(one.name), number, **dict(one.labels))
    for one, values in sorted(counts.times.items()):
        out.under(**dict(one.labels)).observe(one.name, _help(one.name), values)


def _help(name: str) -> str:
    plain = name.partition("_")[2].removeprefix("local_queue_")
    return _HELP[plain]
