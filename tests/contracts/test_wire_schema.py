"""The live protocol is in the one schema that types and checks are generated from."""

from __future__ import annotations

from typing import get_args

import pytest
from drf_spectacular.generators import SchemaGenerator
from msgspec import UNSET
from msgspec.structs import fields

from api import schema
from sandbox.page import wire


@pytest.fixture(scope="module")
def schemas():
    document = SchemaGenerator().get_schema(request=None, public=True)
    return document["components"]["schemas"]


@pytest.mark.parametrize("kind", get_args(wire.AnyRow), ids=lambda kind: kind.__name__)
def test_a_row_is_described_with_every_field_that_it_always_has_required(schemas, kind):
    row = schemas[kind.__name__]
    unset = {one.encode_name for one in fields(kind) if one.default is UNSET}
    assert set(row["required"]) == set(row["properties"]) - unset
    assert row["properties"]["kind"] == {"enum": [kind.__struct_config__.tag]}


@pytest.mark.parametrize("kind", get_args(wire.AnyRow), ids=lambda kind: kind.__name__)
def test_a_diff_may_change_each_field_but_what_identifies_the_row(schemas, kind):
    patch = schemas[f"{kind.__name__}Patch"]
    fields = set(schemas[kind.__name__]["properties"])
    assert set(patch["properties"]) == fields - {"kind", "key"}
    assert patch["additionalProperties"] is False


def test_a_serializer_named_as_a_message_is_refused():
    taken = {"components": {"schemas": {"Hello": {}}}, "paths": {}}
    with pytest.raises(ValueError, match="Hello is a shape of the live protocol"):
        schema.describe(taken)


def test_every_message_of_the_server_is_found_by_its_type(schemas):
    mapping = schemas["ServerMessage"]["discriminator"]["mapping"]
    tags = {kind.__struct_config__.tag for kind in get_args(wire.ServerMessage)}
    assert set(mapping) == tags
    assert all(
        one.removeprefix("#/components/schemas/") in schemas for one in mapping.values()
    )
