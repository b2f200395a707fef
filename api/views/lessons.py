"""Lessons: held by the owner of a sandbox, followed by whoever has the code."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.permissions import CodeTries, PerPerson, Writes
from api.renderers import YAML, OneShape, dump_all, saved
from api.serializers import lessons as bodies
from api.serializers.reading import ScenarioSerializer
from api.serializers.scripts import ScriptSerializer
from api.views.base import View
from api.views.library import scenario_body
from sandbox import actions
from sandbox.access import lessons
from sandbox.actions.access import owned
from sandbox.actions.lessons import lesson_file
from sandbox.actions.sessions import allowed
from sandbox.base.errors import NotFoundError
from sandbox.base.library import script_of
from sandbox.base.refusals import Refused
from sandbox.models import Lesson, Sandbox


class OneLesson(View):
    """The lesson that is held in a sandbox."""

    admin_methods = frozenset({"POST", "DELETE"})  # the code lets people in

    @extend_schema(operation_id="lesson_read", responses=bodies.LessonSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the presenter's place and the followers' guesses."""
        self.sandbox(sandbox_id)
        return Response(self._body(sandbox_id))

    @extend_schema(
        operation_id="lesson_open",
        request=None,
        responses={201: bodies.LessonSerializer},
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Open a lesson, or return the one that runs; the answer holds its code."""
        actions.do_start_lesson(self.user(), sandbox_id)
        return Response(self._body(sandbox_id), status=201)

    @extend_schema(
        operation_id="lesson_show",
        request=bodies.LookSerializer,
        responses=bodies.LessonSerializer,
    )
    def put(self, request: Request, sandbox_id: str) -> Response:
        """Show followers what the presenter sees."""
        owned(self.user(), sandbox_id)
        actions.do_update_lesson(
            self.user(), sandbox_id, **self.read(bodies.LookSerializer)
        )
        return Response(self._body(sandbox_id))

    @extend_schema(operation_id="lesson_end", responses={204: None})
    def delete(self, request: Request, sandbox_id: str) -> Response:
        """End the lesson; followers lose access."""
        actions.do_end_lesson(self.user(), sandbox_id)
        return Response(status=204)

    def _body(self, sandbox_id: str) -> dict[str, Any]:
        news = msgspec.to_builtins(lessons.news_of(sandbox_id))
        held = Lesson.objects.running().filter(
            sandbox_id=sandbox_id, sandbox__owner_id=self.user().pk
        )
        code = held.values_list("code", flat=True).first()
        return {"code": code, **{k: v for k, v in news.items() if k != "type"}}


class FollowerGuess(View):
    """One who follows."""

    guest_methods = frozenset({"PUT"})

    @extend_schema(
        operation_id="lesson_guess",
        request=bodies.GuessSerializer,
        responses={204: None},
    )
    def put(self, request: Request, sandbox_id: str, follower: str) -> Response:
        """Send a guess at a stop; the last one counts."""
        self.sandbox(sandbox_id)
        given = self.read(bodies.GuessSerializer)
        actions.do_guess(self.user(), sandbox_id, follower, **given)
        return Response(status=204)


class JoinLesson(View):
    """The code of a lesson, as the presenter shows it."""

    throttle_classes = (PerPerson, Writes, CodeTries)
    guest_methods = frozenset({"POST"})

    @extend_schema(
        operation_id="lesson_join",
        request=bodies.JoinSerializer,
        responses=bodies.JoinedSerializer,
    )
    def post(self, request: Request) -> Response:
        """Join the lesson: its sandbox can be seen until it ends."""
        given = self.read(bodies.JoinSerializer)
        try:
            found = actions.do_join(
                self.user(),
                given["code"],
                given["follower"],
                notes=given["notes"],
                name=given["name"],
            )
        except NotFoundError:
            CodeTries().count(request, self)
            raise
        sandbox = found.lesson.sandbox_id
        number = lessons.number_of(found)
        return Response({"sandbox": sandbox, "follower": found.key, "number": number})


# ------------------------------------------------------------------------
# The lesson of a sandbox: its own, or that of its scenario; as one file.


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
        return saved("lesson.yaml", dump_all(lesson_file(sandbox)), YAML)
