"""`manage.py wiretypes`: write the live protocol's TypeScript, or check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sandbox.page.typescript import generate

TARGET = Path(__file__).parents[3] / "frontend/src/protocol/wire.ts"


class Command(BaseCommand):
    """Write `frontend/src/protocol/wire.ts` from `sandbox/page/wire.py`."""

    help = "Writes the TypeScript types of the live protocol."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take `--check`."""
        parser.add_argument(
            "--check",
            action="store_true",
            help="Change nothing; fail when the file is not what would be written.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file, or say that it is stale."""
        text = generate()
        if not options["check"]:
            TARGET.parent.mkdir(parents=True, exist_ok=True)
            TARGET.write_text(text)
        elif not TARGET.exists() or TARGET.read_text() != text:
            raise CommandError("wire.ts is stale; run: manage.py wiretypes")
