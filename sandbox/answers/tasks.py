"""Celery task of questions: work out what waits, for one visit. Safe to deliver twice."""

from __future__ import annotations

from celery import shared_task

from sandbox.answers.work import end_lapsed, open_questions, work
from sandbox.models import Question
from sandbox.process.calls import PartWork
from sandbox.process.celery import ANSWERS

WORK = PartWork(
    task="sandbox.answers",
    queue=ANSWERS,
    running=lambda: Question.objects.filter(state=Question.RUNNING),
    open_parts=open_questions,
    end_lapsed=end_lapsed,
)


@shared_task(name=WORK.task, ignore_result=True)
def visit() -> int:
    """Work out waiting questions for one visit; return how many ended."""
    return WORK.visit(work)
