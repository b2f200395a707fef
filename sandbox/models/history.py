"""What happened: revisions, events, diffs, samples and checkpoints."""

from __future__ import annotations

import msgspec
from django.conf import settings
from django.db import models

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox
from scheduler.model.sentence import Sentence, plain


class Revision(models.Model):
    """One commit: a tick, an edit, or play, pause and speed.

    `operation` is all that is needed to do it again on the world before it. One with a
    `base` goes on from there, and what was between the two is gone: see world/lineage.py.
    """

    TICK, EDIT, TRANSPORT, RERUN = "tick", "edit", "transport", "rerun"

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    number = models.BigIntegerField()
    tick = models.BigIntegerField()  # after it
    t_ms = models.BigIntegerField()
    kind = models.CharField(max_length=9)
    operation = JsonText(default=dict)
    summary = models.CharField(max_length=300, blank=True)  # an edit, in a sentence
    said = JsonText(null=True)  # the same with its code and holes, where it has any
    who = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True
    )
    base = models.BigIntegerField(null=True)  # of a rewind, undo or redo
    origin = models.BigIntegerField(null=True)  # the revision that it does again
    at = models.DateTimeField()  # wall time

    class Meta:
        """Found by number, by tick, and the edits alone."""

        constraints = (
            models.UniqueConstraint(fields=["sandbox", "number"], name="revision_once"),
        )
        indexes = (
            models.Index(fields=["sandbox", "tick", "number"]),
            models.Index(fields=["sandbox", "kind", "number"]),
        )

    def __str__(self) -> str:
        return f"{self.sandbox_id}@{self.number} {self.kind}"

    @property
    def sentence(self) -> Sentence:
        """Return what was done."""
        if self.said is None:
            return plain(self.summary)
        return msgspec.convert(self.said, Sentence)


class Event(models.Model):
    """One decision or edit."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    revision = models.BigIntegerField()
    seq = models.IntegerField()  # from 0 within the revision
    tick = models.BigIntegerField()
    t_ms = models.BigIntegerField()
    type = models.CharField(max_length=16)
    subject = models.CharField(max_length=400)  # key: kind/namespace/name
    by = models.CharField(max_length=400, blank=True)
    reason = models.CharField(max_length=128, blank=True)
    message = models.TextField(blank=True)
    data = JsonText(default=dict)
    said = JsonText(null=True)  # the message with its code and holes, where it has any

    class Meta:
        """Read in order, by subject, and by type."""

        constraints = (
            models.UniqueConstraint(
                fields=["sandbox", "revision", "seq"], name="event_once"
            ),
        )
        indexes = (
            models.Index(fields=["sandbox", "subject", "revision"]),
            models.Index(fields=["sandbox", "type", "revision"]),
        )

    def __str__(self) -> str:
        return f"{self.type} {self.subject}"


class Diff(models.Model):
    """The wire message from the revision before to this one, compressed JSON."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    revision = models.BigIntegerField()
    body = models.BinaryField()

    class Meta:
        """One per revision."""

        constraints = (
            models.UniqueConstraint(fields=["sandbox", "revision"], name="diff_once"),
        )

    def __str__(self) -> str:
        return f"{self.sandbox_id}@{self.revision}"


class Sample(models.Model):
    """The numbers of one tick, for the curves."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    revision = models.BigIntegerField()
    tick = models.BigIntegerField()
    body = JsonText()

    class Meta:
        """One per revision that moved time."""

        constraints = (
            models.UniqueConstraint(fields=["sandbox", "revision"], name="sample_once"),
        )

    def __str__(self) -> str:
        return f"{self.sandbox_id}@{self.revision}"


class Checkpoint(models.Model):
    """A whole world and the page that showed it, compressed."""

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    revision = models.BigIntegerField()
    tick = models.BigIntegerField()
    world = models.BinaryField()
    page = models.BinaryField()

    class Meta:
        """One per revision; found by the newest not above a revision."""

        constraints = (
            models.UniqueConstraint(
                fields=["sandbox", "revision"], name="checkpoint_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.sandbox_id}@{self.revision}"
