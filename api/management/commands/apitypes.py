"""`manage.py apitypes`: write what is generated from the API's schema, or check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from drf_spectacular.generators import SchemaGenerator

from api.generating import page, python, sockets, words
from sandbox.base.commands import CommandError

_ROOT = Path(__file__).parents[3]


def kept_files(document: dict[str, Any]) -> dict[Path, str]:
    """Return each generated file that is in the repository, with its text."""
    return {
        _ROOT / "api/client/records.py": python.types(document),
        _ROOT / "api/client/operations.py": python.operations(document),
        _ROOT / "docs/asyncapi.json": sockets.document(document),
    }


def page_files(document: dict[str, Any]) -> dict[Path, str]:
    """Return each file that the build of the page needs, with its text."""
    return {
        _ROOT / "frontend/src/protocol/schema.json": page.schema(document),
        _ROOT / "frontend/src/lib/catalogue/en-said.json": words.catalogue(),
    }


def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of all routes."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document


class Command(BaseCommand):
    """Write the Python client, the protocol's document, and what the page is built from."""

    help = (
        "Writes the API's types for Python, and the schema and the English sentences "
        "that the page is built from (then: npm run types)."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take `--check`."""
        parser.add_argument(
            "--check",
            action="store_true",
            help="Change nothing; fail when a file of the repository is stale.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files, or say which is stale."""
        document = api_document()
        if not options["check"]:
            for path, text in {**kept_files(document), **page_files(document)}.items():
                path.write_text(text, encoding="utf-8")
            return
        for path, text in kept_files(document).items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                name = path.relative_to(_ROOT)
                raise CommandError(f"{name} is stale; run: manage.py apitypes")
