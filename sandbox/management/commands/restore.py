"""`manage.py restore FILE`: the database as a backup has it, brought up to date."""

from __future__ import annotations

from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sandbox.models import Sandbox
from sandbox.retention import backups


class Command(BaseCommand):
    """Replace the database; refused while it holds sandboxes, unless asked for."""

    help = (
        "Put the database into the state of a backup. Stop web, worker and clock first."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file's name."""
        parser.add_argument("file", type=Path, help="what `backup` wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="even where sandboxes are: they are gone then",
        )

    def handle(self, *_: object, file: Path, replace: bool, **__: object) -> None:
        """Check the file, replace the database, and migrate it."""
        backups.check(file)
        if not replace and (count := _sandboxes()):
            raise CommandError(
                f"the database holds {count} sandboxes, which would be gone; "
                "back it up and give --replace"
            )
        backups.read(file)
        connection.close()
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(f"{_sandboxes()} sandboxes are restored from {file}")


def _sandboxes() -> int:
    there = Sandbox._meta.db_table in connection.introspection.table_names()
    return Sandbox.objects.count() if there else 0
