"""Sums over the time since the branches parted, with deltas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.explain.comparing.branches import Branch
from sandbox.explain.comparing.shapes import Total
from sandbox.explain.comparing.timelines import Timelines
from scheduler.analysis.measures import better, waits_of
from scheduler.analysis.measures.samples import unfair_spans
from scheduler.model.amounts import CPU

_HOUR_MS = 3_600_000
Numbers = dict[str, float | None]


def totals(branches: Sequence[Branch], timelines: Sequence[Timelines]) -> list[Total]:
    """Return every measure of every branch, in one order."""
    found = [_numbers(b, own) for b, own in zip(branches, timelines, strict=True)]
    names = dict.fromkeys(name for numbers in found for name in numbers)
    return [_total(name, [numbers.get(name) for numbers in found]) for name in names]


def _total(name: str, values: list[float | None]) -> Total:
    first, *others = values
    deltas = [
        None if first is None or other is None else other - first for other in others
    ]
    return Total(measure=name, better=better(name), values=values, deltas=deltas)


def _numbers(branch: Branch, timelines: Timelines) -> Numbers:
    waits = waits_of(
        (
            (timeline.arrived_ms, timeline.first_ms)
            for timeline in timelines.values()
            if not timeline.started_before and timeline.arrived_ms is not None
        ),
        branch.end_ms,
    )
    finished = [
        timeline
        for timeline in timelines.values()
        if timeline.finished_ms is not None and not timeline.finished_before
    ]
    types = [happened.type for happened in branch.since]
    return {
        "started": len(waits.ordered) - waits.never_started,
        "finished": len(finished),
        "waiting": sum(_waits(timeline.spans) for timeline in timelines.values()),
        "preemptions": types.count("Preempt"),
        "evictions": sum(timeline.evictions for timeline in timelines.values()),
        "neverStarted": waits.never_started,
        "waitMeanMs": waits.mean_ms,
        "waitP50Ms": waits.quantile(0.5),
        "waitP95Ms": waits.quantile(0.95),
        "waitMaxMs": waits.max_ms,
        **_searched(branch),
        **_fairness(branch),
        "workLostMs": sum(timeline.lost_ms for timeline in timelines.values()),
        **_lost(timelines),
        **_used(branch.samples),
    }


def _fairness(branch: Branch) -> Numbers:
    """Return how long it took until shares were fair again, and how unfair they were.

    Nothing without ClusterQueues, or where a tick has no share error yet. A span that
    began before the branches parted counts from there.
    """
    looks = [(s["tMs"], s.get("shareError")) for s in branch.samples]
    known = [(at_ms, error) for at_ms, error in looks if error is not None]
    if not known or len(known) < len(looks):
        return {}
    spans = unfair_spans(known, branch.end_ms)
    return {
        "timeToFairMs": sum(spans) / len(spans) if spans else 0,
        "timeToFairMaxMs": max(spans, default=0),
        "unfairSpans": len(spans),
        "shareError": sum(error for _, error in known) / len(known),
    }


def _searched(branch: Branch) -> Numbers:
    """Return what Kueue's searches for victims cost.

    Nothing under another stack, or where they were not counted in each tick.
    """
    if branch.line.stack != "kueue":
        return {}
    names = ("searches", "candidatesLookedAt", "simulations")
    counted = [n for n in names if all(s.get(n) is not None for s in branch.samples)]
    return {n: sum(sample[n] for sample in branch.samples) for n in counted}


def _waits(spans: Sequence[tuple[str, int, int | None]]) -> bool:
    return bool(spans) and spans[-1][0] == "waiting"


def _lost(timelines: Timelines) -> Numbers:
    """Return work lost in units x hours, by resource."""
    lost: dict[str, int] = {}
    for timeline in timelines.values():
        for resource, amount in timeline.lost.items():
            lost[resource] = lost.get(resource, 0) + amount
    return {f"workLost.{r}": _hours(r, amount) for r, amount in sorted(lost.items())}


def _hours(resource: str, amount: int) -> float:
    return amount / _HOUR_MS / (1000 if resource == CPU else 1)


def _used(samples: Sequence[dict[str, Any]]) -> Numbers:
    """Return mean utilisation, and the mean weighted share of each queue."""
    used: dict[str, int] = {}
    capacity: dict[str, int] = {}
    shares: dict[str, list[float]] = {}
    for body in samples:
        for resource, amount in body["capacity"].items():
            capacity[resource] = capacity.get(resource, 0) + int(amount)
            spent = int(body["used"].get(resource, 0))
            used[resource] = used.get(resource, 0) + spent
        for line in body["queues"]:
            if line["share"] is not None:
                shares.setdefault(line["queue"], []).append(line["share"])
    found: Numbers = {
        f"utilisation.{r}": used[r] / amount
        for r, amount in sorted(capacity.items())
        if amount
    }
    for queue, values in sorted(shares.items()):
        found[f"share.{queue}"] = sum(values) / len(values)
    return found
