"""Placement rules: the path of the queue that a rule gives an application.

Source: docs/semantics/yunikorn.md#values-of-placement-rules
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import RECOVERY, ROOT
from scheduler.model.errors import PatternError, SchedulerError
from scheduler.model.hierarchy import (
    PartitionSpec,
    PlacementRule,
    QueueConfig,
    RuleFilter,
)
from scheduler.model.texts.plain_text import read_pattern

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
    for part in value.split("."):
        if not _NAME.fullmatch(part):
            raise PlacementError(messages.INVALID_QUEUE_NAME)
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


# ------------------------------------------------------------------------
# Filters of placement rules: the users and groups that a rule is for.


_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")


def passes(rule: RuleFilter | None, user: str, groups: tuple[str, ...]) -> bool:
    """Return whether a rule is for a user with these groups."""
    if rule is None:
        return True
    if not rule.users and not rule.groups:
        return not rule.deny
    named = _match(rule.users, (user,)) or _match(rule.groups, groups)
    return named is not rule.deny


def _match(entries: tuple[str, ...], names: Iterable[str]) -> bool:
    """Return whether a name is meant; only a single entry may be an expression."""
    if len(entries) == 1 and _SPECIAL.search(entries[0]):
        try:
            pattern = read_pattern(entries[0])
        except PatternError:
            return False
        return any(pattern.found_in(name) for name in names)
    return any(name in entries for name in names)


# ------------------------------------------------------------------------
# Access control lists: who may submit to a queue.


ANYBODY = "*"
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9:#/_.@-]*\$?")
_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9:_.-]*")


@dataclass(frozen=True, slots=True)
class AccessList:
    """The users and groups that an ACL admits."""

    anybody: bool
    users: frozenset[str]
    groups: frozenset[str]

    def admits(self, user: str, groups: tuple[str, ...]) -> bool:
        """Return whether a user, or one of the user's groups, is admitted."""
        return self.anybody or user in self.users or not self.groups.isdisjoint(groups)


@functools.lru_cache(maxsize=1024)
def read(text: str) -> AccessList:
    """Return what an ACL such as `ann,bob dev` admits; "" admits nobody."""
    users, _, groups = text.partition(" ")
    return AccessList(
        anybody=text.strip() == ANYBODY or ANYBODY in (users.strip(), groups.strip()),
        users=_names(users, _USER),
        groups=_names(groups, _GROUP),
    )


def _names(text: str, pattern: re.Pattern[str]) -> frozenset[str]:
    """Return the names of a list; others than names are ignored."""
    return frozenset(name for name in text.split(",") if pattern.fullmatch(name))


def may_submit(queue: Queue, user: str, groups: tuple[str, ...]) -> bool:
    """Return whether a user may submit: by an ACL of the queue or of an ancestor."""
    if queue.name == RECOVERY:
        return False
    return any(
        read(text).admits(user, groups)
        for at in queue.route
        for text in (at.submit_acl, at.admin_acl)
    )


def names_no_list(spec: PartitionSpec) -> bool:
    """Return whether no queue of a configuration has an ACL at all."""
    return not any(queue.submit_acl or queue.admin_acl for queue in _walk(spec.root))


def opened(spec: PartitionSpec) -> PartitionSpec:
    """Return a configuration that everyone may submit to, where it names no ACL.

    The real core would reject every application: nobody tries queues that way.
    """
    if not names_no_list(spec):
        return spec
    return replace(spec, root=replace(spec.root, submit_acl=ANYBODY))


def _walk(queue: QueueConfig) -> Iterator[QueueConfig]:
    yield queue
    for child in queue.queues:
        yield from _walk(child)


# ------------------------------------------------------------------------
# Which queue an application that comes in goes to.


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
