"""Work: Workloads, Pods and Jobs."""

from __future__ import annotations

from django.db import models

from sandbox.models.cluster import StoredObject


class Workload(StoredObject):
    """A Workload, with what tables and counters ask about."""

    queue = models.CharField(max_length=253, blank=True)  # LocalQueue
    cluster_queue = models.CharField(max_length=253, blank=True)  # with quota reserved
    phase = models.CharField(max_length=12)
    priority = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=128, blank=True)

    class Meta(StoredObject.Meta):
        """Counting by phase is what dashboards do."""

        indexes = (models.Index(fields=["sandbox", "phase"]),)


class Pod(StoredObject):
    """A Pod, with where it is."""

    node = models.CharField(max_length=253, blank=True)
    phase = models.CharField(max_length=12)
    priority = models.BigIntegerField(default=0)


class Job(StoredObject):
    """A batch Job."""

    queue = models.CharField(max_length=253, blank=True)
