"""Kueue's counters and histograms: what happened since the run began."""

from __future__ import annotations

from collections import Counter

from api.metrics.counting import WorkloadTotals
from api.metrics.exposition import Exposition


def add(out: Exposition, counts: WorkloadTotals, common: dict[str, str]) -> None:
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
        ("admission_wait", counts.local_waits),
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
    for place, waits in sorted(counts.waits.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        for name in ("quota_reserved", "admission"):
            help_ = "From creation to admission, in seconds"
            out.observe(f"kueue_{name}_wait_time_seconds", help_, waits, labels)
    for place, ran in sorted(counts.ran.items()):
        labels = {**common, **dict(zip(names, place, strict=True))}
        name, help_ = "kueue_execution_time_seconds", "From admission to the end"
        out.observe(name, help_, ran, labels)
