"""Celery task of forecasts: run futures that wait, for one visit. Safe to deliver twice."""

from __future__ import annotations

from celery import shared_task

from sandbox.forecasts import parts
from sandbox.forecasts.work import work
from sandbox.models import KeptForecast
from sandbox.process.calls import PartWork

WORK = PartWork(
    task="sandbox.forecasts",
    running=lambda: KeptForecast.objects.filter(state=KeptForecast.RUNNING),
    open_parts=parts.open_parts,
    end_lapsed=parts.end_lapsed,
)


@shared_task(name=WORK.task, ignore_result=True)
def visit() -> int:
    """Run waiting futures for one visit; return how many parts ended."""
    return WORK.visit(work)
