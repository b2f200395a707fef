"""Status of queues and workloads as the API shows it, rendered on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.kueue.cluster import Cluster
from scheduler.records.objects import Key, Object


def write(cluster: Cluster, obj: Object, stage: str) -> None:
    """Write status and memory."""
    raise NotImplementedError


def owned(cluster: Cluster) -> Iterable[Key]:
    """Return keys."""
    raise NotImplementedError
