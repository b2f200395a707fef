"""The task groups that a pod declares to YuniKorn, as its annotations hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TASK_GROUPS = "yunikorn.apache.org/task-groups"
TASK_GROUP_NAME = "yunikorn.apache.org/task-group-name"


def declared(annotations: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups as they are declared; [] without any. Raises ValueError.

    Source: docs/semantics/yunikorn.md#gang-scheduling.
    """
    found: list[Mapping[str, Any]] = json.loads(annotations.get(TASK_GROUPS) or "[]")
    return found


def members_of(annotations: Mapping[str, Any]) -> list[tuple[str, int]] | None:
    """Return the name and minMember of each group; None where they cannot be read.

    What is wrong in them is said where YuniKorn reads them.
    """
    try:
        return [(one["name"], int(one["minMember"])) for one in declared(annotations)]
    except (KeyError, TypeError, ValueError):
        return None
