"""Access control lists: who may submit to a queue.

Source: docs/semantics/yunikorn.md#access-control
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.queue_tree import RECOVERY
from scheduler.model.hierarchy import PartitionSpec, QueueConfig

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
