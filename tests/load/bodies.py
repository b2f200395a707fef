"""How schemathesis reads and sends the bodies that are no JSON."""

from __future__ import annotations

import schemathesis
import yaml


@schemathesis.serializer("application/vnd.quotalab.sandbox")
def as_bytes(_context, value):
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.deserializer(
    "text/yaml",
    "text/x-yaml",
    "application/x-yaml",
    "text/vnd.yaml",
    "application/yaml",
)
def as_documents(_context, response):
    found = list(yaml.safe_load_all(response.content))
    # Several documents are a text to the schema, one is what it says.
    return found[0] if len(found) == 1 else response.content.decode()
