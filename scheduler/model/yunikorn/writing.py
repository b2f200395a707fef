"""A partition to the queues.yaml that configures it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model.hierarchy import (
    Limit,
    PartitionSpec,
    PlacementRule,
    QueueConfig,
    Template,
)
from scheduler.model.yunikorn import resources


def to_plain(partition: PartitionSpec) -> dict[str, Any]:
    """Return the queues.yaml mapping of a partition; reading it gives it back."""
    found: dict[str, Any] = {"name": partition.name}
    sort: dict[str, Any] = {"type": partition.node_sort}
    if partition.weights is not None:
        sort["resourceweights"] = dict(partition.weights)
    found["nodesortpolicy"] = sort
    if partition.placement:
        found["placementrules"] = [_rule(rule) for rule in partition.placement]
    if partition.limits:
        found["limits"] = [_limit(limit) for limit in partition.limits]
    found["preemption"] = {
        "enabled": partition.preemption,
        "quotapreemptionenabled": partition.quota_preemption,
    }
    found["queues"] = [_queue(partition.root)]
    return {"partitions": [found]}


def _queue(queue: QueueConfig) -> dict[str, Any]:
    found: dict[str, Any] = {"name": queue.name}
    plain = {
        "parent": queue.parent,
        "submitacl": queue.submit_acl,
        "adminacl": queue.admin_acl,
        "maxapplications": queue.max_applications,
        "properties": dict(queue.properties),
        "resources": _resources(queue.guaranteed, queue.max),
    }
    found.update({key: value for key, value in plain.items() if value})
    if queue.template is not None:
        found["childtemplate"] = _template(queue.template)
    if queue.limits:
        found["limits"] = [_limit(limit) for limit in queue.limits]
    if queue.queues:
        found["queues"] = [_queue(child) for child in queue.queues]
    return found


def _template(template: Template) -> dict[str, Any]:
    plain = {
        "maxapplications": template.max_applications,
        "properties": dict(template.properties),
        "resources": _resources(template.guaranteed, template.max),
    }
    return {key: value for key, value in plain.items() if value}


def _resources(
    guaranteed: Mapping[str, int] | None, ceiling: Mapping[str, int] | None
) -> dict[str, Any]:
    found = {"guaranteed": _amounts(guaranteed), "max": _amounts(ceiling)}
    return {key: value for key, value in found.items() if value}


def _amounts(amounts: Mapping[str, int] | None) -> dict[str, str]:
    return {t: resources.text_of(t, v) for t, v in (amounts or {}).items()}


def _limit(limit: Limit) -> dict[str, Any]:
    plain = {
        "limit": limit.description,
        "users": list(limit.users),
        "groups": list(limit.groups),
        "maxresources": _amounts(limit.max_resources),
        "maxapplications": limit.max_applications,
    }
    return {key: value for key, value in plain.items() if value}


def _rule(rule: PlacementRule) -> dict[str, Any]:
    found: dict[str, Any] = {"name": rule.name}
    if rule.value:
        found["value"] = rule.value
    if rule.create:
        found["create"] = True
    if rule.filter is not None:
        kept = {"users": list(rule.filter.users), "groups": list(rule.filter.groups)}
        found["filter"] = {
            "type": "deny" if rule.filter.deny else "allow",
            **{key: value for key, value in kept.items() if value},
        }
    if rule.parent is not None:
        found["parent"] = _rule(rule.parent)
    return found
