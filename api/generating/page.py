"""The schema that the page's types and checks are generated from."""

from __future__ import annotations

import json
from typing import Any


def schema(document: dict[str, Any]) -> str:
    """Return the components of an OpenAPI document, as a document of their own."""
    kept = {
        "openapi": document["openapi"],
        "info": {"title": document["info"]["title"], "version": "v1"},
        "paths": {},
        "components": {"schemas": document["components"]["schemas"]},
    }
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
