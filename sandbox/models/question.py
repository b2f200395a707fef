"""Questions that are worked out by workers: what was asked, who is at it, the answer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from sandbox.models.fields import JsonText


class Question(models.Model):
    """One question of certain revisions. Who has the newest fence writes the answer."""

    RUNNING, DONE = "running", "done"

    id = models.BigAutoField(primary_key=True)
    asked = models.CharField(max_length=64, unique=True)  # SHA-256 of all it depends on
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=16)  # of sandbox.answers.work
    sandboxes = JsonText()  # ids, in the order of the question
    arguments = JsonText()  # empty once it is answered
    state = models.CharField(max_length=7, default=RUNNING)
    fence = models.IntegerField(default=0)  # how often it was taken up
    # As often, but for those whose worker the operator ended.
    tries = models.PositiveSmallIntegerField(default=0)
    # Unix seconds by the database's clock.
    lease_until = models.FloatField(default=0)
    wanted_until = models.FloatField()  # nobody asks for it any longer after this
    answer = JsonText(null=True)
    error = JsonText(default=dict)  # sandbox.answers.work; empty for an answer

    class Meta:
        """What is open is found by its state, what has lapsed by its time."""

        indexes = (
            models.Index(
                fields=["asked_by"],
                condition=models.Q(state="running"),
                name="question_running",
            ),
            models.Index(fields=["wanted_until"], name="question_lapsed"),
        )

    def __str__(self) -> str:
        return f"question {self.pk}: {self.kind}"
