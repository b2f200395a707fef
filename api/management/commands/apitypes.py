"""`manage.py apitypes`: write the types of the API for its clients, or check them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.generators import SchemaGenerator

from api.generating import page, python, sockets

_ROOT = Path(__file__).parents[3]


def files() -> dict[Path, str]:
    """Return each file with the text that it should have."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return {
        _ROOT / "api/client/records.py": python.types(document),
        _ROOT / "api/client/operations.py": python.operations(document),
        _ROOT / "frontend/src/protocol/schema.json": page.schema(document),
        _ROOT / "docs/asyncapi.json": sockets.document(document),
    }


class Command(BaseCommand):
    """Write the Python client, the page's schema and the protocol's document."""

    help = "Writes the API's types for Python, and its schema for the page (npm run types)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take `--check`."""
        parser.add_argument(
            "--check",
            action="store_true",
            help="Change nothing; fail when a file is not what would be written.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files, or say which is stale."""
        for path, text in files().items():
            if not options["check"]:
                path.write_text(text, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                name = path.relative_to(_ROOT)
                raise CommandError(f"{name} is stale; run: manage.py apitypes")
