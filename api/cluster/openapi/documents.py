"""OpenAPI of a sandbox as a cluster: version 3 by group version, version 2 in one.

Source: <https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-interface-definition>
"""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

from django.http import HttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import resources
from api.cluster.base import ClusterView, Encodings
from api.cluster.openapi import kind_schemas
from api.cluster.openapi.kind_schemas import group_version_kind, name_of, reference
from api.cluster.protobuf import message_field, text_field
from api.cluster.resources import Resource
from sandbox.base.errors import NotFoundError

Document = dict[str, Any]
#: Strategic merge patches are taken, but not offered here: kubectl would then look
#: for merge keys in these schemas, find none, and replace whole lists. As it is, it
#: uses the keys that it knows of the built-in kinds.
_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_QUERY: dict[str, tuple[str, ...]] = {
    "get": (),
    "list": ("labelSelector", "fieldSelector", "limit", "continue", "watch"),
    "post": ("dryRun", "fieldManager", "fieldValidation"),
    "put": ("dryRun", "fieldManager", "fieldValidation"),
    "patch": ("dryRun", "fieldManager", "fieldValidation", "force"),
    "delete": ("dryRun",),
}
_NOT_THERE = "the server could not find the requested resource"


class Index(ClusterView):
    """GET /openapi/v3."""

    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return where the document of each group version is."""
        self.sandbox(sandbox_id)
        root = request.path.rstrip("/")
        paths = {
            place: {"serverRelativeURL": f"{root}/{place}?hash={_hash(place)}"}
            for place in _places()
        }
        return Response({"paths": paths})


class OfGroupVersion(ClusterView):
    """GET /openapi/v3/api/v1 and /openapi/v3/apis/{group}/{version}."""

    def get(
        self, request: Request, sandbox_id: str, version: str, group: str = ""
    ) -> Response:
        """Return paths and schemas; `?hash=` of the index only serves caches."""
        self.sandbox(sandbox_id)
        place = f"apis/{group}/{version}" if group else f"api/{version}"
        if place not in _places():
            raise NotFoundError(_NOT_THERE)
        tag = {"ETag": f'"{_hash(place)}"'}
        return Response(_document(place), headers=tag)


#: What kubectl asks for version 2 in, and what that is called in an answer.
_BINARY = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_BINARY_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class _AlsoBinary(Encodings):
    """Version 2 is also asked for in an encoding of its own."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        """Return JSON; what is binary is written by the view."""
        if "proto-openapi" in request.headers.get("Accept", ""):
            return JSONRenderer(), _BINARY
        return super().select_renderer(request, renderers, format_suffix)


class Version2(ClusterView):
    """GET /openapi/v2: in JSON whole, in protobuf without the definitions.

    kubectl asks for it in protobuf for kinds that version 3 does not have (List, or
    what is not served) and goes on without checking what is not defined.
    """

    content_negotiation_class: Any = _AlsoBinary

    def get(self, request: Request, sandbox_id: str) -> Response | HttpResponse:
        """Return all group versions in one document."""
        self.sandbox(sandbox_id)
        if request.accepted_media_type == _BINARY:
            return HttpResponse(_bare_version_2(), content_type=_BINARY_ANSWER)
        return Response(_version_2())


@functools.cache
def _places() -> dict[str, list[Resource]]:
    """Return the resources of each group version, by its path."""
    found: dict[str, list[Resource]] = {}
    for group, version, _ in resources.SERVED:
        place = f"apis/{group}/{version}" if group else f"api/{version}"
        found[place] = resources.resources_of(group, version)
    return found


@functools.cache
def _hash(place: str) -> str:
    text = json.dumps(_document(place), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32].upper()


@functools.cache
def _document(place: str) -> Document:
    found = _places()[place]
    paths: Document = {}
    for resource in found:
        paths |= _paths(f"/{place}", resource)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Quotalab as a cluster", "version": "v1"},
        "paths": paths,
        "components": {"schemas": kind_schemas.schemas_of(found)},
    }


def _paths(root: str, resource: Resource) -> Document:
    """Return the paths of a resource: collections, and one object."""
    plural = resource.kind.plural
    spaced = f"{root}/namespaces/{{namespace}}/{plural}"
    whole = spaced if resource.kind.namespaced else f"{root}/{plural}"
    found = {f"{root}/{plural}": {"get": _operation(resource, "list")}}
    found.setdefault(whole, {})["get"] = _operation(resource, "list")
    if resource.is_events:
        return found
    found[whole]["post"] = _operation(resource, "post")
    found[f"{whole}/{{name}}"] = {
        method: _operation(resource, method)
        for method in ("get", "put", "patch", "delete")
    }
    for path, methods in found.items():
        names = [n for n in ("namespace", "name") if f"{{{n}}}" in path]
        methods["parameters"] = [_parameter(n, "path") for n in names]  # type: ignore[assignment]
    return found


def _operation(resource: Resource, method: str) -> Document:
    shape = reference(name_of(resource, "List" if method == "list" else ""))
    code = "201" if method == "post" else "200"
    content = {"application/json": {"schema": shape}}
    made: Document = {
        "x-kubernetes-action": method,
        "x-kubernetes-group-version-kind": group_version_kind(resource),
        "parameters": [_parameter(name, "query") for name in _QUERY[method]],
        "responses": {code: {"description": "OK", "content": content}},
    }
    if method in ("post", "put"):
        made["requestBody"] = {"content": content, "required": True}
    if method == "patch":
        patches = {name: {"schema": {"type": "object"}} for name in _PATCHES}
        made["requestBody"] = {"content": patches, "required": True}
    return made


def _parameter(name: str, where: str) -> Document:
    found = {"name": name, "in": where, "schema": {"type": "string"}}
    return {**found, "required": True} if where == "path" else found


def _bare_version_2() -> bytes:
    """Return a document of version 2 in protobuf: its version, title and no paths."""
    about = text_field(1, "Quotalab as a cluster") + text_field(2, "v1")
    return text_field(1, "2.0") + message_field(2, about) + message_field(8, b"")


@functools.cache
def _version_2() -> Document:
    paths: Document = {}
    definitions: Document = {}
    for place in _places():
        document = _document(place)
        definitions |= document["components"]["schemas"]
        for path, methods in document["paths"].items():
            paths[path] = {name: _older(part) for name, part in methods.items()}
    made = {
        "swagger": "2.0",
        "info": {"title": "Quotalab as a cluster", "version": "v1"},
        "paths": paths,
        "definitions": definitions,
    }
    text = json.dumps(made).replace("#/components/schemas/", "#/definitions/")
    whole: Document = json.loads(text)
    return whole


def _older(part: Any) -> Any:
    """Return an operation, or the parameters of a path, as version 2 writes it."""
    if isinstance(part, list):
        return [_flat(parameter) for parameter in part]
    made = {n: v for n, v in part.items() if n not in ("requestBody", "responses")}
    made["parameters"] = [_flat(parameter) for parameter in part["parameters"]]
    if body := part.get("requestBody"):
        shape = next(iter(body["content"].values()))["schema"]
        given = {"name": "body", "in": "body", "required": True, "schema": shape}
        made["parameters"].append(given)
        made["consumes"] = list(body["content"])
    made["responses"] = {
        code: {
            "description": answer["description"],
            "schema": answer["content"]["application/json"]["schema"],
        }
        for code, answer in part["responses"].items()
    }
    return made


def _flat(parameter: Document) -> Document:
    plain = {name: value for name, value in parameter.items() if name != "schema"}
    return {**plain, **parameter["schema"]}
