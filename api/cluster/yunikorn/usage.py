"""What each user and each group holds, queue by queue, in YuniKorn's records."""

from __future__ import annotations

from collections.abc import Callable

from api.cluster.yunikorn.records import ENDED, Record, amounts, sparse, summed
from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.user_group_limits import own_limits
from scheduler.model.hierarchy import Limit

LimitOf = Callable[[Queue], Limit | None]


def usage(partition: Partition, holder: str) -> list[Record]:
    """Return what each user or group holds, and their limits, queue by queue.

    A user is there with an application that holds or wants something; a group when a
    limit makes it count for one. Both are there with a limit that names them.
    """
    found: dict[str, list[Application]] = {}
    for queue in partition.root.walk():
        for limit in queue.limits:
            for name in limit.users if holder == "user" else limit.groups:
                if holder == "group" or name != "*":
                    found.setdefault(name, [])
    for app in partition.apps.values():
        if str(app.state) in ENDED or not (app.allocations or app.requests):
            continue
        name = app.user if holder == "user" else app.tracked_group or ""
        if name:
            found.setdefault(name, []).append(app)
    return [
        _holder(partition.root, holder, name, apps)
        for name, apps in sorted(found.items())
    ]


def _holder(root: Queue, holder: str, name: str, apps: list[Application]) -> Record:
    groups = {app.id: app.tracked_group for app in apps if app.tracked_group}
    own: Record = {"userName": name, "groups": groups}
    if holder == "group":
        own = {"groupName": name, "applications": sorted(app.id for app in apps)}
    limits = own_limits(holder, name)
    return {**own, "queues": _held(root, apps, limits) or {"queuePath": root.path}}


def _held(queue: Queue, apps: list[Application], limit_of: LimitOf) -> Record | None:
    """Return what is held of a queue, None where nothing is to be said of it."""
    below = [app for app in apps if queue in app.queue.route]
    children = [_held(child, below, limit_of) for child in queue.children.values()]
    limit = limit_of(queue)
    if not below and limit is None and not any(children):
        return None
    return {
        "queuePath": queue.path,
        **sparse(
            {
                "resourceUsage": summed(
                    part for app in below for part in (app.allocated, app.placeholders)
                ),
                "runningApplications": sorted(
                    app.id for app in below if app.allocations
                ),
                "maxResources": amounts(limit.max_resources) if limit else {},
                "maxApplications": limit.max_applications if limit else 0,
                "children": [child for child in children if child is not None],
            }
        ),
    }
