"""Which queue an application that comes in goes to.

Source: docs/semantics/yunikorn.md#placement-manager
"""

from __future__ import annotations

from scheduler.engine.yunikorn import messages
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
    """Return what `leaf_of` does; None when the application is rejected."""
    try:
        return leaf_of(partition, submission)
    except PlacementError:
        return None


def leaf_of(partition: Partition, submission: Submission) -> Queue:
    """Return the leaf by the first rule that gives one, made if need be.

    Without rules only the queue that was asked for counts; `root.default` is the
    last resort when it exists. Raises PlacementError when the application is
    rejected.
    """
    if partition.spec.placement_error:
        raise PlacementError(messages.NO_PLACEMENT)
    for rule in partition.spec.placement or _PROVIDED:
        path = path_of(rule, submission, partition.queue)
        if path and _admits(partition, path, submission):
            return _make(partition, path)
    default = partition.queue(DEFAULT)
    if default is not None and _admits(partition, DEFAULT, submission):
        return default
    raise PlacementError(messages.NO_PLACEMENT)


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


def _make(partition: Partition, path: str) -> Queue:
    """Return the leaf at a path, making what is missing.

    Raises PlacementError where that fails.
    """
    names = path.lower().split(".")
    queue = partition.root
    for depth, name in enumerate(names[1:], start=1):
        child = queue.children.get(name)
        if child is None:
            if queue.leaf or (name == RECOVERY and len(names) > _TOP_LEVEL):
                raise PlacementError(messages.below_leaf(path, queue.path))
            child = partition.make_queue(queue, name, leaf=depth == len(names) - 1)
        queue = child
    if not queue.leaf:
        raise PlacementError(messages.NO_PLACEMENT)
    return queue


def recovery(partition: Partition) -> Queue:
    """Return the queue of applications that run already and fit no rule."""
    found = partition.root.children.get(RECOVERY)
    return found or partition.make_queue(partition.root, RECOVERY)
