"""OpenAPI schemas of the kinds that are served: open, with the fields that are read.

Every object allows unknown fields: the importer keeps them, and refuses those of
Kueue's kinds that it knows to be slips.

Source: extensions of <https://kubernetes.io/docs/reference/using-api/api-concepts/>
"""

from __future__ import annotations

from typing import Any

import msgspec

from api.cluster.resources import Resource
from scheduler.input.manifests.kinds import TABLE
from scheduler.model import schemas
from scheduler.model.schemas import Field

Schema = dict[str, Any]
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
_TEXT = {"type": "string"}


def name_of(resource: Resource, tail: str = "") -> str:
    """Return the name of a schema, as generators of Kubernetes clients expect it."""
    group = resource.kind.group
    if type_ := resource.type_ if resource.is_built_in else "":
        return f"{_full_name(type_)}{tail}"
    if "." not in group:
        place = f"io.k8s.api.{group or 'core'}"
    else:
        place = ".".join(reversed(group.split(".")))
    return f"{place}.{resource.version}.{resource.kind.kind}{tail}"


def group_version_kind(resource: Resource) -> dict[str, str]:
    """Return the group, version and kind by which clients find its schema and operations."""
    kind = resource.kind
    return {"group": kind.group, "version": resource.version, "kind": kind.kind}


def schemas_of(resources: list[Resource]) -> dict[str, Schema]:
    """Return the schemas of the resources and of their lists, by name."""
    found = {LIST_META: _list_meta()}
    _put_type(found, "meta.v1.ObjectMeta")
    for resource in resources:
        type_ = resource.type_
        if not type_:
            found[name_of(resource)] = _kind_schema(resource)
        elif resource.is_built_in:
            _put_type(found, type_)
        else:
            found[name_of(resource)] = _inline(type_, root=True)
        made = found[name_of(resource)]
        made["description"] = _described(resource.kind.kind)
        made["x-kubernetes-group-version-kind"] = [group_version_kind(resource)]
        found[name_of(resource, "List")] = _list_schema(resource)
    return found


def schema_of(resource: Resource) -> Schema:
    """Return the schema of a custom resource as its definition holds it."""
    type_ = resource.type_
    if not type_:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = _inline(type_, root=True)
    made["properties"]["metadata"] = {"type": "object"}
    return made


