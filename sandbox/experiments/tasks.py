"""Celery task of experiments: run what waits, for one visit. Safe to deliver twice."""

from __future__ import annotations

from functools import partial

from celery import shared_task

from sandbox.experiments.work import open_runs, work
from sandbox.models import Experiment
from sandbox.process.calls import PartWork

WORK = PartWork(
    task="sandbox.experiments",
    running=lambda: Experiment.objects.filter(state=Experiment.RUNNING),
    open_parts=open_runs,
)


@shared_task(name=WORK.task, ignore_result=True, bind=True)
def visit(self: object) -> int:
    """Run waiting runs for one visit; return how many ended."""
    worker = getattr(getattr(self, "request", None), "hostname", None) or ""
    return WORK.visit(partial(work, worker))
