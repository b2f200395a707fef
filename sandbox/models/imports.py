"""What came of each import: the report that was answered, to be read later."""

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
