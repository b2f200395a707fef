"""Which queue an application that comes in goes to.

Source: docs/semantics/yunikorn.md#placement-manager
"""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import RECOVERY
from scheduler.engine.yunikorn.placement.access import may_submit
from scheduler.engine.yunikorn.placement.rules import (
    PlacementError,
    Submission,
    path_of,
)
from scheduler.model.hierarchy import PlacementRule

DEFAULT = "root.default"
_TOP_LEVEL = 2  # names in the path of a queue below root
_PROVIDED = (PlacementRule(name="provided"),)


def place(partition: Partition, submission: Submission) -> Queue | None:
    """Return the leaf by the first rule that gives one, made if need be.

    None when the application is rejected. Without rules only the queue that
    was asked for counts; `root.default` is the last resort when it exists.
    """
    if partition.spec.placement_error:
        return None
    for rule in partition.spec.placement or _PROVIDED:
        try:
            path = path_of(rule, submission, partition.queue)
        except PlacementError:
            return None
        if path and _admits(partition, path, submission):
            return _make(partition, path)
    default = partition.queue(DEFAULT)
    if default is not None and _admits(partition, DEFAULT, submission):
        return default
    return None


def _admits(partition: Partition, path: str, submission: Submission) -> bool:
    """Return whether a queue, or the nearest that exists above it, takes it."""
    queue = partition.queue(path)
    if queue is not None and not (queue.leaf and queue.state == "Active"):
        return False
    above = path
    while queue is None and above:
        above = above.rpartition(".")[0]
        queue = partition.queue(above)
    return queue is not None and may_submit(queue, submission.user, submission.groups)


def _make(partition: Partition, path: str) -> Queue | None:
    """Return the leaf at a path, making what is missing; None where that fails."""
    names = path.lower().split(".")
    queue = partition.root
    for depth, name in enumerate(names[1:], start=1):
        child = queue.children.get(name)
        if child is None:
            if queue.leaf or (name == RECOVERY and len(names) > _TOP_LEVEL):
                return None
            child = partition.make_queue(queue, name, leaf=depth == len(names) - 1)
        queue = child
    return queue if queue.leaf else None


def recovery(partition: Partition) -> Queue:
    """Return the queue of applications that run already and fit no rule."""
    found = partition.root.children.get(RECOVERY)
    return found or partition.make_queue(partition.root, RECOVERY)
