"""Experiments and their runs: what is to be run, who runs it, what came out."""

from __future__ import annotations

from typing import Literal

from django.conf import settings
from django.db import models

from sandbox.models.fields import JsonText, SaidText
from sandbox.models.sandbox import Person, Sandbox, is_guest, new_id


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Every way to an experiment begins with who is asking."""

    def visible_to(self, user: Person) -> ExperimentQuerySet:
        """Return what `user` may read: their own, or public; a guest of a lesson none."""
        public = models.Q(visibility=Sandbox.PUBLIC)
        if not user.is_authenticated:
            return self.filter(public)
        if is_guest(user):
            return self.none()
        return self.filter(public | models.Q(owner_id=user.pk))

    def editable_by(self, user: Person) -> ExperimentQuerySet:
        """Return what `user` may cancel and delete: their own."""
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()


class Experiment(models.Model):
    """Variants x seeds of one base. What it begins from is kept whole.

    Later edits of the sandbox or scenario that it came from change nothing.
    """

    RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"
    FILES, WORLD = "files", "world"

    id = models.CharField(primary_key=True, max_length=12, default=new_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    visibility = models.CharField(max_length=8, default=Sandbox.PRIVATE)
    title = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    document = JsonText()  # as given
    plan = JsonText()  # scheduler.analysis.experiments.runs.Plan
    base_kind = models.CharField(max_length=5)
    base = models.BinaryField()  # files or a world, compressed
    files = JsonText(default=dict)  # texts beside it, by name
    state = models.CharField(max_length=9, default=RUNNING)
    total = models.IntegerField()  # runs
    done = models.IntegerField(default=0)  # that ended by themselves, well or not
    failed = models.IntegerField(default=0)
    # Of a search that asks for its runs as it goes; the variants are its settings.
    searching = models.BooleanField(default=False)  # more runs may follow
    points = JsonText(
        default=list
    )  # scheduler.analysis.advice.space.Point of each variant
    # A step of a search: who is at it, and how often it was begun since runs were asked for.
    step_lease_until = models.FloatField(default=0)  # Unix seconds
    step_tries = models.IntegerField(default=0)
    step_at = models.IntegerField(default=0)  # `total` when it was begun last
    stop_at = models.IntegerField(null=True)  # runs after which it asks no more
    answer = JsonText(
        default=dict
    )  # scheduler.analysis.advice.answer.Answer, or {"error": …}

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        """The list of a person, and what of theirs runs."""

        ordering = ("-created_at",)
        indexes = (
            models.Index(fields=["owner", "-created_at"]),
            models.Index(
                fields=["owner"],
                condition=models.Q(state="running"),
                name="experiment_running",
            ),
        )

    def __str__(self) -> str:
        return f"{self.title} ({self.id})"

    def role_of(self, user: Person) -> Literal["owner", "viewer"]:
        """Return what `user` is here."""
        return "owner" if user.pk == self.owner_id else "viewer"


class Run(models.Model):
    """One variant with one seed. Who has the newest fence writes its result."""

    WAITING, RUNNING, DONE, FAILED, CANCELLED = (
        "waiting",
        "running",
        "done",
        "failed",
        "cancelled",
    )

    id = models.BigAutoField(primary_key=True)
    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    number = models.IntegerField()  # from 0, in the plan's order
    variant = models.IntegerField()  # index into the plan's variants
    seed = models.BigIntegerField()
    state = models.CharField(max_length=9, default=WAITING)
    fence = models.IntegerField(default=0)  # how often it was taken up
    # As often, but for those whose worker the operator ended.
    tries = models.PositiveSmallIntegerField(default=0)
    lease_until = models.FloatField(default=0)  # Unix seconds
    worker = models.CharField(max_length=64, blank=True)  # who took it up last
    result = JsonText(default=dict)  # scheduler.analysis.experiments.runs.Result
    hash = models.CharField(max_length=64, blank=True)
    error = SaidText(blank=True)
    ended = models.IntegerField(default=0)  # 1 for the first that ended, and so on

    class Meta:
        """Found by number, by what may be taken up, and by when they ended."""

        constraints = (
            models.UniqueConstraint(fields=["experiment", "number"], name="run_once"),
        )
        indexes = (
            models.Index(fields=["state", "number"]),
            models.Index(fields=["experiment", "ended"]),
        )

    def __str__(self) -> str:
        return f"{self.experiment_id} run {self.number}"
