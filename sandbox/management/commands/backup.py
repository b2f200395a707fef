"""`manage.py backup FILE`: the whole database as one file, while everything runs on."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandParser

from sandbox.retention import backups


class Command(BaseCommand):
    """Write the database to a file; the file appears when it is whole."""

    help = "Write the whole database to a new file, while everything runs on."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file's name."""
        parser.add_argument("file", type=Path, help="a file that does not exist yet")

    def handle(self, *_: object, file: Path, **__: object) -> None:
        """Write the backup and print its size."""
        size = backups.write(file)
        self.stdout.write(f"{file}: {size} bytes")
