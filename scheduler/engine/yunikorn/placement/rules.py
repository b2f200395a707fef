"""Placement rules: the path of the queue that a rule gives an application.

Source: docs/semantics/yunikorn.md#values-of-placement-rules
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.queue_tree import ROOT
from scheduler.engine.yunikorn.placement.filters import passes
from scheduler.model.errors import SchedulerError
from scheduler.model.hierarchy import PlacementRule

_NAME = re.compile(r"[A-Za-z0-9_:#/@-]{1,64}")
_QUALIFIED = f"{ROOT}."

FindQueue = Callable[[str], Queue | None]


class PlacementError(SchedulerError):
    """A rule came to something that refuses the application at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What is known of an application before it has a queue."""

    queue: str = ""  # as asked for; may be a bare name
    user: str = "nobody"
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def path_of(rule: PlacementRule, submission: Submission, find: FindQueue) -> str:
    """Return the path that a rule gives, "" when it gives none.

    `find` returns the queue at a path. Raises PlacementError for a bad name and
    for a parent rule that leads to a leaf.
    """
    value = _value(rule, submission)
    if not value or not passes(rule.filter, submission.user, submission.groups):
        return ""
    if _is_qualified(rule, value):
        path = value
    else:
        above = _above(rule, submission, find)
        path = f"{above}.{value}" if above else ""
    _check_names(value)
    return path if path and (rule.create or find(path) is not None) else ""


def _value(rule: PlacementRule, submission: Submission) -> str:
    match rule.name:
        case "provided":
            return _without_dots(submission.queue)
        case "fixed":
            return rule.value.lower()
        case "user":
            return submission.user.replace(".", "_dot_")
        case "tag":
            key = rule.value.lower()
            found = (v for k, v in submission.tags.items() if k.lower() == key)
            return _without_dots(next(found, ""))
        case _:
            return ""


def _without_dots(name: str) -> str:
    """Return a name as one part of a path; a qualified one stays as it is."""
    return name if name.startswith(_QUALIFIED) else name.replace(".", "_dot_")


def _is_qualified(rule: PlacementRule, value: str) -> bool:
    if rule.name == "user":
        return False
    return value.startswith(ROOT if rule.name == "fixed" else _QUALIFIED)


def _check_names(path: str) -> None:
    for part in path.split("."):
        if not _NAME.fullmatch(part):
            raise PlacementError(messages.INVALID_QUEUE_NAME)


def _above(rule: PlacementRule, submission: Submission, find: FindQueue) -> str:
    if rule.parent is None:
        return ROOT
    path = path_of(rule.parent, submission, find)
    if path and not path.startswith(_QUALIFIED):
        path = f"{ROOT}.{path}"
    parent = find(path) if path else None
    if parent is not None and parent.leaf:
        raise PlacementError(messages.parent_is_leaf(path))
    return path
