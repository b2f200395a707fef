"""Searches for places, from the steps that a trace wrote down."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.explain.changes import edit
from scheduler.analysis.explain.shapes import Change, TopologyLevel, TopologySearch
from scheduler.engine.kueue.workload.info import WorkloadInfo
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


# ------------------------------------------------------------------------
# What could be different in a topology request, so that a waiting workload gets in.


PodSets = list[dict[str, Any]]


def relaxations(work: WorkloadInfo) -> list[tuple[str, str, str, Change]]:
    """Return (now, subject, value, change): preferred, then anywhere.

    Only where a podset requires a level, or has one preferred.
    """
    found = []
    required = [p.topology.required for p in work.pod_sets if p.topology]
    levels = sorted({level for level in required if level})
    if levels:
        change = Change(edits=[edit(work.key, podSets=_preferring(work))])
        named = " and ".join(levels)
        subject = f"topology at {named} is preferred instead of required"
        found.append(("required", subject, "preferred", change))
    if any(p.topology and p.topology.required for p in work.pod_sets):
        change = Change(edits=[edit(work.key, podSets=_anywhere(work))])
        subject = "its pods may stand anywhere (unconstrained topology)"
        found.append(("required", subject, "unconstrained", change))
    return found


def _preferring(work: WorkloadInfo) -> PodSets:
    """Return the podsets with the required level preferred."""
    pod_sets: PodSets = copy.deepcopy([dict(part) for part in work.pod_set_specs])
    for part in pod_sets:
        request = part.get("topologyRequest") or {}
        if "required" in request:
            request["preferred"] = request.pop("required")
    return pod_sets


def _anywhere(work: WorkloadInfo) -> PodSets:
    """Return the podsets without a level, slices and groups kept out as well."""
    pod_sets: PodSets = copy.deepcopy([dict(part) for part in work.pod_set_specs])
    for part in pod_sets:
        request = part.get("topologyRequest") or {}
        if "required" in request:
            kept = ("podIndexLabel", "subGroupIndexLabel", "subGroupCount")
            part["topologyRequest"] = {
                "unconstrained": True,
                **{name: request[name] for name in kept if name in request},
            }
    return pod_sets
