"""Decisions of a worker cluster as the manager's journal has them."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.model.decisions import Decision
from scheduler.model.objects import qualified, qualified_name

_NAMES = ("node", "queue")  # what a decision names beside its subject


def lifted(decision: Decision, cluster: str) -> Decision:
    """Return the decision with every object of the cluster named with it."""
    changes: dict[str, Any] = {"subject": qualified(decision.subject, cluster)}
    if decision.by is not None:
        changes["by"] = qualified(decision.by, cluster)
    for name in _NAMES:
        if given := getattr(decision, name, ""):
            changes[name] = qualified_name(given, cluster)
    return msgspec.structs.replace(decision, **changes)
