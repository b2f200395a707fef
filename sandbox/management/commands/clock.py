"""`manage.py clock`: the clock as a process of its own, for the server run."""

from __future__ import annotations

import signal
import threading

from django.core.management.base import BaseCommand
from django.db import connection

from sandbox.process import connections
from sandbox.process.schema_version import (
    LOOK_EVERY_S,
    problem_now,
    refuse_newer_database,
)
from sandbox.worker.clock import Clock


class Command(BaseCommand):
    """Ask the workers to advance what is due, until stopped by a signal."""

    help = "Send pulses to the workers; run one or more, a lease lets one speak."
    requires_system_checks = ()

    def handle(self, *_: object, **__: object) -> None:
        """Run until SIGINT or SIGTERM, then give the lease up."""
        connections.announce("clock", connections.PER_CLOCK)
        refuse_newer_database("clock")
        connections.warn_if_too_many()
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        watch = threading.Thread(target=_watch, args=(stop,), daemon=True)
        watch.start()
        Clock().run(stop)
        watch.join()
        refuse_newer_database("clock")


def _watch(stop: threading.Event) -> None:
    """End the clock when a newer version migrates the database while it runs."""
    while not stop.wait(LOOK_EVERY_S):
        if problem_now():
            stop.set()
    connection.close()
