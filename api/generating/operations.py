"""The operations of an OpenAPI document, as a client calls them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from api.generating.shapes import Field, Type, type_of

Document = dict[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
_PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    path: str  # below /api/v1
    help: str
    places: list[str]  # of the path, in its order
    query: list[Field]
    body: Type | None
    body_media: str
    body_required: bool
    answer: Type | None
    answer_media: str


def operations_of(document: Document) -> list[Operation]:
    """Return every operation, by name."""
    found = [
        _operation(path, method, one)
        for path, methods in document["paths"].items()
        for method, one in methods.items()
        if method in _METHODS
    ]
    return sorted(found, key=lambda operation: operation.name)


def name_of(operation_id: str) -> str:
    """Return what an operation is called: `sandboxes_actions_play_create` is `play`."""
    found = re.fullmatch(r"sandboxes_actions_(\w+)_create", operation_id)
    return found[1] if found else operation_id


_TAKEN = {"import": "import_files", "delete": "delete_objects"}


def _operation(path: str, method: str, one: Document) -> Operation:
    name = name_of(one["operationId"])
    media, body = _content(one.get("requestBody"))
    answer_media, answer = _answer(one)
    return Operation(
        name=_TAKEN.get(name, name),
        method=method.upper(),
        path=path.removeprefix(_PREFIX),
        help=_sentence(one.get("description", name)),
        places=re.findall(r"{(\w+)}", path),
        query=[_parameter(p) for p in one.get("parameters", ()) if p["in"] == "query"],
        body=body,
        body_media=media,
        body_required=_required(one),
        answer=answer,
        answer_media=answer_media,
    )


def _required(one: Document) -> bool:
    return bool((one.get("requestBody") or {}).get("required"))


def _content(holder: Document | None) -> tuple[str, Type | None]:
    """Return the media type that a client uses and its type: JSON before others."""
    content = (holder or {}).get("content") or {}
    if not content:
        return "application/json", None
    media = "application/json" if "application/json" in content else next(iter(content))
    return media, type_of(content[media].get("schema") or {})


def _answer(one: Document) -> tuple[str, Type | None]:
    for code, holder in one["responses"].items():
        if code.startswith("2"):
            return _content(holder)
    return "application/json", None


def _parameter(parameter: Document) -> Field:
    return Field(
        parameter["name"],
        type_of(parameter["schema"]),
        required=bool(parameter.get("required")),
        help=parameter.get("description", ""),
    )


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("\\", "").replace('"""', "'")
