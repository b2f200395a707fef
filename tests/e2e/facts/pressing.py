"""How queues press each other: each row of the panel is a sum over REST's pressure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.view import numbers
from tests.e2e.figures import span_text

Row = dict[str, Any]
KINDS = ("pressing",)
#: Whose a row may be: the labels that name it, and what stands between them.
_WHO = (
    (("preempting_cluster_queue", "cluster_queue"), " → "),
    (("preempting_cohort", "cohort"), " → "),
    (("cluster_queue", "priority_class"), " · "),
    (("flavor",), ""),
    (("resource", "flavor"), " · "),
)


def wrong(who: str, what: str, text: str, answer: Row) -> Iterator[str]:
    """Yield what a row of the panel says and REST does not.

    REST tells it of now alone: of a tick that has gone by nothing can be compared.
    """
    if not answer["pressure"]:
        return
    name = what.removeprefix("pressing ")
    sums = [_sum(who, name, by, answer["pressure"]) for by in _WHO]
    seconds = max(1.0, answer["atMs"] / 1000)
    if not any(_says(text, name, found, seconds) for found in sums if found):
        yield f"{who}: {text!r}, not {sums}"


def _sum(
    who: str, name: str, by: tuple[tuple[str, ...], str], rows: list[Row]
) -> float:
    labels, between = by
    return sum(
        row["value"]
        for row in rows
        if row["name"] == name and _named(row["labels"], labels, between) == who
    )


def _named(labels: Row, names: tuple[str, ...], between: str) -> str:
    found = [labels.get(one, "") for one in names]
    if between == " → ":
        return between.join(one or "–" for one in found)
    return between.join(filter(None, found))


def _says(text: str, name: str, found: float, seconds: float) -> bool:
    if name.endswith("wait_time_seconds"):
        return text.replace("\xa0", " ") == span_text(found * 1000)
    if name.endswith("preemptions_total"):
        expected = [found, found * 3600 / seconds]
    elif name.endswith("contended_seconds_total"):
        expected = [100 * found / seconds]
    else:
        expected = [found / seconds]
    shown = numbers(text)
    return len(shown) == len(expected) and all(
        abs(a - b) <= max(0.51, 0.001 * b) for a, b in zip(shown, expected, strict=True)
    )
