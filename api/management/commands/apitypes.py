"""`manage.py apitypes`: write what is made of the API's schema."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from drf_spectacular.generators import SchemaGenerator

from api.generating import page, python, words
from api.generating.page import OPERATIONS, RECORDS, ROOT

#: The one that is in the repository; a contract test says when it is stale.
SOCKETS = ROOT / "docs/asyncapi.json"


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
        """Take `--client`."""
        parser.add_argument(
            "--client", action="store_true", help="Write the Python client alone."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files."""
        document = api_document()
        made = {
            RECORDS: python.types(document),
            OPERATIONS: python.operations(document),
        }
        if not options["client"]:
            made |= {
                SOCKETS: page.document(document),
                ROOT / "frontend/src/protocol/schema.json": page.schema(document),
                ROOT / "frontend/src/lib/catalogue/en-said.json": words.catalogue(),
            }
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
