"""Records of YuniKorn's web service: amounts by resource, percents, nothing empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Queue, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.user_group_limits import own_limit
from scheduler.model.hierarchy import Limit, PlacementRule

PARTITION = "default"
CLUSTER = "quotalab"
ENDED = frozenset({"Completed", "Failed", "Rejected", "Expired"})

Record = dict[str, Any]


def sparse(record: Record) -> Record:
    """Return the record without its empty fields, which YuniKorn's answers leave out."""
    return {name: value for name, value in record.items() if value}


def amounts(values: Mapping[str, int] | None) -> dict[str, int]:
    """Return amounts by resource, in order of their names."""
    return {name: int(amount) for name, amount in sorted((values or {}).items())}


def summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of amounts."""
    total: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + int(amount)
    return amounts(total)


def percent(part: Mapping[str, int], whole: Mapping[str, int] | None) -> dict[str, int]:
    """Return whole percents of what there is."""
    return {
        name: 100 * int(part.get(name, 0)) // int(amount)
        for name, amount in sorted((whole or {}).items())
        if amount
    }


def allocated_on(node: SchedulingNode) -> dict[str, int]:
    """Return what the allocations on a node take, by resource."""
    return {
        name: int(amount) - node.available.get(name, 0) - node.occupied.get(name, 0)
        for name, amount in node.capacity.items()
    }


# ------------------------------------------------------------------------
# What each user and each group holds, queue by queue, in YuniKorn's records.


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
    held = _held(root, apps, lambda queue: own_limit(holder, name, queue.limits))
    return {**own, "queues": held or {"queuePath": root.path}}


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


# ------------------------------------------------------------------------
# Placement rules, and the health checks, in YuniKorn's records.


def rules(partition: Partition) -> Record:
    """Return the placement rules; without any there is the one of old."""
    given = partition.spec.placement or (PlacementRule(name="provided"),)
    return {"partition": PARTITION, "rules": [_rule(rule) for rule in given]}


def health(partition: Partition, problem: str) -> Record:
    """Return the checks that a simulated scheduler can fail."""
    checks = list(_checks(partition, problem))
    healthy = all(check["Succeeded"] for check in checks)
    return {"Healthy": healthy, "HealthChecks": checks}


def _checks(partition: Partition, problem: str) -> Iterator[Record]:
    nodes = partition.nodes.by_name.values()
    message = problem or "There were 0 scheduling errors logged in the metrics"
    yield _check("Scheduling errors", message, good=not problem)
    negative = [n.name for n in nodes if any(a < 0 for a in n.available.values())]
    message = f"Nodes with negative resources: {negative}"
    yield _check("Negative resources", message, good=not negative)
    total = summed(node.capacity for node in nodes)
    message = f"Partitions with inconsistent data: {[PARTITION]}"
    agrees = total == amounts(partition.root.max)
    yield _check("Consistency of data", message if not agrees else "", good=agrees)


def _check(name: str, message: str, *, good: bool) -> Record:
    return {
        "Name": name,
        "Succeeded": good,
        "Description": f"Check for {name.lower()}",
        "DiagnosisMessage": message,
    }


def _rule(rule: PlacementRule) -> Record:
    parameters = {"create": str(rule.create).lower()}
    if rule.value:
        parameters["value"] = rule.value
    found: Record = {"name": rule.name, "parameters": parameters}
    if rule.filter is not None:
        found["filter"] = sparse(
            {
                "type": "deny" if rule.filter.deny else "allow",
                "userList": list(rule.filter.users),
                "groupList": list(rule.filter.groups),
            }
        )
    if rule.parent is not None:
        found["parentRule"] = _rule(rule.parent)
    return found
