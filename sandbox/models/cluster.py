"""Objects of the cluster: queues, cohorts, flavors, nodes, classes, and the rest.

One table per kind. The manifest, the status and the engine's state are whole
documents; nothing that they say is repeated in a column, but the UID.
"""

from __future__ import annotations

from django.db import models

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox


class StoredObject(models.Model):
    """What every object has. (sandbox, kind, namespace, name) is its identity."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    revision = models.BigIntegerField()  # the last one that changed it
    manifest = JsonText()
    status = JsonText()
    state = models.BinaryField()  # msgpack, by stage

    class Meta:
        """The identity is also the order in which a world is loaded."""

        abstract = True
        constraints = (
            models.UniqueConstraint(
                fields=["sandbox", "kind", "namespace", "name"],
                name="%(class)s_identity",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}"


class ResourceFlavor(StoredObject):
    """A ResourceFlavor."""


class Cohort(StoredObject):
    """A Cohort."""


class ClusterQueue(StoredObject):
    """A ClusterQueue."""


class LocalQueue(StoredObject):
    """A LocalQueue."""


class WorkloadPriorityClass(StoredObject):
    """A WorkloadPriorityClass."""


class PriorityClass(StoredObject):
    """A PriorityClass."""


class Node(StoredObject):
    """A Node."""


class OtherObject(StoredObject):
    """An object of any kind without a table of its own."""


# ------------------------------------------------------------------------
# Work: Workloads, Pods and Jobs.


class Workload(StoredObject):
    """A Workload."""


class Pod(StoredObject):
    """A Pod."""


class Job(StoredObject):
    """A batch Job."""


# ------------------------------------------------------------------------
# What a recording still has to show of a real cluster, tick by tick.


class RecordedTick(models.Model):
    """What was seen in one tick of a recording; ticks in which nothing was have none."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    tick = models.BigIntegerField()
    body = models.BinaryField()  # as sandbox.world.seen packs it

    class Meta:
        """One per tick."""

        constraints = (
            models.UniqueConstraint(
                fields=["sandbox", "tick"], name="recorded_tick_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.sandbox_id}@{self.tick}"


# ------------------------------------------------------------------------
# What came of each import, to be read later, and which imports are under way.


class ImportReport(models.Model):
    """One report, of the revision that the import made."""

    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    revision = models.BigIntegerField()
    tick = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)
    who = models.CharField(max_length=150)
    report = JsonText()  # scheduler.input.manifests.report.Report

    class Meta:
        """Read newest first."""

        ordering = ("-revision", "-pk")
        indexes = (models.Index(fields=["sandbox", "-revision"], name="report_of"),)

    def __str__(self) -> str:
        return f"import of revision {self.revision} of {self.sandbox_id}"


class ImportTry(models.Model):
    """One reading of somebody's files. A process that is lost leaves its row behind."""

    id = models.BigAutoField(primary_key=True)
    files = models.CharField(max_length=64, db_index=True)  # SHA-256 of what is read
    # Unix seconds by the database's clock; whoever reads renews it.
    lease_until = models.FloatField()

    def __str__(self) -> str:
        return f"try {self.pk} of {self.files}"
