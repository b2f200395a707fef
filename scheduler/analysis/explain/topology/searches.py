"""Searches for places, from the steps that a trace wrote down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.explain.shapes import TopologyLevel, TopologySearch
from scheduler.model.sentence import Sentence
from scheduler.words.why import Short

Values = Mapping[str, Any]


def topology_searches(steps: Sequence[Values]) -> list[TopologySearch]:
    """Return every search for places of a trace, in order."""
    return [_search(step) for step in steps if step["step"] == "topology"]


def _search(step: Values) -> TopologySearch:
    said = _sentence(step)
    return TopologySearch(
        pod_set=step["podSet"],
        flavor=step["flavor"],
        empty=step["empty"],
        reason=step["reason"],
        levels=[_level(level) for level in step["levels"]],
        sentence=said.text,
        said=said,
    )


def _level(level: Values) -> TopologyLevel:
    """Return a level; why a domain was left has its code."""
    domains = [
        {**one, "why": "" if one["said"] is None else one["said"].text}
        for one in level["domains"]
    ]
    return msgspec.convert(
        {**level, "domains": domains}, TopologyLevel, from_attributes=True
    )


def _sentence(step: Values) -> Sentence:
    """Return what one search came to, with the level that decided."""
    asked = next((level for level in step["levels"] if level["requested"]), None)
    where = (Short.EMPTY if step["empty"] else Short.NOW).said()
    pod_set, flavor = step["podSet"], step["flavor"]
    if not step["reason"]:
        return Short.PLACES.said(podSet=pod_set, flavor=flavor, where=where)
    if asked is None:
        return Short.NO_PLACES.said(podSet=pod_set, reason=step["reason"])
    return Short.NO_DOMAIN.said(
        level=asked["level"],
        needed=asked["needed"],
        podSet=pod_set,
        where=where,
        best=max((domain["fits"] for domain in asked["domains"]), default=0),
    )
