"""Sums over the time since the branches parted, with deltas."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sandbox.explain.comparing.branches import Branch, Happened
from sandbox.explain.comparing.shapes import (
    Curves,
    Decided,
    Difference,
    OutcomeCounts,
    OutcomeDiff,
    Preempted,
    Preemptions,
    Series,
    Total,
)
from scheduler.analysis.measures import Waits, better
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.samples import unfair_spans
from scheduler.analysis.measures.verdict import (
    WorkloadVerdict,
    course_of,
    lost_of,
    rows_of,
    totals_of,
    worst_first,
)
from scheduler.model.amounts import CPU
from scheduler.model.objects import Key

_HOUR_MS = 3_600_000
Numbers = dict[str, float | None]


def totals(branches: Sequence[Branch]) -> list[Total]:
    """Return every measure of every branch, in one order."""
    found = [_numbers(branch) for branch in branches]
    names = dict.fromkeys(name for numbers in found for name in numbers)
    return [_total(name, [numbers.get(name) for numbers in found]) for name in names]


def _total(name: str, values: list[float | None]) -> Total:
    first, *others = values
    deltas = [
        None if first is None or other is None else other - first for other in others
    ]
    return Total(measure=name, better=better(name), values=values, deltas=deltas)


def _numbers(branch: Branch) -> Numbers:
    lives = branch.lives
    waits, sums = lives.waits(), totals_of(lives)
    return {
        "started": len(waits.ordered) - waits.never_started,
        "finished": sums.finished,
        "waiting": sum(one.waits for one in lives.units.values()),
        "preemptions": sums.preemptions,
        "evictions": sums.evictions,
        "neverStarted": waits.never_started,
        "waitMeanMs": waits.mean_ms,
        "waitP50Ms": waits.quantile(0.5),
        "waitP95Ms": waits.quantile(0.95),
        "waitMaxMs": waits.max_ms,
        **_searched(branch),
        **_fairness(branch),
        "workLostMs": sums.work_lost_ms,
        **_lost(lives),
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


def _lost(lives: Lives) -> Numbers:
    """Return work lost in units x hours, by resource."""
    lost = sorted(lost_of(lives, lives.units).items())
    return {f"workLost.{r}": _hours(r, amount) for r, amount in lost if amount}


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


# ------------------------------------------------------------------------
# Curves of every branch over the same ticks.


Body = dict[str, Any]  # a sample


def series(branches: Sequence[Branch], points: int) -> Series:
    """Return curves over at most `points` ticks, the last always among them."""
    ticks = _ticks(branches, points)
    return Series(ticks=ticks, branches=[_curves(branch, ticks) for branch in branches])


def _ticks(branches: Sequence[Branch], points: int) -> list[int]:
    every = sorted({body["tick"] for branch in branches for body in branch.samples})
    apart = max(1, -(-len(every) // max(1, points)))
    return every[::-1][::apart][::-1]


def _curves(branch: Branch, ticks: list[int]) -> Curves:
    bodies = {body["tick"]: body for body in branch.samples}
    found = [bodies.get(tick) for tick in ticks]
    resources = sorted({r for body in found if body for r in body["capacity"]})
    queues = sorted({q["queue"] for body in found if body for q in body["queues"]})
    return Curves(
        pending=[_count(body, "pending") for body in found],
        running=[_count(body, "admitted") for body in found],
        wait_p50_ms=_waits_over_time(branch.lives, found),
        utilisation={r: [_share(body, r) for body in found] for r in resources},
        shares={q: [_of(body, q, "share") for body in found] for q in queues},
        used={
            q: {r: [_used_over_time(body, q, r) for body in found] for r in resources}
            for q in queues
        },
    )


def _count(body: Body | None, name: str) -> int | None:
    return None if body is None else int(body[name])


def _share(body: Body | None, resource: str) -> float | None:
    if body is None or not int(body["capacity"].get(resource, 0)):
        return None
    return int(body["used"].get(resource, 0)) / int(body["capacity"][resource])


def _of(body: Body | None, queue: str, field: str) -> Any:
    for line in body["queues"] if body else ():
        if line["queue"] == queue:
            return line[field]
    return None


def _used_over_time(body: Body | None, queue: str, resource: str) -> int | None:
    used = _of(body, queue, "used")
    return None if used is None else int(used.get(resource, 0))


def _waits_over_time(lives: Lives, bodies: Iterable[Body | None]) -> list[float | None]:
    """Return the median wait by each sample's time, of all that had come by then.

    The bodies are in order of time. O(workloads) for each.
    """
    known = [
        (one.came_ms, one.started_ms)
        for one in lives.units.values()
        if one.came_ms is not None
    ]
    arrivals = sorted(arrived for arrived, _ in known)
    starts = sorted((first, arrived) for arrived, first in known if first is not None)
    waits: list[int] = []  # of those that started, in order
    waiting: list[int] = []  # when those that wait came, in order
    came = started = 0
    found = list[float | None]()
    for body in bodies:
        if body is None:
            found.append(None)
            continue
        now = body["tMs"]
        while came < len(arrivals) and arrivals[came] <= now:
            waiting.append(arrivals[came])
            came += 1
        while started < len(starts) and starts[started][0] <= now:
            first, arrived = starts[started]
            bisect.insort(waits, first - arrived)
            del waiting[bisect.bisect_left(waiting, arrived)]
            started += 1
        so_far = [now - arrived for arrived in reversed(waiting)]
        every = Waits(ordered=sorted(waits + so_far), never_started=len(waiting))
        found.append(every.quantile(0.5))
    return found


# ------------------------------------------------------------------------
# Whose life differs, by the verdict of a what-if.


Rows = Sequence[Mapping[Key, WorkloadVerdict]]  # of each other branch


def rows_between(branches: Sequence[Branch]) -> Rows:
    """Return the lives that differ, for each other branch held against the first."""
    first, *others = (branch.lives for branch in branches)
    return [rows_of(first, other, first.tick_ms) for other in others]


def outcome_diffs(branches: Sequence[Branch], rows: Rows) -> list[OutcomeDiff]:
    """Return the units that differ by more than a tick, those that lose most first."""
    found: list[tuple[Any, OutcomeDiff]] = []
    for key in dict.fromkeys(key for own in rows for key in own):
        known = [own[key] for own in rows if key in own and not own[key].is_equal]
        if not known:
            continue
        lives = [branch.lives.units.get(key) for branch in branches]
        diff = OutcomeDiff(
            subject=str(key),
            fates=[own[key].fates if key in own else [] for own in rows],
            courses=[None if life is None else course_of(life) for life in lives],
        )
        found.append((min(map(worst_first, known)), diff))
    return [diff for _, diff in sorted(found, key=lambda one: one[0])]


def counts(branches: Sequence[Branch], rows: Rows) -> list[OutcomeCounts]:
    """Return how many units stand under what, per other branch."""
    first, *others = (branch.lives.units for branch in branches)
    if not rows:
        return [OutcomeCounts() for _ in others]
    return [
        _counts(
            len({*first, *other}), [one for one in own.values() if not one.is_equal]
        )
        for other, own in zip(others, rows, strict=True)
    ]


def _counts(units: int, differ: Sequence[WorkloadVerdict]) -> OutcomeCounts:
    never = sum(one.fates[0] == "never" for one in differ)
    later = sum(one.loses for one in differ) - never
    earlier = sum(one.gains for one in differ)
    return OutcomeCounts(
        same=units - len(differ),
        earlier=earlier,
        later=later,
        never=never,
        other=len(differ) - earlier - later - never,
    )


# ------------------------------------------------------------------------
# The first decision that differs, and preemptions that one branch alone has.


MOST_LISTED = 500


def first_difference(ours: Branch, theirs: Branch) -> Difference | None:
    """Return the first decision that is not the same in both; None when all are."""
    for one, other in zip_longest(ours.since, theirs.since):
        if one is None or other is None or _what(one) != _what(other):
            return _difference(one, other)
    return None


def _what(happened: Happened) -> tuple[object, ...]:
    """Return what must be equal: who, when, why, and where to."""
    data = happened.data
    place = (data.get("queue"), data.get("node"), data.get("pod_sets"))
    return (*happened[1:6], place)


def _difference(one: Happened | None, other: Happened | None) -> Difference:
    earliest = min((h for h in (one, other) if h is not None), key=lambda h: h.t_ms)
    return Difference(
        tick=earliest.tick,
        t_ms=earliest.t_ms,
        ours=_decided(one, earliest.t_ms),
        theirs=_decided(other, earliest.t_ms),
    )


def _decided(happened: Happened | None, t_ms: int) -> Decided | None:
    """Return the decision, if it is of that instant: later ones are no answer."""
    if happened is None or happened.t_ms > t_ms:
        return None
    return Decided(
        t_ms=happened.t_ms,
        type=happened.type,
        subject=happened.subject,
        by=happened.by,
        reason=happened.reason,
        message=happened.message,
    )


def preemptions(ours: Branch, theirs: Branch) -> Preemptions:
    """Return which preemptions came and went, by victim and preemptor."""
    one, other = _preempted(ours), _preempted(theirs)
    mine = Counter((p.subject, p.by) for p in one)
    others = Counter((p.subject, p.by) for p in other)
    return Preemptions(
        same=(mine & others).total(),
        added=_beyond(other, mine)[:MOST_LISTED],
        removed=_beyond(one, others)[:MOST_LISTED],
    )


def _preempted(branch: Branch) -> list[Preempted]:
    return [
        Preempted(tick=h.tick, t_ms=h.t_ms, subject=h.subject, by=h.by, reason=h.reason)
        for h in branch.since
        if h.type == "Preempt"
    ]


def _beyond(found: list[Preempted], known: Counter[tuple[str, str]]) -> list[Preempted]:
    """Return those that go beyond the known ones, which are used up in order."""
    left = Counter(known)
    beyond: list[Preempted] = []
    for preempted in found:
        pair = (preempted.subject, preempted.by)
        if left[pair] > 0:
            left[pair] -= 1
        else:
            beyond.append(preempted)
    return beyond
