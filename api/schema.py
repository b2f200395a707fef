"""What the OpenAPI document says of every operation: how it refuses, and in what words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
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
        """Return the document in YAML or JSON."""
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


# ------------------------------------------------------------------------
# The answers that are records of the packages below, described in the OpenAPI document.

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
