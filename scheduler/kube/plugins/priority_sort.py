"""PrioritySort: higher priority first, then who was queued earlier."""

from __future__ import annotations

from typing import Any

from scheduler.kube.framework.plugin import Plugin
from scheduler.kube.queue.scheduling_queue import Queued
from scheduler.registry import register


@register(
    "plugin",
    "PrioritySort",
    label="By priority",
    help="Orders the queue by priority, then by the time of the last queueing.",
)
class PrioritySort(Plugin):
    """Source: docs/semantics/kube-scheduler.md#prioritysort."""

    name = "PrioritySort"

    def sort_key(self, queued: Queued) -> tuple[Any, ...]:
        """Return priority (high first) and time."""
        return -queued.pod.priority, queued.timestamp_us
