"""Forecasts that are kept: what was asked, the futures still to run, the answer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from sandbox.models.fields import JsonText, SaidText
from sandbox.models.sandbox import Sandbox


class KeptForecast(models.Model):
    """One forecast of one revision. Whoever asks the same of it gets the same row."""

    RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"

    id = models.BigAutoField(primary_key=True)
    sandbox = models.ForeignKey(
        Sandbox, on_delete=models.CASCADE, related_name="forecasts", db_index=False
    )
    # Who began it, whose limit it counts towards; nobody where the clock did.
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    revision = models.BigIntegerField()
    tick = models.BigIntegerField()
    now_ms = models.BigIntegerField()  # virtual time that it begins at
    options = JsonText()  # sandbox.explain.forecasting.ForecastOptions
    asked_as = models.CharField(max_length=200)  # what it depends on beside the world
    state = models.CharField(max_length=9, default=RUNNING)
    world = models.BinaryField(null=True)  # that futures begin from; None at the end
    created_at = models.DateTimeField(auto_now_add=True)
    # Unix seconds by the database's clock.
    until = models.FloatField()  # then the futures that ended are the answer
    wanted_until = models.FloatField()  # nobody asks for it any longer after this
    answer = JsonText(default=dict)  # scheduler.analysis.forecast.starts.Forecast
    given = JsonText(default=dict)  # Workload -> what is scored once its start is known
    error = SaidText(blank=True)

    class Meta:
        """One of a kind per revision; found by the newest, and by when nobody wants it."""

        constraints = (
            models.UniqueConstraint(
                fields=["sandbox", "revision", "asked_as"],
                condition=models.Q(state__in=("running", "done")),
                name="forecast_once",
            ),
        )
        indexes = (
            models.Index(fields=["sandbox", "-id"], name="forecast_newest"),
            models.Index(
                fields=["wanted_until"],
                condition=models.Q(state="running"),
                name="forecast_running",
            ),
        )

    def __str__(self) -> str:
        return f"forecast of {self.sandbox_id}@{self.revision}"


class ForecastPart(models.Model):
    """Some futures of a forecast. Who has the newest fence writes what came of them."""

    id = models.BigAutoField(primary_key=True)
    forecast = models.ForeignKey(
        KeptForecast, on_delete=models.CASCADE, related_name="parts", db_index=False
    )
    number = models.IntegerField()  # from 0
    first = models.IntegerField()  # number of its first future
    count = models.IntegerField()
    fence = models.IntegerField(default=0)  # how often it was taken up
    # As often, but for those whose worker the operator ended.
    tries = models.PositiveSmallIntegerField(default=0)
    lease_until = models.FloatField(default=0)  # Unix seconds
    futures = JsonText(
        null=True
    )  # scheduler.analysis.forecast.world.Future of each that ended

    class Meta:
        """Found by number."""

        constraints = (
            models.UniqueConstraint(
                fields=["forecast", "number"], name="forecast_part_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.forecast_id} part {self.number}"
