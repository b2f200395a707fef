"""`tidy`: history that is not to be kept goes now, not when the clock looks."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox.retention import disk
from sandbox.worker import tasks


class Command(BaseCommand):
    """Delete history that is not kept, and give space back."""

    help = "Delete history that is not to be kept (the clock does so by itself)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--shrink", action="store_true", help="give free space back (SQLite)"
        )
        parser.add_argument("--json", action="store_true", help="answer in JSON")

    def handle(self, *args: object, **options: Any) -> None:
        """Tidy, and print what went."""
        before, gone = disk.database_bytes(), 0
        while count := tasks.tidy():
            gone += count
        if options["shrink"]:
            disk.shrink()
        body = {"rows": gone, "before": before, "after": disk.database_bytes()}
        words = f"{gone} rows went; {before} bytes before, {body['after']} after"
        self.stdout.write(json.dumps(body) if options["json"] else words)
