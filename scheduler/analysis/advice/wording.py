"""Constraints as sentences: "inference p95 wait under 30 s"."""

from __future__ import annotations

import re
from collections.abc import Callable

from scheduler.analysis.experiments.document import Constraint, ExperimentError
from scheduler.model.errors import QuantityError
from scheduler.model.problems import RequestProblem, Wanted, expected

#: What is understood, for messages.
FORMS = (
    "queue inference p95 wait under 30 s",
    "p95 wait under 5 min",
    "no more than 2 preemptions per hour",
    "nobody loses more than 10%",
    "utilisation of cpu at least 70%",
    "waitP95Ms <= 30000",
)
_UNITS = {
    "ms": 1.0,
    "s": 1e3,
    "sec": 1e3,
    "second": 1e3,
    "seconds": 1e3,
    "m": 6e4,
    "min": 6e4,
    "minute": 6e4,
    "minutes": 6e4,
    "h": 3.6e6,
    "hour": 3.6e6,
    "hours": 3.6e6,
    "%": 0.01,
    "": 1.0,
}
_NUMBER = r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>%|[a-z]*)"
_BELOW = r"(?:is\s+)?(?:under|below|at most|no more than|not above|up to|<=|<)"
_ABOVE = r"(?:is\s+)?(?:over|above|at least|no less than|not below|>=|>)"
_WAITS = {
    "mean": "meanMs",
    "average": "meanMs",
    "median": "p50Ms",
    "p50": "p50Ms",
    "p95": "p95Ms",
    "max": "maxMs",
    "longest": "maxMs",
}
_SAID = {"meanMs": "mean", "p50Ms": "median", "p95Ms": "p95", "maxMs": "max"}
_OF_A_QUEUE = re.compile(r"(?:queues\.(?P<queue>[^*\s]+)|workloads)\.(?P<last>\w+)")


def read_constraint(given: Constraint | str) -> Constraint:
    """Return the constraint of a sentence, or the one given.

    Raises ExperimentError with what is understood.
    """
    if isinstance(given, Constraint):
        return _checked(given)
    text = " ".join(given.split())
    for pattern, make in _READERS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match:
            return _checked(make(match))
    known = "; ".join(f'"{form}"' for form in FORMS)
    raise ExperimentError(
        RequestProblem.SENTENCE.said(given=repr(given), known=known),
        "spec.search.constraints",
    )


def text_of(constraint: Constraint) -> str:
    """Return the constraint as people say it.

    One that a sentence can say is read again as it was.
    """
    name = constraint.measure
    if constraint.loses is not None:
        share = f"{constraint.loses * 100:.9g}%"
        if name == "queues.*.meanMs":
            return f"nobody loses more than {share}"
        return f"{_said(name)} no more than {share} worse than before"
    each = " in every run" if constraint.over == "every" else ""
    low, high = constraint.min, constraint.max
    if low is not None and high is not None:
        return f"{low:g} <= {name} <= {high:g}{each}"
    if low is not None:
        return f"{_least(name, low)}{each}"
    return f"{_most(name, high or 0.0)}{each}"


def _least(name: str, bound: float) -> str:
    if name.startswith("utilisation."):
        resource = name.removeprefix("utilisation.")
        return f"utilisation of {resource} at least {bound * 100:.9g}%"
    return f"{name} >= {bound:.15g}"


def _said(name: str) -> str:
    """Return a measure in words where there are some: "queue etl mean wait"."""
    match = _OF_A_QUEUE.fullmatch(name)
    how = _SAID.get(match["last"]) if match else None
    if match is None or how is None:
        return name
    return f"queue {match['queue']} {how} wait" if match["queue"] else f"{how} wait"


def _most(name: str, bound: float) -> str:
    if match := _OF_A_QUEUE.fullmatch(name):
        queue, last = match["queue"], match["last"]
        whose = f"queue {queue} " if queue else ""
        if last == "slowdown" and queue:
            return f"{whose}slowdown at most {bound:.15g}"
        if how := _SAID.get(last):
            return f"{whose}{how} wait at most {bound / 1000:.15g} s"
    if name in ("preemptionsPerHour", "evictionsPerHour"):
        return f"{name.removesuffix('PerHour')} per hour at most {bound:.15g}"
    return f"{name} <= {bound:.15g}"


def _checked(constraint: Constraint) -> Constraint:
    bounds = (constraint.min, constraint.max, constraint.loses)
    if not constraint.measure or all(bound is None for bound in bounds):
        raise ExperimentError(
            expected(Wanted.BOUNDED_MEASURE), "spec.search.constraints"
        )
    return constraint


def _wait(match: re.Match[str]) -> Constraint:
    queue = (match["queue"] or "").strip()
    where = f"queues.{queue}" if queue else "workloads"
    how = _WAITS[(match["how"] or "mean").lower()]
    return Constraint(measure=f"{where}.{how}", max=_value(match))


def _slowdown(match: re.Match[str]) -> Constraint:
    return Constraint(measure=f"queues.{match['queue']}.slowdown", max=_value(match))


def _rate(match: re.Match[str]) -> Constraint:
    name = match["what"].lower()
    name = f"{name}s" if not name.endswith("s") else name
    measure = f"{name}PerHour" if match["per"] else name
    return Constraint(measure=measure, max=_value(match))


def _nobody(match: re.Match[str]) -> Constraint:
    value = _value(match)
    return Constraint(measure="queues.*.meanMs", loses=value)


def _utilisation(match: re.Match[str]) -> Constraint:
    return Constraint(measure=f"utilisation.{match['resource']}", min=_value(match))


def _lost(match: re.Match[str]) -> Constraint:
    return Constraint(measure="workLostMs", max=_value(match))


def _plain(match: re.Match[str]) -> Constraint:
    value = _value(match)
    if match["way"].startswith("<"):
        return Constraint(measure=match["measure"], max=value)
    return Constraint(measure=match["measure"], min=value)


def _value(match: re.Match[str]) -> float:
    unit = match["unit"].lower()
    if unit not in _UNITS:
        known = ", ".join(unit for unit in _UNITS if unit)
        raise QuantityError(expected(Wanted.UNIT_OF.said(known=known), unit))
    return round(float(match["number"]) * _UNITS[unit], 9)


_READERS: tuple[tuple[str, Callable[[re.Match[str]], Constraint]], ...] = (
    (rf"nobody loses more than {_NUMBER}", _nobody),
    (
        r"(?:no more than|at most|under|below) (?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>)\s*"
        r"(?P<what>preemptions?|evictions?)(?P<per> (?:per|an?) hour)?",
        _rate,
    ),
    (
        rf"(?P<what>preemptions?|evictions?)(?P<per> per hour)? {_BELOW} {_NUMBER}",
        _rate,
    ),
    (rf"(?:work lost|lost work) {_BELOW} {_NUMBER}", _lost),
    (rf"utili[sz]ation of (?P<resource>\S+) {_ABOVE} {_NUMBER}", _utilisation),
    (rf"(?:queue )?(?P<queue>\S+) slowdown {_BELOW} {_NUMBER}", _slowdown),
    (
        rf"(?:queue )?(?P<queue>(?!(?:{'|'.join(_WAITS)}|every)\b)\S+ )?"
        rf"(?:(?P<how>{'|'.join(_WAITS)}) )?wait {_BELOW} {_NUMBER}",
        _wait,
    ),
    (rf"(?P<measure>[\w.*/-]+) ?(?P<way><=?|>=?) ?{_NUMBER}", _plain),
)
