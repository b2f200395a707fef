"""User and group limits: who uses how much, per queue path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.model.hierarchy import Limit
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

ANY = "*"
#: (queue path, "user" or "group", name)
Holder = tuple[str, str, str]


class UserGroupLimits:
    """Usage and running applications per queue, user and group.

    A user is tracked on every queue of the path; a group only when a limit
    names it. Costs nothing while no queue has a limit.
    Source: docs/semantics/yunikorn.md#user-and-group-limits
    """

    def __init__(self, root: Queue) -> None:
        self.active = any(queue.limits for queue in root.walk())
        self.used: dict[Holder, Amounts] = {}
        self.running: dict[Holder, set[str]] = {}

    def take(self, app: Application, resource: Amounts) -> None:
        """Count a resource as used by the application's user and group."""
        self.count(app)
        for holder in self._holders(app):
            resources.add_to(self.used.setdefault(holder, {}), resource)

    def count(self, app: Application) -> None:
        """Count an application among those that hold resources of its user and group."""
        if self.active:
            for holder in self._holders(app):
                self.running.setdefault(holder, set()).add(app.id)

    def counted_without_pods(self, apps: Mapping[str, Application]) -> list[str]:
        """Return the applications that count although they hold nothing now."""
        counted = set().union(*self.running.values())
        return sorted(name for name in counted if not apps[name].allocations)

    def give_back(self, app: Application, resource: Amounts, *, ends: bool) -> None:
        """Count a resource as used no longer; `ends`: nothing is held or pending."""
        for holder in self._holders(app):
            if ends:
                self.running.setdefault(holder, set()).discard(app.id)
            resources.take_and_prune(self.used.setdefault(holder, {}), resource)

    def forget(self, app: Application) -> None:
        """Forget an application that is gone."""
        for ids in self.running.values():
            ids.discard(app.id)

    def headroom(self, app: Application) -> Amounts | None:
        """Return the headroom of the user and the group; None is unlimited."""
        headroom: Amounts | None = None
        for _, _, left in self.headrooms(app):
            headroom = resources.least(headroom, left)
        return headroom

    def headrooms(
        self, app: Application
    ) -> Iterator[tuple[Holder, Mapping[str, int], Amounts]]:
        """Yield each limit of the user and the group: whose, its maxresources, what is left."""
        for holder, limit in self._limited(app):
            if limit.max_resources is not None:
                used = self.used.get(holder, {})
                left = resources.minus_existing(limit.max_resources, used)
                yield holder, limit.max_resources, left

    def can_run(self, app: Application) -> bool:
        """Return whether user and group may have one more running application."""
        return self.full_for(app) is None

    def full_for(self, app: Application) -> tuple[Holder, int] | None:
        """Return whose maxapplications keeps an application from running, and its value."""
        for holder, limit in self._limited(app):
            ids = self.running.get(holder, ())
            full = limit.max_applications and len(ids) >= limit.max_applications
            if full and app.id not in ids:
                return holder, limit.max_applications
        return None

    def _limited(self, app: Application) -> Iterator[tuple[Holder, Limit]]:
        group = self._group(app)
        for queue in app.queue.route:
            limit = _user_limit(queue.limits, app.user)
            if limit is not None:
                yield (queue.path, "user", app.user), limit
            limit = _group_limit(queue.limits, group) if group else None
            if limit is not None:
                yield (queue.path, "group", group), limit

    def _holders(self, app: Application) -> Iterator[Holder]:
        group = self._group(app)
        for queue in app.queue.route:
            yield queue.path, "user", app.user
            if group:
                yield queue.path, "group", group

    def _group(self, app: Application) -> str:
        """Return the group that counts for an application, fixed at first use.

        The first configured one, from the leaf upwards, that the user is in.
        """
        if app.tracked_group is None:
            app.tracked_group = _group_of(app)
        return app.tracked_group


def own_limit(holder: str, name: str, limits: tuple[Limit, ...]) -> Limit | None:
    """Return the limit of a "user" or "group" among those of a queue; None without one."""
    return (_user_limit if holder == "user" else _group_limit)(limits, name)


def _group_of(app: Application) -> str:
    """Return the group whose limits hold for an application, "" for none.

    From the leaf up: the first named group that the user is in, else `*` where
    the queue limits it. A user without groups has none.
    Source: docs/semantics/yunikorn.md#group-of-an-application
    """
    if not app.groups:
        return ""
    for queue in app.queue.route:
        names = [name for limit in queue.limits for name in limit.groups]
        for name in names:
            if name in app.groups:
                return name
        if ANY in names:
            return ANY
    return ""


def _user_limit(limits: tuple[Limit, ...], user: str) -> Limit | None:
    """Return the limit of a user: the user's own, else that of `*`."""
    own = next((limit for limit in limits if user in limit.users), None)
    return own or next((limit for limit in limits if ANY in limit.users), None)


def _group_limit(limits: tuple[Limit, ...], group: str) -> Limit | None:
    """Return the limit of a group; `*` is a group of its own here."""
    return next((limit for limit in limits if group in limit.groups), None)
