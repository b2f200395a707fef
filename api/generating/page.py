"""The schema that the page's types and checks are generated from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

from sandbox.page import wire
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


# ------------------------------------------------------------------------
# The live protocol as an AsyncAPI document, made of the same schemas as the REST API.


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


# ------------------------------------------------------------------------
# The modules of the client that are made of the schema, and not in the repository.


ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "api/client/records.py"
OPERATIONS = ROOT / "api/client/operations.py"


def make_missing() -> None:
    """Make them in a checkout that has none yet, which takes four seconds.

    In a process of its own: making them loads every view, and who asks may not want to.
    """
    if not (RECORDS.exists() and OPERATIONS.exists()):
        command = [sys.executable, str(ROOT / "manage.py"), "apitypes", "--client"]
        subprocess.run(command, check=True)
