"""Work: Workloads, Pods and Jobs."""

from __future__ import annotations

from sandbox.models.cluster import StoredObject


class Workload(StoredObject):
    """A Workload."""


class Pod(StoredObject):
    """A Pod."""


class Job(StoredObject):
    """A batch Job."""
