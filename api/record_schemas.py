"""The answers that are records of the packages below, described in the OpenAPI document."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from sandbox.explain.comparing.shapes import Comparison
from sandbox.explain.shadowing import Agreement, Opened
from sandbox.forecasts.asking import Forecasts, ForecastState
from sandbox.page import wire
from sandbox.whatifs.asking import WhatIfs, WhatIfState
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.goal import SearchStanding
from scheduler.analysis.experiments.results import AssertionVerdict, VariantResult
from scheduler.analysis.explain import shapes
from scheduler.analysis.explain.answers import Overview
from scheduler.analysis.explain.queues import ApplicationExplanation, QueueFairness
from scheduler.analysis.explain.shapes.film import Film
from scheduler.analysis.explain.would import Would
from scheduler.analysis.forecast.starts import Forecast, SubmissionForecast
from scheduler.analysis.incident import IncidentReplay
from scheduler.analysis.pairs import PairVerdict
from scheduler.analysis.reproduction.report import Reproduction
from scheduler.input.manifests.file_changes import FilesPatch
from scheduler.input.manifests.repairs import Repair
from scheduler.input.manifests.report import Report
from scheduler.input.traces.preview import TracePreviews
from scheduler.model.errors import SourceLocation
from scheduler.model.kube.description import ProfileState

#: Operation -> what it answers, one of these.
ANSWERS: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "explain_read": (
        shapes.Explanation,
        shapes.PodExplanation,
        shapes.AskExplanation,
        ApplicationExplanation,
    ),
    "counterfactuals_read": (shapes.Counterfactuals,),
    "forecast_read": (Forecast,),
    "forecasts_list": (Forecasts,),
    "forecasts_create": (ForecastState,),
    "forecasts_read": (ForecastState,),
    "forecast_submission_create": (SubmissionForecast,),
    "would_create": (Would,),
    "capacity_read": (shapes.Capacity,),
    "waiting_read": (Overview,),
    "fairness_read": (shapes.Fairness, QueueFairness),
    "event_film_read": (Film,),
    "object_film_read": (Film,),
    "embeds_open": (Film,),
    "preemption_steps_read": (shapes.Preemption, shapes.PodPreemption),
    "compare_read": (Comparison,),
    "experiments_compare": (Comparison,),
    "pair_read": (PairVerdict,),
    "reproduction_read": (Reproduction,),
    "what_ifs_list": (WhatIfs,),
    "what_ifs_create": (WhatIfState,),
    "what_ifs_read": (WhatIfState,),
    "what_ifs_discard": (WhatIfState,),
    "what_ifs_patch": (FilesPatch,),
    "traces_preview": (TracePreviews,),
    "incident_create": (IncidentReplay,),
    "shadow_read": (Agreement,),
    "shadow_decision_read": (Opened,),
    "state_read": (wire.PageState,),
}
#: Operation -> of what its items are.
LISTS: dict[str, tuple[str, type[msgspec.Struct]]] = {
    "policy_profiles_read": ("ProfileList", ProfileState),
    "samples_read": ("SampleList", wire.Sample),
}
#: Records that are fields of other answers: `api/serializers/sandboxes.py`.
FIELDS: tuple[type, ...] = (
    *(AdviceAnswer, SearchStanding, VariantResult, AssertionVerdict),
    *(Report, Repair, SourceLocation),
)
#: Fields that not every record has: component, field.
OPTIONAL = (
    ("EventLine", "said"),
    ("SandboxRow", "release"),
    ("SandboxRow", "proposal"),
    *(("Constraint", name) for name in ("min", "max", "over", "loses")),
)
#: What the live protocol sends: described here too, so that one document has every answer.
MESSAGES: tuple[type[msgspec.Struct], ...] = get_args(wire.ServerMessage)
_HEAD = "#/components/schemas/"


def describe(result: dict[str, Any]) -> None:
    """Put the records' schemas among the components, and into their operations."""
    schemas = result["components"]["schemas"]
    kinds = [kind for found in ANSWERS.values() for kind in found]
    kinds += [*FIELDS, *MESSAGES, wire.Hello, *(kind for _, kind in LISTS.values())]
    _, found = msgspec.json.schema_components(kinds, ref_template=_HEAD + "{name}")
    _check_protocol_names(schemas)
    names = {name: _name(name, schemas) for name in found}
    for name, schema in found.items():
        schemas[names[name]] = _renamed(_whole(schema), names)
    _describe_messages(schemas)
    _describe_lists(schemas)
    for path in result["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                _fill(operation, names)


def _check_protocol_names(schemas: dict[str, Any]) -> None:
    """Refuse a serializer that has the name of a message, or a row, of the live protocol."""
    for kind in (*MESSAGES, wire.Hello, *get_args(wire.AnyRow)):
        if kind.__name__ in schemas:
            raise ValueError(
                f"{kind.__name__} is a shape of the live protocol "
                f"({kind.__module__}): give the serializer another name"
            )


def _describe_messages(schemas: dict[str, Any]) -> None:
    """Add AnyRow, ServerMessage, and what a diff may hold of each kind of row."""
    schemas["AnyRow"] = _tagged("kind", get_args(wire.AnyRow))
    schemas["ServerMessage"] = _tagged("type", MESSAGES)
    rows = {"type": "array", "items": {"$ref": _HEAD + "AnyRow"}}
    for message, field in (("PageState", "rows"), ("Diff", "added")):
        schemas[message]["properties"][field] = rows
    schemas["Sentence"]["properties"]["holes"]["additionalProperties"] = {}
    for name, field in OPTIONAL:
        schemas[name]["required"].remove(field)
    patches: dict[str, Any] = {}
    for row in get_args(wire.AnyRow):
        fields = {
            name: inner
            for name, inner in schemas[row.__name__]["properties"].items()
            if name not in ("kind", "key")
        }
        schemas[f"{row.__name__}Patch"] = {
            "type": "object",
            "description": f"Changed fields of a {row.__name__}, whole values.",
            "properties": fields,
            "additionalProperties": False,
        }
        tag = row.__struct_config__.tag
        patches[f"^{tag}/"] = {"$ref": f"{_HEAD}{row.__name__}Patch"}
    schemas["Diff"]["properties"]["updated"] = {
        "type": "object",
        "patternProperties": patches,
        "additionalProperties": False,
    }


def _describe_lists(schemas: dict[str, Any]) -> None:
    for name, kind in LISTS.values():
        items = {"type": "array", "items": {"$ref": _HEAD + kind.__name__}}
        schemas[name] = {
            "type": "object",
            "properties": {"items": items},
            "required": ["items"],
        }


def _tagged(field: str, kinds: tuple[type[msgspec.Struct], ...]) -> dict[str, Any]:
    return {
        "oneOf": [{"$ref": _HEAD + kind.__name__} for kind in kinds],
        "discriminator": {
            "propertyName": field,
            "mapping": {
                str(kind.__struct_config__.tag): _HEAD + kind.__name__ for kind in kinds
            },
        },
    }


def _name(name: str, taken: dict[str, Any]) -> str:
    """Return a component's name; two records of one name come with their module."""
    module, _, plain = name.rpartition(".")
    explained = module.startswith(shapes.__name__)
    return f"{plain}Record" if explained or plain in taken else plain


def _fill(operation: dict[str, Any], names: dict[str, str]) -> None:
    operation_id = operation.get("operationId", "")
    listed = LISTS.get(operation_id)
    if listed is not None:
        content = operation["responses"]["200"]["content"]["application/json"]
        content["schema"] = {"$ref": _HEAD + listed[0]}
    kinds = ANSWERS.get(operation_id)
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
            if isinstance(inner, str) and inner.startswith(_HEAD)
            else _renamed(inner, names)
            for key, inner in value.items()
            # What may follow the items of a tuple: nothing, and tools know no `false`.
            if (key, inner) != ("items", False)
        }
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return value
