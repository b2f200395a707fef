"""Assertions held against the runs of both sides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from scheduler.analysis.experiments.results import Interval, interval
from scheduler.analysis.plan.assertions import Assertion, Unit, shown, words_of
from scheduler.analysis.plan.measuring import RunNumbers

Pair = tuple[RunNumbers, RunNumbers]  # base and changed, of one seed


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One measure on both sides: means over seeds, and the difference seed by seed."""

    measure: str
    queue: str
    base: Interval | None
    changed: Interval | None
    difference: Interval | None


class Verdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether one assertion holds; of all queues, `queue` is the worst one.

    `on_base` says whether it holds on the base too; None for what compares with it.
    """

    name: str
    bound: str
    holds: bool
    measure: str
    unit: Unit
    queue: str
    base: float | None
    changed: float | None
    failed_queues: list[str]
    on_base: bool | None
    file: str
    line: int
    why: str = ""


def judge(assertions: Iterable[Assertion], pairs: Sequence[Pair]) -> list[Verdict]:
    """Return a verdict for each assertion."""
    return [_verdict(assertion, pairs) for assertion in assertions]


def queues_of(pairs: Sequence[Pair]) -> list[str]:
    """Return the queues in which something arrived in some run."""
    return sorted({queue for pair in pairs for run in pair for queue in run.queues})


def compare(measure: str, queue: str, pairs: Sequence[Pair]) -> Comparison:
    """Return both sides of one measure; of a queue, or of the whole run for ""."""
    both = [(_value(a, measure, queue), _value(b, measure, queue)) for a, b in pairs]
    differences = [b - a for a, b in both if a is not None and b is not None]
    return Comparison(
        measure=measure,
        queue=queue,
        base=interval([a for a, _ in both if a is not None], least=0.0),
        changed=interval([b for _, b in both if b is not None], least=0.0),
        difference=interval(differences),
    )


def _value(run: RunNumbers, measure: str, queue: str) -> float | None:
    numbers = run.queues.get(queue, {}) if queue else run.whole
    if measure not in numbers and queue and measure in ("arrived", "waiting"):
        return 0.0
    return numbers.get(measure)


def _verdict(assertion: Assertion, pairs: Sequence[Pair]) -> Verdict:
    queues = queues_of(pairs) if assertion.queue == "*" else [assertion.queue]
    found = [_of_queue(assertion, queue, pairs) for queue in queues]
    if not found:
        return _made(assertion, "", [], None, "no work arrived in any queue")
    failed = [one for one in found if not one.holds]
    worst = max(failed or found, key=lambda one: _badness(assertion, one))
    names = [one.queue for one in failed] if assertion.queue == "*" else []
    return msgspec.structs.replace(worst, failed_queues=names)


def _of_queue(assertion: Assertion, queue: str, pairs: Sequence[Pair]) -> Verdict:
    both = [
        (_value(a, assertion.measure, queue), _value(b, assertion.measure, queue))
        for a, b in pairs
    ]
    if assertion.over == "mean":
        both = [(_mean([a for a, _ in both]), _mean([b for _, b in both]))]
    alone = [_inside(assertion, a) for a, _ in both]
    bad = [pair for pair in both if not _holds(assertion, *pair)]
    base, changed = bad[0] if bad else both[0]
    missing = changed is None or (assertion.against_base and base is None)
    made = _made(
        assertion,
        queue,
        [(base, changed)],
        None if assertion.against_base else all(alone),
        _missing(assertion, queue, changed) if missing else "",
    )
    return msgspec.structs.replace(made, holds=not bad)


def _missing(assertion: Assertion, queue: str, changed: float | None) -> str:
    side = "changed side" if changed is None else "base"
    what = f"in queue {queue}" if queue else "at all"
    if assertion.measure.startswith("wait"):
        return f"nothing arrived {what} on the {side}"
    return f"no run of the {side} has {assertion.measure}"


def _made(
    assertion: Assertion,
    queue: str,
    both: Sequence[tuple[float | None, float | None]],
    on_base: bool | None,
    why: str,
) -> Verdict:
    base, changed = both[0] if both else (None, None)
    every = ", in every run" if assertion.over == "every" else ""
    return Verdict(
        name=assertion.name,
        bound=" and ".join(words_of(assertion)) + every,
        holds=False,
        measure=assertion.measure,
        unit=assertion.unit,
        queue=queue,
        base=base,
        changed=changed,
        failed_queues=[],
        on_base=on_base,
        file=assertion.file,
        line=assertion.line,
        why=why,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _holds(assertion: Assertion, base: float | None, changed: float | None) -> bool:
    if not _inside(assertion, changed) or changed is None:
        return False
    if not assertion.against_base:
        return True
    if base is None:
        return False
    up, down = assertion.increase, assertion.decrease
    rises = up is None or changed - base <= up.allowed(base, assertion.tolerance)
    falls = down is None or base - changed <= down.allowed(base, assertion.tolerance)
    return rises and falls


def _inside(assertion: Assertion, value: float | None) -> bool:
    if value is None:
        return False
    above = assertion.min is None or value >= assertion.min
    return above and (assertion.max is None or value <= assertion.max)


def _badness(assertion: Assertion, verdict: Verdict) -> float:
    """Return how bad a queue's value is beside that of others."""
    changed = verdict.changed
    if changed is None or (assertion.against_base and verdict.base is None):
        return math.inf
    if assertion.against_base:
        sign = 1 if assertion.increase is not None else -1
        return sign * (changed - (verdict.base or 0.0))
    return changed if assertion.max is not None else -changed


def sentence_of(verdict: Verdict) -> str:
    """Return the verdict in a sentence with its numbers."""
    where = f" in queue {verdict.queue}" if verdict.queue else ""
    if verdict.why:
        return f"{verdict.name}: {verdict.why}"
    base, changed = (shown(v, verdict.unit) for v in (verdict.base, verdict.changed))
    return (
        f"{verdict.name}: {verdict.measure}{where} is {changed} on the changed side, "
        f"{base} on the base; expected {verdict.bound}"
    )
