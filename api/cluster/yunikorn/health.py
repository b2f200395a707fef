"""Placement rules, and the health checks, in YuniKorn's records."""

from __future__ import annotations

from collections.abc import Iterator

from api.cluster.yunikorn.records import PARTITION, Record, amounts, sparse, summed
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.hierarchy import PlacementRule


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
