"""The Celery app; its settings are the CELERY_ ones of sandbox.settings."""

from __future__ import annotations

import logging.config
import os
import sys

from celery import Celery
from celery.signals import celeryd_after_setup, heartbeat_sent, setup_logging

from sandbox.base.probe import show_life

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")

app = Celery("quotalab")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Read when the tasks are loaded; without it every task opens a connection of its own.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize
app.autodiscover_tasks(["sandbox.worker"])

#: The queue of ticks that any process may make.
TICKS = "ticks"
#: The same of sandboxes that are shown as a lesson: before it are no other ticks.
LESSONS = "lessons"
#: The queue of experiments and forecasts: one process of each worker never reads it.
EXPERIMENTS = "experiments"
#: The queue of questions that somebody waits for: some processes read no other.
ANSWERS = "answers"


def own_queue(worker: str, *, lesson: bool = False) -> str:
    """Return the name of a queue that only this process reads, of lessons or of the others."""
    return f"{worker}.{'lessons' if lesson else 'own'}"


@celeryd_after_setup.connect
def read_own_queue(sender: str, **_: object) -> None:
    """Let a sandbox go back to the worker that still has its world in memory."""
    for lesson in (False, True):
        app.amqp.queues.select_add(own_queue(sender, lesson=lesson))


@setup_logging.connect
def log_like_the_service(**_: object) -> None:
    """Keep Celery from putting its own handlers in place of ours."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@heartbeat_sent.connect
def show_that_the_worker_lives(**_: object) -> None:
    """Let the health check see that the worker's own loop turns."""
    show_life()
