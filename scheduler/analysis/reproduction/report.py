"""What a search for the smallest world found, and its world as a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from scheduler.analysis.reproduction.starts import Start
from scheduler.analysis.reproduction.trimming import differences
from scheduler.model.durations import duration_text
from scheduler.model.objects import Object
from scheduler.model.scenario import Match

LONGEST_TITLE = 40


class Reproduction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A small world that shows a decision; `documents` load and run as they are.

    `at_ms` is when it is taken there. `minimal`: no object can be left out; else
    the search was stopped early. Nothing `found`: no documents.
    """

    found: bool
    decision: str
    at_ms: int = 0
    before: int = 0  # objects
    after: int = 0
    runs: int = 0
    minimal: bool = False
    documents: list[dict[str, Any]] = []


def words(wanted: Match) -> str:
    """Return the decision as one line."""
    by = f" by {wanted.by}" if wanted.by else ""
    why = f" ({wanted.reason})" if wanted.reason else ""
    where = f" on {wanted.node}" if wanted.node else ""
    return f"{wanted.type} {wanted.subject}{by}{where}{why}"


def documents(
    start: Start, objects: Sequence[Object], wanted: Match, at_ms: int
) -> list[dict[str, Any]]:
    """Return a Scenario that expects the decision, and the objects of its world."""
    return [
        _scenario(start, wanted, at_ms),
        *(
            {**obj.manifest, "status": obj.status} if obj.status else obj.manifest
            for obj in objects
        ),
    ]


def _scenario(start: Start, wanted: Match, at_ms: int) -> dict[str, Any]:
    line = words(wanted)
    short = f"{wanted.type} {wanted.subject.rpartition('/')[2]}"[:LONGEST_TITLE]
    event = {
        name: value for name, value in msgspec.to_builtins(wanted).items() if value
    }
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "minimal-reproduction"},
        "spec": {
            "title": {
                "en": f"Minimal: {short}",
                "zh-Hans": f"最小重现：{short}",
                "zh-Hant": f"最小重現：{short}",
            },
            "summary": {
                "en": f"The smallest world found that still shows: {line}",
                "zh-Hans": f"仍能显示此决策的最小世界：{line}",
                "zh-Hant": f"仍能顯示此決策的最小世界：{line}",
            },
            "seed": start.seed,
            "policy": differences(start.policy),
            "expect": [{"at": duration_text(at_ms), "event": event}],
            "horizon": duration_text(max(start.until_ms, at_ms) + 1000),
        },
    }
