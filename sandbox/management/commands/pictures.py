"""`manage.py pictures`: run scenarios and write the pictures of their cards."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox.base import library
from sandbox.page.pictures import (
    FILE,
    picture_of,
    pictures,
)


class Command(BaseCommand):
    """Write `sandbox/pictures.json`."""

    help = "Run scenarios (all, or those named) and write the pictures of their cards."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take names."""
        parser.add_argument("names", nargs="*", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, write after each: an interrupted command loses nothing."""
        found = dict(pictures())
        for name in options["names"] or library.names():
            found[name] = picture_of(name)
            kept = {n: found[n] for n in library.names() if n in found}
            lines = [
                f"{json.dumps(n)}: {json.dumps(p, separators=(',', ':'))}"
                for n, p in kept.items()
            ]
            FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            self.stdout.write(name)
