"""Statuses that are counts of pods: of DaemonSets and of disruption budgets.

Source: <https://kubernetes.io/docs/concepts/workloads/pods/disruptions/>
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from api.cluster.checks.replicated import selects
from api.cluster.controlled import owner_of
from sandbox.models import StoredObject, table_of
from scheduler.model.reasons import has_ended, is_true

Document = dict[str, Any]


def daemon_set_status(row: StoredObject) -> Document:
    """Return how many pods of a DaemonSet there are, and how many are ready."""
    owned = [
        pod
        for pod in _pods(row, name__startswith=f"{row.name}-")
        if (owner := owner_of(pod.manifest["metadata"]))
        and (owner["kind"], owner["name"]) == ("DaemonSet", row.name)
    ]
    there = len(owned)
    ready = sum(is_true(pod.status or {}, "Ready") for pod in owned)
    found = {
        "currentNumberScheduled": there,
        "desiredNumberScheduled": there,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "observedGeneration": row.manifest["metadata"].get("generation", 1),
    }
    more = {
        "numberAvailable": ready,
        "numberUnavailable": there - ready,
        "updatedNumberScheduled": there,
    }
    return {**found, **{name: count for name, count in more.items() if count}}


def budget_status(row: StoredObject) -> Document:
    """Return how many pods a PodDisruptionBudget covers, and how many may go."""
    metadata, spec = row.manifest["metadata"], row.manifest.get("spec") or {}
    selector = spec.get("selector") or {}
    covered = [
        pod
        for pod in _pods(row)
        if selects(selector, pod.manifest["metadata"].get("labels") or {})
    ]
    healthy = sum(is_true(pod.status or {}, "Ready") for pod in covered)
    expected = len(covered)
    if spec.get("maxUnavailable") is not None:
        desired = max(0, expected - _share(spec["maxUnavailable"], expected))
    else:
        desired = _share(spec.get("minAvailable", 1), expected)
    allowed = max(0, healthy - desired) if expected else 0
    generation = metadata.get("generation", 1)
    condition = {
        "lastTransitionTime": metadata.get("creationTimestamp"),
        "message": "",
        "observedGeneration": generation,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "status": str(bool(allowed)),
        "type": "DisruptionAllowed",
    }
    return {
        "conditions": [condition],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": generation,
    }


def _share(given: Any, total: int) -> int:
    """Return a number of pods, of all where it is a percentage; part pods count."""
    text = str(given)
    if match := re.fullmatch(r"([0-9]+)%", text, re.ASCII):
        return -(-int(match[1]) * total // 100)
    return int(given)


def _pods(row: StoredObject, **which: Any) -> Iterable[StoredObject]:
    """Yield the pods of an object's namespace that have not ended."""
    rows = table_of("Pod")._default_manager.filter(
        sandbox_id=row.sandbox_id, kind="Pod", namespace=row.namespace, **which
    )
    return [pod for pod in rows.iterator() if not has_ended(pod.status or {})]
