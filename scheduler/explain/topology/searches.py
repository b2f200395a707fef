"""Searches for places, from the steps that a trace wrote down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scheduler.explain.shapes import TopologyLevel, TopologySearch

Values = Mapping[str, Any]


def topology_searches(steps: Sequence[Values]) -> list[TopologySearch]:
    """Return every search for places of a trace, in order."""
    return [
        TopologySearch(
            pod_set=step["podSet"],
            flavor=step["flavor"],
            empty=step["empty"],
            reason=step["reason"],
            levels=msgspec.convert(step["levels"], list[TopologyLevel]),
            sentence=_sentence(step),
        )
        for step in steps
        if step["step"] == "topology"
    ]


def _sentence(step: Values) -> str:
    """Return what one search came to, with the level that decided."""
    asked = next((level for level in step["levels"] if level["requested"]), None)
    where = "with nobody else there" if step["empty"] else "as things are now"
    if not step["reason"]:
        return f"{step['podSet']} has places in flavor {step['flavor']} {where}."
    best = max((d["fits"] for d in asked["domains"]), default=0) if asked else 0
    if asked is None:
        return f"{step['podSet']}: {step['reason']}."
    return (
        f"No domain of {asked['level']} takes the {asked['needed']} pods of "
        f"{step['podSet']} {where}: the roomiest has places for {best}."
    )
