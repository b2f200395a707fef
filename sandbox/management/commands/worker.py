"""`manage.py worker`: the processes that tick sandboxes and run experiments."""

from __future__ import annotations

import os

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from sandbox.base.commands import CommandError
from sandbox.process import connections
from sandbox.process.schema_version import refuse_newer_database
from sandbox.worker.pool import WorkerPool


class Command(BaseCommand):
    """Take tasks from the bus, in so many processes, until stopped by a signal."""

    help = "Run a worker; any number of them share the work, on any machines."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the number of processes."""
        parser.add_argument(
            "--processes",
            type=int,
            default=max(2, os.cpu_count() or 2),
            help="the first is for ticks alone, the others run experiments too",
        )
        parser.add_argument(
            "--answering",
            type=int,
            default=max(1, (os.cpu_count() or 2) // 2),
            help="further processes, which work out answers that somebody waits for",
        )

    def handle(self, *_: object, processes: int, answering: int, **__: object) -> None:
        """Run until SIGINT or SIGTERM; what was begun is brought to its end."""
        if processes < 1:
            raise CommandError(f"expected one process or more, got {processes}")
        if answering < 0:
            raise CommandError(f"expected no process or more, got {answering}")
        most = connections.PER_WORKER * (processes + answering) + 1
        connections.announce("worker", most)
        refuse_newer_database("worker")
        connections.warn_if_too_many()
        connection.close()  # the processes forked from here open their own
        WorkerPool(processes, answering).run()
