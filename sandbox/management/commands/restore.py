"""`manage.py restore FILE`: the database as a backup has it, brought up to date."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from sandbox.base.commands import CommandError
from sandbox.models import Sandbox
from sandbox.process import one_run
from sandbox.retention import backups


class Command(BaseCommand):
    """Replace the database; refused while it holds sandboxes, unless asked for."""

    help = (
        "Put the database into the state of a backup. Stop web, worker and clock first."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the word for the archive's path."""
        parser.add_argument("file", type=Path, help="what `backup` wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="even where sandboxes are: they are gone then",
        )

    def handle(self, *_: object, file: Path, replace: bool, **__: object) -> None:
        """Check the file, replace the database, and migrate it."""
        backups.check(file)
        with _nothing_runs():
            if not replace and (count := _sandboxes()):
                raise CommandError(
                    f"the database holds {count} sandboxes, which would be gone; "
                    "back it up and give --replace"
                )
            backups.read(file)
            connection.close()
            call_command("migrate", interactive=False, verbosity=0)
            self.stdout.write(f"{_sandboxes()} sandboxes are restored from {file}")


def _nothing_runs() -> AbstractContextManager[object]:
    """Keep a run of this machine from the folder; refused while there is one.

    On a server it is refused while anybody else is connected to the database. Who
    connects later waits: pg_restore locks every table until it has ended.
    """
    if settings.SERVER:
        if names := backups.connected():
            raise CommandError(
                f"{len(names)} others are connected to the database "
                f"({', '.join(names[:5])}): end web, worker and clock, then restore: "
                "they would go on with what is no longer there."
            )
        return nullcontext()
    advice = "End it, then restore: it would go on with what is no longer there."
    return one_run.held(settings.DATA_FOLDER, advice=advice)


def _sandboxes() -> int:
    there = Sandbox._meta.db_table in connection.introspection.table_names()
    return Sandbox.objects.count() if there else 0
