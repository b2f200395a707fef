"""OpenAPI schemas of the kinds that are served: open, with the fields that are read.

Every object allows unknown fields: the importer keeps them, and refuses those of
Kueue's kinds that it knows to be slips.

Source: extensions of <https://kubernetes.io/docs/reference/using-api/api-concepts/>
"""

from __future__ import annotations

import functools
from typing import Any

from api.cluster.openapi.field_table import FIELDS
from api.cluster.resources import Resource
from scheduler.input.manifests.kinds import TABLE

Schema = dict[str, Any]
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
_TEXT = {"type": "string"}
#: Types of the table of fields.
_TYPES: dict[str, Schema] = {
    "amounts": {"type": "object", "additionalProperties": {}},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "format": "int64"},
    "quantity": {"x-kubernetes-int-or-string": True},
    "string": _TEXT,
    "texts": {"type": "object", "additionalProperties": _TEXT},
}


def name_of(resource: Resource, tail: str = "") -> str:
    """Return the name of a schema, as generators of Kubernetes clients expect it."""
    group = resource.kind.group
    if "." not in group:
        place = f"io.k8s.api.{group or 'core'}"
    else:
        place = ".".join(reversed(group.split(".")))
    return f"{place}.{resource.version}.{resource.kind.kind}{tail}"


def group_version_kind(resource: Resource) -> dict[str, str]:
    """Return what clients find a schema or an operation by."""
    kind = resource.kind
    return {"group": kind.group, "version": resource.version, "kind": kind.kind}


def schemas_of(resources: list[Resource]) -> dict[str, Schema]:
    """Return the schemas of the resources and of their lists, by name."""
    found = {META: _object_meta(), LIST_META: _list_meta()}
    for resource in resources:
        found[name_of(resource)] = _kind_schema(resource)
        found[name_of(resource, "List")] = _list_schema(resource)
    return found


def reference(name: str) -> Schema:
    """Return a reference to a schema of the same document."""
    return {"$ref": f"#/components/schemas/{name}"}


def _kind_schema(resource: Resource) -> Schema:
    kind = resource.kind
    made = _open(_described(kind.kind))
    made["properties"] = {
        "apiVersion": {**_TEXT, "description": f"{resource.group_version}"},
        "kind": {**_TEXT, "description": kind.kind},
        "metadata": {
            "description": "Name, namespace, labels and annotations.",
            "allOf": [reference(META)],
        },
        **_properties(kind.kind),
    }
    made["x-kubernetes-group-version-kind"] = [group_version_kind(resource)]
    return made


def _list_schema(resource: Resource) -> Schema:
    kind = resource.kind
    return {
        "description": f"A list of {kind.kind} objects.",
        "type": "object",
        "properties": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": {"allOf": [reference(LIST_META)]},
            "items": {"type": "array", "items": reference(name_of(resource))},
        },
        "x-kubernetes-group-version-kind": [
            {**group_version_kind(resource), "kind": f"{kind.kind}List"}
        ],
    }


def _described(kind: str) -> str:
    entry = next(entry for entry in TABLE if entry.kind == kind)
    note = f": {entry.note}" if entry.note else ""
    if kind not in FIELDS:
        note += ". Its fields are not listed here; all are kept as given"
    return f"{kind} ({entry.level}){note}."


@functools.cache
def _properties(kind: str) -> dict[str, Schema]:
    """Return spec, status and what else is read, as the table of fields has it."""
    root = _open("")
    for line in filter(None, FIELDS.get(kind, "").splitlines()):
        path, sort, meaning = line.split(": ", 2)
        _put(root, path.split("."), sort, meaning)
    found: dict[str, Schema] = root.get("properties", {})
    if "value" not in found:
        found.setdefault("spec", _open("")).setdefault("description", "What is wanted.")
        status = found.setdefault("status", _open(""))
        status["description"] = "What is there; written by the simulation."
    return found


def _put(holder: Schema, path: list[str], sort: str, meaning: str) -> None:
    """Add a field below an object schema, with the objects and lists on the way."""
    for n, part in enumerate(path):
        name = part.removesuffix("[]")
        ends = n == len(path) - 1
        made = _open("") if not ends or sort == "object" else dict(_TYPES[sort])
        if part != name:
            made = {"type": "array", "items": made}
        found = holder.setdefault("properties", {}).setdefault(name, made)
        if ends:
            found["description"] = meaning
        holder = found.get("items", found)


def _open(description: str) -> Schema:
    made: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"description": description, **made} if description else made


def _object_meta() -> Schema:
    texts = _TYPES["texts"]
    made = _open("What every object has: its name and what is said about it.")
    made["properties"] = {
        "name": {**_TEXT, "description": "Name, unique per kind and namespace."},
        "generateName": {**_TEXT, "description": "Start of a name that is made."},
        "namespace": {**_TEXT, "description": "Namespace; default if none is given."},
        "labels": {**texts, "description": "What selectors and queues are found by."},
        "annotations": {**texts, "description": "Run times and notes, among others."},
        "uid": {**_TEXT, "description": "Identity over the lifetime of the object."},
        "resourceVersion": {**_TEXT, "description": "Revision that changed it last."},
        "creationTimestamp": {**_TEXT, "description": "Time of creation, simulated."},
        "ownerReferences": {
            "type": "array",
            "items": _open("An object that this one belongs to."),
            "description": "What the object belongs to, by uid.",
        },
    }
    return made


def _list_meta() -> Schema:
    names = ("continue", "resourceVersion")
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(names, _TEXT),
            "remainingItemCount": _TYPES["integer"],
        },
    }
