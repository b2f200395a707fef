"""What a recording still has to show of a real cluster, tick by tick."""

from __future__ import annotations

from django.db import models

from sandbox.models.sandbox import Sandbox


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
