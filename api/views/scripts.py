"""The lesson of a sandbox: its own, or that of its scenario; as one file."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.renderers import YAML, OneShape, dump_all
from api.serializers.reading import ScenarioSerializer
from api.serializers.scripts import ScriptSerializer
from api.views.base import View
from api.views.library import scenario_body
from sandbox import actions
from sandbox.actions.scripts import lesson_file
from sandbox.actions.sessions import allowed
from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Refused
from sandbox.base.scripts import script_of
from sandbox.models import Sandbox


class Script(View):
    """The stops of a lesson."""

    @extend_schema(operation_id="script_read", responses=ScenarioSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the lesson written here, else the one of its files, else of the library."""
        return Response(_body(self.sandbox(sandbox_id)))

    @extend_schema(
        operation_id="script_write",
        request=ScriptSerializer,
        responses=ScenarioSerializer,
    )
    def put(self, request: Request, sandbox_id: str) -> Response:
        """Save the stops; the decisions between each stop and its answer become expectations."""
        allowed(self.user(), sandbox_id)
        given = self.read(ScriptSerializer)
        return Response(_body(actions.do_write_script(self.user(), sandbox_id, given)))


def _body(sandbox: Sandbox) -> dict[str, object]:
    found = script_of(sandbox.script, sandbox.scenario)
    if found is None:
        raise NotFoundError(Refused.NO_SCRIPT.said())
    return scenario_body(sandbox.scenario or "lesson", found)


class ScriptFile(View):
    """A lesson as one file."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="script_file_read", responses={(200, YAML): OpenApiTypes.ANY}
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return the lesson with its first world as one file, which plays the same anywhere."""
        sandbox = self.sandbox(sandbox_id)
        return HttpResponse(
            dump_all(lesson_file(sandbox)),
            content_type=YAML,
            headers={"Content-Disposition": 'attachment; filename="lesson.yaml"'},
        )
