"""Assertions in words: a few forms, each turned into the fields of an assertion."""

from __future__ import annotations

import re
from typing import Any

_TIME = r"(?P<bound>[0-9.]+ ?(?:ms|s|m|h)(?:[0-9.]+(?:ms|s|m))*)"
_UNDER = r"(?:under|below|at most|no more than|within)"
_FEW = r"(?:no more than|at most|under|fewer than)"
_WAIT = r"(?P<wait>p[0-9][0-9]?|mean|average|median|max|maximum|longest|worst)"
_FORMS = (
    rf"(?:(?P<queue>\S+) )?{_WAIT} wait (?:is )?{_UNDER} {_TIME}",
    rf"{_FEW} (?P<bound>[0-9.]+) (?P<what>preemptions|evictions)(?P<rate> per hour)?",
    r"(?P<none>no queue) waits more than (?P<more>[0-9.]+ ?%) longer than on (?:the )?base"
    r"(?: \((?P<wait>[a-z]+[0-9]{0,2})\))?",
    r"(?P<queue>\S+) waits no more than (?P<more>[0-9.]+ ?%) longer than on (?:the )?base"
    r"(?: \((?P<wait>[a-z]+[0-9]{0,2})\))?",
    r"(?P<resource>\S+) utili[sz]ation (?:is )?(?:at least|above|no less than) "
    r"(?P<least>[0-9.]+ ?%)",
    r"(?P<all>everything|all work) starts",
)
#: What to write, for messages and documents.
EXAMPLES = (
    "inference p95 wait under 30s",
    "no more than 2 preemptions per hour",
    "no queue waits more than 10% longer than on base",
    "inference waits no more than 10% longer than on base (p95)",
    "cpu utilisation at least 60%",
    "everything starts",
)
_WAITS = {
    "mean": "waitMean",
    "average": "waitMean",
    "median": "waitP50",
    "max": "waitMax",
    "maximum": "waitMax",
    "longest": "waitMax",
    "worst": "waitMax",
}


def read_sentence(text: str) -> dict[str, Any] | None:
    """Return the fields that a sentence stands for; None when no form fits."""
    words = " ".join(text.split()).rstrip(".")
    for form in _FORMS:
        if match := re.fullmatch(form, words, re.IGNORECASE):
            return _fields({n: v for n, v in match.groupdict().items() if v})
    return None


def _fields(given: dict[str, str]) -> dict[str, Any] | None:
    queue = {"queue": given["queue"]} if "queue" in given else {}
    if "more" in given:
        measure = _measure(given.get("wait", "mean"))
        wide = {"queue": "*"} if "none" in given else queue
        bound = given["more"].replace(" ", "")
        return {"measure": measure, **wide, "maxIncrease": bound} if measure else None
    if "wait" in given:
        measure = _measure(given["wait"])
        return {"measure": measure, **queue, "max": given["bound"].replace(" ", "")}
    if "what" in given:
        rate = "PerHour" if "rate" in given else ""
        return {"measure": given["what"].lower() + rate, "max": float(given["bound"])}
    if "least" in given:
        least = given["least"].replace(" ", "")
        return {"measure": f"utilisation.{given['resource']}", "min": least}
    return {"measure": "waiting", "max": 0}


def _measure(wait: str) -> str:
    """Return "waitP95" of "p95"; "" for what is no wait."""
    if re.fullmatch(r"[pP][0-9][0-9]?", wait):
        return f"wait{wait.upper()}"
    return _WAITS.get(wait.lower(), "")
