"""Placement rules: which queue an application that comes in goes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler.records.hierarchy import PlacementRule, RuleFilter
from scheduler.yunikorn.objects.model import Queue
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.objects.queue_tree import ROOT

DEFAULT = "root.default"
RECOVERY = "@recovery@"
_PROVIDED = (PlacementRule(name="provided"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What is known of an application before it has a queue."""

    queue: str = ""  # as asked for; may be a bare name
    user: str = "nobody"
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def place(partition: Partition, incoming: Submission) -> Queue | None:
    """Return the leaf by the first rule that gives one, made if need be.

    None when the application is rejected. Without rules only the queue that
    was asked for counts; `root.default` is the last resort when it exists.
    Source: YUNIKORN.md 17.
    """
    for rule in partition.spec.placement or _PROVIDED:
        path = _path(rule, incoming)
        queue = _take(partition, path, create=rule.create) if path else None
        if queue is not None:
            return queue
    default = partition.queue(DEFAULT)
    return default if default is not None and _open(default) else None


def recovery(partition: Partition) -> Queue:
    """Return the queue of applications that run already and fit no rule."""
    found = partition.root.children.get(RECOVERY)
    return found or partition.make_queue(partition.root, RECOVERY)


def _path(rule: PlacementRule, incoming: Submission) -> str:
    """Return the full path that a rule gives, "" when it gives none."""
    if rule.filter is not None and not _passes(rule.filter, incoming):
        return ""
    name = _name(rule, incoming)
    if not name:
        return ""
    if name == ROOT or name.startswith(f"{ROOT}."):
        return name
    above = _path(rule.parent, incoming) if rule.parent is not None else ROOT
    return f"{above}.{name}" if above else ""


def _name(rule: PlacementRule, incoming: Submission) -> str:
    match rule.name:
        case "provided":
            return incoming.queue.lower()
        case "fixed":
            return rule.value.lower()
        case "user":
            return _plain(incoming.user)
        case _:
            return _plain(incoming.tags.get(rule.value, ""))


def _plain(name: str) -> str:
    """Return a name that may stand as one part of a path."""
    return name.lower().replace(".", "_dot_")


def _passes(rule: RuleFilter, incoming: Submission) -> bool:
    if not rule.users and not rule.groups:
        return not rule.deny
    named = incoming.user in rule.users or any(
        group in rule.groups for group in incoming.groups
    )
    return named is not rule.deny


def _take(partition: Partition, path: str, *, create: bool) -> Queue | None:
    """Return the open leaf at a path, made when the rule allows it."""
    names = path.split(".")
    if names[0] != ROOT or not all(names):
        return None
    queue = partition.root
    for depth, name in enumerate(names[1:], start=1):
        child = queue.children.get(name)
        if child is None:
            if not create or queue.leaf:
                return None
            child = partition.make_queue(queue, name, leaf=depth == len(names) - 1)
        queue = child
    return queue if _open(queue) else None


def _open(queue: Queue) -> bool:
    return queue.leaf and queue.state == "Active"
