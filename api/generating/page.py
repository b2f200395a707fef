"""The schema that the page's types and checks are generated from."""

from __future__ import annotations

import json
from typing import Any

from scheduler.model.decisions import NAMES


def schema(document: dict[str, Any]) -> str:
    """Return the components of an OpenAPI document, as a document of their own.

    `EventType` is added: the name of each decision, so that the page's table of them is whole.
    """
    types = {"EventType": {"type": "string", "enum": list(NAMES)}}
    kept = {
        "openapi": document["openapi"],
        "info": {"title": document["info"]["title"], "version": "v1"},
        "paths": {},
        "components": {"schemas": {**document["components"]["schemas"], **types}},
    }
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
