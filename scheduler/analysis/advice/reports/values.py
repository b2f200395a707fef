"""Values of an answer as people read them."""

from __future__ import annotations

from scheduler.analysis.experiments.intervals import Interval


def value(measure: str, number: float | None) -> str:
    """Return a number of a measure with its unit."""
    if number is None:
        return "–"
    if measure.endswith("Ms"):
        return f"{number / 1000:.4g} s"
    if measure.startswith(("utilisation", "goodput")):
        return f"{number:.1%}"
    return f"{number:.4g}"


def mean(measure: str, found: Interval | None) -> str:
    """Return a mean with half of its interval."""
    if found is None:
        return "–"
    text = value(measure, found.mean)
    if found.high is None or found.high == found.mean:
        return text
    return f"{text} ± {value(measure, found.high - found.mean)}"


def difference(measure: str, found: Interval | None) -> str:
    """Return a difference with its sign and its interval."""
    if found is None:
        return "–"
    sign = "+" if found.mean > 0 else ""
    text = sign + value(measure, found.mean)
    if found.low is None or found.high is None:
        return text
    return f"{text} [{value(measure, found.low)}, {value(measure, found.high)}]"


def worse(measure: str, better: str, found: Interval | None) -> bool:
    """Return whether a difference is for the worse, and its interval is sure of it."""
    if found is None or found.low is None or found.high is None or not better:
        return False
    return found.low > 0 if better == "low" else found.high < 0
