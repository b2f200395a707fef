"""What the OpenAPI document says of every operation: how it refuses, and in what words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse
from django.templatetags.static import static
from django.urls import URLPattern, get_resolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.generating.reference import page, reference
from api.record_schemas import describe

_STATUS = {
    "type": "object",
    "description": "An error, as Kubernetes words it.",
    "required": ["kind", "apiVersion", "status", "message", "reason", "code"],
    "properties": {
        "kind": {"const": "Status"},
        "apiVersion": {"const": "v1"},
        "metadata": {"type": "object"},
        "status": {"const": "Failure"},
        "message": {"type": "string"},
        "reason": {"type": "string"},
        "code": {"type": "integer"},
        "details": {
            "type": "object",
            "properties": {
                "said": {"$ref": "#/components/schemas/Sentence"},
                "causes": {
                    "type": "array",
                    "items": {"$ref": "#/components/schemas/StatusCause"},
                },
            },
        },
    },
}
_CAUSE = {
    "type": "object",
    "description": "One thing that is wrong, and where.",
    "required": ["reason", "message", "field", "file", "line", "level"],
    "properties": {
        "reason": {"type": "string"},
        "message": {"type": "string"},
        "field": {"type": "string"},
        "file": {"type": "string"},
        "line": {"type": "integer"},
        "level": {"enum": ["error", "warning", "unsupported"]},
        "said": {"$ref": "#/components/schemas/Sentence"},
    },
}
_METHODS = frozenset({"get", "put", "post", "patch", "delete"})


def with_refusals(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Add the Status answer and a summary to every operation; say where it is served."""
    del generator, request, public
    result["servers"] = [{"url": "/", "description": "the server that was asked"}]
    result.setdefault("components", {}).setdefault("schemas", {})
    describe(result)
    schemas = result["components"]["schemas"]
    schemas["Status"], schemas["StatusCause"] = _STATUS, _CAUSE
    reference = {"$ref": "#/components/schemas/Status"}
    for path in result["paths"].values():
        for method, operation in path.items():
            if method not in _METHODS:
                continue
            operation["summary"] = _first_sentence(operation["description"])
            responses = operation["responses"]
            _join(responses)
            refusal = {kind: {"schema": reference} for kind in _kinds(responses)}
            words = {"4XX": "Refused; the message says why and what to do."}
            words["503"] = "Busy; ask again after Retry-After seconds."
            for code, sentence in words.items():
                answer = {"description": sentence, "content": refusal}
                responses.setdefault(code, answer)
    return result


def _first_sentence(text: str) -> str:
    return text.partition("\n")[0].partition("; ")[0].removesuffix(".")


def _kinds(responses: dict[str, Any]) -> list[str]:
    """Return the formats in which an operation refuses: YAML too where it answers YAML."""
    given = {kind for one in responses.values() for kind in one.get("content", ())}
    return ["application/json", *(["application/yaml"] * ("application/yaml" in given))]


def _join(responses: dict[str, Any]) -> None:
    """Make one answer of those that share a code ("200", "200 with dryRun")."""
    for name in [name for name in responses if " " in name]:
        other = responses.pop(name)
        body = responses[name.partition(" ")[0]]["content"]["application/json"]
        second = other["content"]["application/json"]["schema"]
        body["schema"] = {"anyOf": [body["schema"], second]}


class Document(SpectacularAPIView):
    """The document, made and written once per process, not for every request."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return it in YAML or JSON."""
        renderer = request.accepted_renderer
        with _one_at_a_time:
            if renderer.media_type not in _written:
                _written[renderer.media_type] = _write(renderer)
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        kind = f"{renderer.media_type}{charset}"
        return HttpResponse(_written[renderer.media_type], content_type=kind)


class Index(APIView):
    """Where things are."""

    permission_classes = ()

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """Return each path without a parameter, by its name below `/api/v1/`."""
        found = sorted(
            path for path in map(str, _paths("api.v1")) if path and "<" not in path
        )
        root = request.path.rstrip("/")
        return Response({"paths": {path: f"{root}/{path}" for path in found}})


def _paths(module: str) -> Iterator[str]:
    """Yield the routes of a module, with those that it includes."""
    for one in get_resolver(module).url_patterns:
        if isinstance(one, URLPattern):
            yield str(one.pattern)
        else:
            yield from (f"{one.pattern}{each.pattern}" for each in one.url_patterns)


class Reference(APIView):
    """The document as a page to read, made once per process."""

    permission_classes = ()

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return every operation with its fields, and how a shell and Python ask for it."""
        with _one_at_a_time:
            if _PAGE not in _written:
                style = static("api/reference.css")
                _written[_PAGE] = page(reference(document()), style)
        return HttpResponse(_written[_PAGE], content_type=f"{_PAGE}; charset=utf-8")


_PAGE = "text/html"
_one_at_a_time = threading.Lock()
#: Media type -> the document in it.
_written: dict[str, str | bytes] = {}


def document() -> dict[str, Any]:
    """Return the OpenAPI document. Costs a second."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


def _write(renderer: BaseRenderer) -> str | bytes:
    return renderer.render(document(), renderer.media_type, {})
