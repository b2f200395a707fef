"""What-ifs: changes from a tick on, and what they came to."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox


class KeptWhatIf(models.Model):
    """One what-if: the changes, where it begins, its verdict, and how it ended."""

    RUNNING, OPEN, FAILED = "running", "open", "failed"
    KEPT, DISCARDED = "kept", "discarded"

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="what_ifs", db_index=False
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    revision = models.BigIntegerField()  # that it begins at
    tick = models.BigIntegerField()
    changes = JsonText()  # as they were asked
    horizon_ms = models.BigIntegerField()
    seeds = JsonText()  # empty: the sandbox's own
    state = models.CharField(max_length=9, default=RUNNING)
    operation = JsonText(default=dict)  # sandbox.world.operations, once it has run
    verdict = JsonText(null=True)  # scheduler.analysis.pairs.PairVerdict
    error = JsonText(default=dict)  # sandbox.answers.work; empty unless it failed
    replaced_by = models.BigIntegerField(null=True)  # the one that took its place
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Found by the newest."""

        indexes = (models.Index(fields=["sandbox", "-id"], name="what_if_newest"),)

    def __str__(self) -> str:
        return f"what-if {self.pk} of {self.sandbox_id}@{self.revision}"
