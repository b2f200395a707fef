"""What came of each import, to be read later, and which imports are under way."""

from __future__ import annotations

from django.db import models

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox


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
