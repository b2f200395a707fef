"""The live protocol as an AsyncAPI document, made of the same schemas as the REST API.

Source: <https://www.asyncapi.com/docs/reference/specification/v3.0.0>
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

from sandbox.page import wire

_HEAD = "#/components/schemas/"
_REF = re.compile(rf'"{re.escape(_HEAD)}(\w+)"')
_CHANNEL = "#/channels/sandbox"


def document(openapi: dict[str, Any]) -> str:
    """Return the AsyncAPI document, in JSON."""
    sent = [kind.__name__ for kind in get_args(wire.ServerMessage)]
    messages = [*sent, wire.Hello.__name__]
    known = openapi["components"]["schemas"]
    found: dict[str, Any] = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Quotalab live protocol",
            "version": openapi["info"]["version"],
            "description": _ABOUT,
        },
        "defaultContentType": "application/json",
        "channels": {
            "sandbox": {
                "address": "/ws/sandboxes/{sandboxId}",
                "parameters": {"sandboxId": {"description": "as in the REST API"}},
                "messages": {
                    name: {"$ref": f"#/components/messages/{name}"} for name in messages
                },
            }
        },
        "operations": {
            "hello": _operation("receive", [wire.Hello.__name__]),
            "follow": _operation("send", sent),
        },
        "components": {
            "messages": {
                name: {"name": name, "payload": {"$ref": _HEAD + name}}
                for name in messages
            },
            "schemas": _reached(known, messages),
        },
    }
    return json.dumps(found, indent=1) + "\n"


_ABOUT = (
    "One socket per sandbox. The client says hello, with the revision that it has or "
    "without one; the server answers with a page_state or with diffs from there on, "
    "one per change, in order. A client whose revision is not a diff's `from` says "
    "hello again; resync says that the diffs it needs are gone. Closed with 4400: no hello; "
    "4404: not there, or not for you; 4408: it read too slowly; 4429: too many."
)


def _operation(action: str, names: list[str]) -> dict[str, Any]:
    """Return an operation; `send` and `receive` are the server's."""
    return {
        "action": action,
        "channel": {"$ref": _CHANNEL},
        "messages": [{"$ref": f"{_CHANNEL}/messages/{name}"} for name in names],
    }


def _reached(known: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the schemas that these lead to, by name."""
    found: dict[str, Any] = {}
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = known[name]
            todo += _REF.findall(json.dumps(known[name]))
    return dict(sorted(found.items()))
