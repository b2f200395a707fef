"""PodGroup and PodDisruptionBudget as placement reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.durations import stamp_or_none
from scheduler.model.objects import Key
from scheduler.model.selectors import Selector, read_selector

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
#: Of releases whose PodGroups were of the group scheduling.sigs.k8s.io.
FORMER_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io"
OLD_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io/name"
OLD_MINIMUM_LABEL = "pod-group.scheduling.sigs.k8s.io/min-available"


class PodGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of pods that is to run together."""

    key: Key
    min_member: int = 1
    min_resources: dict[str, int] = {}
    timeout_ms: int | None = None  # how long a member waits at Permit
    created_us: int = 0


class PodDisruptionBudget(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How many pods of a selection may be disrupted now."""

    key: Key
    selector: Selector
    allowed: int | None = None  # as its status says; None: counted when asked
    minimum: int | str | None = None  # pods, or "50%" of them
    maximum: int | str | None = None
    disrupted: frozenset[str] = frozenset()


def read_group(manifest: Mapping[str, Any], namespace: str) -> PodGroup:
    """Return the PodGroup of a scheduling.x-k8s.io document."""
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    seconds = spec.get("scheduleTimeoutSeconds")
    created = metadata.get("creationTimestamp")
    return PodGroup(
        key=Key("PodGroup", namespace, str(metadata["name"])),
        min_member=int(spec.get("minMember") or 0),
        min_resources={
            name: amounts.canonical(name, value)
            for name, value in (spec.get("minResources") or {}).items()
        },
        timeout_ms=None if seconds is None else int(seconds) * 1000,
        created_us=stamp_or_none(created) or 0,
    )


def read_budget(
    manifest: Mapping[str, Any], status: Mapping[str, Any], namespace: str
) -> PodDisruptionBudget:
    """Return the budget; an empty selector matches no pod in preemption.

    Source: docs/semantics/kube-scheduler.md#victims-on-a-node.
    """
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    selector = read_selector(spec.get("selector"))
    if not selector.requirements:
        selector = Selector(nothing=True)
    allowed = status.get("disruptionsAllowed")
    return PodDisruptionBudget(
        key=Key("PodDisruptionBudget", namespace, str(metadata["name"])),
        selector=selector,
        allowed=None if allowed is None else int(allowed),
        minimum=spec.get("minAvailable"),
        maximum=spec.get("maxUnavailable"),
        disrupted=frozenset(status.get("disruptedPods") or ()),
    )


def disruptions_allowed(budget: PodDisruptionBudget, healthy: int) -> int:
    """Return how many of `healthy` pods may go now.

    Source: <https://kubernetes.io/docs/tasks/run-application/configure-pdb/>; healthy pods
    stand for expected ones.
    """
    if budget.allowed is not None:
        return budget.allowed
    if budget.minimum is not None:
        return max(0, healthy - _share(budget.minimum, healthy))
    if budget.maximum is not None:
        return _share(budget.maximum, healthy)
    return 0


def _share(value: int | str, of: int) -> int:
    """Return a number, or a percentage of `of` rounded up."""
    if isinstance(value, int):
        return value
    return -(-int(value.rstrip("%")) * of // 100)
