"""What each user and each group holds, queue by queue, in YuniKorn's records."""

from __future__ import annotations

from api.cluster.yunikorn.records import ENDED, Record, sparse, summed
from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.engine.yunikorn.objects.partition import Partition


def usage(partition: Partition, holder: str) -> list[Record]:
    """Return what each user or group holds, queue by queue."""
    found: dict[str, list[Application]] = {}
    for app in partition.apps.values():
        if str(app.state) in ENDED:
            continue
        names = [app.user] if holder == "user" else app.groups[:1]
        for name in names:
            found.setdefault(name, []).append(app)
    return [
        _holder(partition.root, holder, name, apps)
        for name, apps in sorted(found.items())
    ]


def _holder(root: Queue, holder: str, name: str, apps: list[Application]) -> Record:
    groups = {app.id: app.groups[0] for app in apps if app.groups}
    own: Record = {"userName": name, "groups": groups}
    if holder == "group":
        own = {"groupName": name, "applications": sorted(app.id for app in apps)}
    return {**own, "queues": _held(root, apps)}


def _held(queue: Queue, apps: list[Application]) -> Record:
    below = [app for app in apps if queue in app.queue.route]
    children = [
        _held(child, below)
        for child in queue.children.values()
        if any(child in app.queue.route for app in below)
    ]
    return {
        "queuePath": queue.path,
        **sparse(
            {
                "resourceUsage": summed(app.allocated for app in below),
                "runningApplications": sorted(app.id for app in below),
                "children": children,
            }
        ),
    }