#: Types that are no objects of fields, as schemas name them.
_PLAIN_TYPES: dict[str, tuple[str, Schema]] = {
    "FieldsV1": ("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", {"type": "object"}),
    "IntOrString": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, _TEXT]},
    ),
    "MicroTime": (
        "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
        {**_TEXT, "format": "date-time"},
    ),
    "Quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [_TEXT, {"type": "number"}]},
    ),
    "RawExtension": (
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
        {"type": "object"},
    ),
    "Time": (
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
        {**_TEXT, "format": "date-time"},
    ),
}
_SCALARS: dict[str, Schema] = {
    "any": {},
    "bool": {"type": "boolean"},
    "bytes": {**_TEXT, "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "string": _TEXT,
}


def _full_name(type_: str) -> str:
    """Return the name that generators of clients know a type by."""
    if type_ in _PLAIN_TYPES:
        return _PLAIN_TYPES[type_][0]
    if type_.startswith("meta."):
        return f"io.k8s.apimachinery.pkg.apis.{type_}"
    return f"io.k8s.api.{type_}"


def _put_type(found: dict[str, Schema], type_: str) -> None:
    """Add the schema of a built-in type, and of what it refers to."""
    name = _full_name(type_)
    if name in found:
        return
    if type_ in _PLAIN_TYPES:
        found[name] = _PLAIN_TYPES[type_][1]
        return
    made: Schema = {"type": "object", "properties": {}}
    found[name] = made
    for field, one in schemas.fields_of(type_).items():
        if field:
            made["properties"][field] = _field_schema(found, one)
    _require(made, type_)


def _field_schema(found: dict[str, Schema], field: Field) -> Schema:
    made = dict(_typed(found, field.type))
    if "$ref" in made:
        made = {"allOf": [made]}
    if field.said:
        made["description"] = field.said
    if field.enum and field.type.startswith("[]"):
        made["items"] = {**made["items"], "enum": field.enum}
    elif field.enum:
        made["enum"] = field.enum
    for key, value in (
        ("x-kubernetes-list-type", field.list_type),
        ("x-kubernetes-list-map-keys", list(field.keys)),
        ("x-kubernetes-map-type", field.map_type),
        ("x-kubernetes-patch-merge-key", field.merge),
        ("x-kubernetes-patch-strategy", field.strategy),
    ):
        if value:
            made[key] = value
    return made


def _typed(found: dict[str, Schema], type_: str) -> Schema:
    if type_.startswith("[]"):
        return {"type": "array", "items": _typed(found, type_[2:])}
    if type_.startswith("map "):
        return {"type": "object", "additionalProperties": _typed(found, type_[4:])}
    if type_ in _SCALARS:
        return _SCALARS[type_]
    _put_type(found, type_)
    return reference(_full_name(type_))


def _require(made: Schema, type_: str) -> None:
    fields = schemas.fields_of(type_).items()
    if needed := [name for name, field in fields if field.required]:
        made["required"] = needed


def _inline(type_: str, *, root: bool = False) -> Schema:
    """Return the schema of a custom resource's type, which refers to nothing."""
    made: Schema = {"type": "object", "properties": {}}
    for name, field in schemas.fields_of(type_).items():
        if not name:
            continue
        if root and name == "metadata":
            made["properties"][name] = {"allOf": [reference(META)]}
            continue
        one = _inline_type(field.type)
        if field.enum:
            one["enum"] = field.enum
        if field.default is not msgspec.UNSET:
            one["default"] = field.default
        if field.said:
            one["description"] = field.said
        made["properties"][name] = one
    _require(made, type_)
    return made


def _inline_type(type_: str) -> Schema:
    if type_.startswith("[]"):
        return {"type": "array", "items": _inline_type(type_[2:])}
    if type_.startswith("map "):
        return {"type": "object", "additionalProperties": _inline_type(type_[4:])}
    if type_ in ("Quantity", "IntOrString"):
        return {"x-kubernetes-int-or-string": True}
    if type_ in _PLAIN_TYPES:
        return dict(_PLAIN_TYPES[type_][1])
    if type_ in _SCALARS:
        return dict(_SCALARS[type_])
    if type_ == "meta.v1.ObjectMeta":
        return {"type": "object"}
    return _inline(type_)


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
        **_properties(resource),
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
    if not schemas.listed(entry.group, kind):
        note += ". Its fields are not listed here; all are kept as given"
    return f"{kind} ({entry.level}){note}."


def _properties(resource: Resource) -> dict[str, Schema]:
    """Return spec, status and what else is known of a kind that is not published."""
    found = _open_fields(schemas.listed(resource.kind.group, resource.kind.kind))
    for name, meaning in (
        ("spec", "What is wanted."),
        ("status", "What is there; written by the simulation."),
    ):
        found[name] = {**found.get(name, {}), **_open(meaning)}
    return found


def _open_fields(type_: str) -> dict[str, Schema]:
    """Return the fields of a type, open: others may stand beside them."""
    return {
        name: _open_type(field.type)
        | ({"description": field.said} if field.said else {})
        for name, field in schemas.fields_of(type_).items()
        if name not in ("apiVersion", "kind", "metadata")
    }


def _open_type(type_: str) -> Schema:
    of = schemas.bare(type_)
    if of in _SCALARS:
        made = dict(_SCALARS[of])
    elif of in ("Quantity", "IntOrString"):
        made = {"x-kubernetes-int-or-string": True}
    elif "." in of:  # a published type: looked up with its own kind
        made = _open("")
    else:
        made = {**_open(""), "properties": _open_fields(of)}
    return {"type": "object", "additionalProperties": made} if type_ != of else made


def _open(description: str) -> Schema:
    made: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"description": description, **made} if description else made


def _list_meta() -> Schema:
    names = ("continue", "resourceVersion")
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(names, _TEXT),
            "remainingItemCount": _SCALARS["int64"],
        },
    }
