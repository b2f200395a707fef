"""PrioritySort: higher priority first, then who was queued earlier."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.queued_pod import QueuedPodInfo
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
