"""What can be chosen: scenarios, strategies, plug-ins, kinds, the policy's shape."""

from __future__ import annotations

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.serializers.reading import RegistrySerializer, ScenarioListSerializer
from api.views.base import View
from sandbox.base import library
from sandbox.page.pictures import pictures
from scheduler.input.manifests import kinds
from scheduler.input.manifests.dumps.snippet import cluster_line, yunikorn_line
from scheduler.model import durations, registry
from scheduler.model.policy import Policy
from scheduler.model.scenario import Scenario


class Scenarios(View):
    """The library."""

    @extend_schema(operation_id="scenarios_list", responses=ScenarioListSerializer)
    def get(self, request: Request) -> Response:
        """Return every scenario, in the library's order."""
        found = [(name, library.scenario_named(name)) for name in library.names()]
        return Response({"items": [scenario_body(name, s) for name, s in found]})


def scenario_body(name: str, scenario: Scenario) -> dict[str, object]:
    """Return a scenario as it travels; texts by language tag."""
    spec = scenario.spec
    return {
        "name": name,
        "title": spec.title,
        "summary": spec.summary,
        "lesson": spec.lesson,
        "stack": spec.policy.get("stack", "kueue"),
        "seed": str(spec.seed),
        "picture": pictures().get(name),
        "courses": [
            {"text": text, "place": lessons.index(name) + 1, "of": len(lessons)}
            for text, lessons in library.courses().items()
            if name in lessons
        ],
        "checkpoints": [
            {
                "at": stop.at,
                "atMs": durations.span_ms(stop.at),
                "say": stop.say,
                "ask": stop.ask,
                "answer": stop.answer,
                "choices": stop.choices,
                "right": stop.right,
                "beside": msgspec.to_builtins(stop.beside),
                "untilMs": durations.span_ms(stop.until or spec.horizon),
                "switch": stop.switch,
                "spot": stop.spot,
                "notes": stop.notes,
                "shownMs": durations.span_ms(stop.shown) if stop.shown else None,
            }
            for stop in spec.checkpoints
        ],
    }


class Registry(View):
    """Strategies and plug-ins with their parameters."""

    @extend_schema(operation_id="registry_read", responses=RegistrySerializer)
    def get(self, request: Request) -> Response:
        """Return every registered strategy, plug-in, sort and process."""
        return Response(
            {
                "entries": [_entry(entry) for entry in registry.entries()],
                "kinds": [_kind(kind) for kind in kinds.TABLE],
                "policy": msgspec.json.schema(Policy),
                "snippets": {"cluster": cluster_line(), "yunikorn": yunikorn_line()},
            }
        )


def _entry(entry: registry.Registration) -> dict[str, object]:
    schema = msgspec.json.schema(entry.parameters) if entry.parameters else None
    return {
        "family": entry.family,
        "name": entry.name,
        "label": entry.label,
        "help": entry.help,
        "parameters": schema,
    }


def _kind(kind: kinds.Kind) -> dict[str, object]:
    return {
        "kind": kind.kind,
        "group": kind.group,
        "versions": list(kind.versions),
        "plural": kind.plural,
        "level": kind.level,
        "stacks": list(kind.stacks),
        "namespaced": kind.namespaced,
        "note": kind.note,
    }
