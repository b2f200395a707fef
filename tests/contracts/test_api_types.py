"""The client has what the schema has, and the protocol's document is up to date."""

from __future__ import annotations

import inspect

from drf_spectacular.generators import SchemaGenerator

from api.client import AsyncClient, Client
from api.client.operations import AsyncOperations, Operations
from api.generating import page
from api.generating.shapes import name_of
from api.management.commands.apitypes import SOCKETS, api_document


def test_the_protocols_document_is_what_the_schema_makes():
    kept = SOCKETS.read_text(encoding="utf-8")
    assert kept == page.document(api_document()), "run: manage.py apitypes"


def test_every_operation_is_in_the_client():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    ids = [o["operationId"] for path in paths.values() for o in path.values()]
    taken = {"import": "import_files", "delete": "delete_objects"}
    names = {taken.get(name_of(one), name_of(one)) for one in ids}
    assert len(names) == len(ids)
    for kind in (Operations, AsyncOperations):
        assert {name for name, _ in inspect.getmembers(kind, callable)} >= names


def test_what_is_waited_for_can_be_awaited():
    public = {name for name in vars(Client) if not name.startswith("_")}
    assert public <= {name for name in vars(AsyncClient) if not name.startswith("_")}
