"""The answers that are records of the packages below, described in the OpenAPI document."""

from __future__ import annotations

from typing import Any

import msgspec

from sandbox.page import wire
from scheduler.explain import shapes
from scheduler.explain.applications import ApplicationExplanation

#: Operation -> what it answers, one of these.
ANSWERS: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "explain_read": (
        shapes.Explanation,
        shapes.PodExplanation,
        shapes.AskExplanation,
        ApplicationExplanation,
    ),
    "counterfactuals_read": (shapes.Counterfactuals,),
    "fairness_read": (shapes.Fairness,),
    "preemption_steps_read": (shapes.Preemption,),
    "whatif_create": (shapes.Preview,),
    "state_read": (wire.PageState,),
}
_HEAD = "#/components/schemas/"


def describe(result: dict[str, Any]) -> None:
    """Put the records' schemas among the components, and into their operations."""
    schemas = result["components"]["schemas"]
    kinds = [kind for found in ANSWERS.values() for kind in found]
    _, found = msgspec.json.schema_components(kinds, ref_template=_HEAD + "{name}")
    names = {name: _name(name, schemas) for name in found}
    for name, schema in found.items():
        schemas[names[name]] = _renamed(_whole(schema), names)
    for path in result["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                _fill(operation, names)


def _name(name: str, taken: dict[str, Any]) -> str:
    """Return a component's name; two records of one name come with their module."""
    module, _, plain = name.rpartition(".")
    explained = module.startswith(shapes.__name__)
    return f"{plain}Record" if explained or plain in taken else plain


def _fill(operation: dict[str, Any], names: dict[str, str]) -> None:
    kinds = ANSWERS.get(operation.get("operationId", ""))
    if kinds is None:
        return
    refs = [{"$ref": _HEAD + names[kind.__name__]} for kind in kinds]
    content = operation["responses"]["200"]["content"]["application/json"]
    content["schema"] = refs[0] if len(refs) == 1 else {"anyOf": refs}


def _whole(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a record as it is sent: every field is there."""
    fields = schema.get("properties")
    if not fields:
        return schema
    plain = {
        name: {k: v for k, v in inner.items() if k != "default"}
        for name, inner in fields.items()
    }
    bare = {n: v for n, v in schema.items() if n not in ("title", "required")}
    return {**bare, "properties": plain, "required": list(fields)}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _HEAD + names[inner.removeprefix(_HEAD)]
            if key == "$ref"
            else _renamed(inner, names)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return value
