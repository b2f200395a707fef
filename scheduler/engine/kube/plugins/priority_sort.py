"""PrioritySort: higher priority first, then who was queued earlier."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube.framework.plugin import Plugin, QueuedPodInfo
from scheduler.model.pod import BEST_EFFORT, BURSTABLE, GUARANTEED
from scheduler.model.registry import register


@register(
    "plugin",
    "PrioritySort",
    label="By priority",
    help="Orders the queue by priority, then by the time of the last queueing.",
)
class PrioritySort(Plugin):
    """Source: docs/semantics/kube-scheduler.md#prioritysort."""

    name = "PrioritySort"

    def sort_key(self, queued: QueuedPodInfo) -> tuple[Any, ...]:
        """Return priority (high first) and time."""
        return -queued.pod.priority, queued.timestamp_us


# ------------------------------------------------------------------------
# QOSSort: priority, then Guaranteed, Burstable, BestEffort, then time.


_RANK = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}


@register(
    "plugin",
    "QOSSort",
    label="By quality of service",
    help="Orders the queue by priority, then Guaranteed before Burstable before "
    "BestEffort, then by time.",
)
class QOSSort(Plugin):
    """Source: docs/semantics/kube-scheduler.md#qossort."""

    name = "QOSSort"

    def sort_key(self, queued: QueuedPodInfo) -> tuple[Any, ...]:
        """Return priority (high first), class and time."""
        pod = queued.pod
        return -pod.priority, _RANK[pod.qos], queued.timestamp_us
