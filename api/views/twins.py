"""Twins: sandboxes that show a real cluster."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.renderers import StorableJSONParser
from api.serializers.sandboxes import SandboxSerializer
from api.serializers.twins import (
    ClusterListSerializer,
    IncidentSerializer,
    TwinSerializer,
)
from api.uploads import FilesParser
from api.views.base import View, number
from api.views.explaining import COSTLY
from sandbox import actions
from sandbox.base.errors import Cause, InvalidError
from sandbox.models import Sandbox
from sandbox.process import watchdog
from sandbox.twins import clusters
from scheduler.analysis.explain.shapes import Change
from scheduler.model.problems import Form, RequestProblem, Wanted, in_field


class Twins(View):
    """Sandboxes that show a real cluster."""

    parser_classes = (StorableJSONParser, FilesParser)

    @extend_schema(
        operation_id="twins_create",
        request={
            "application/json": TwinSerializer,
            "multipart/form-data": TwinSerializer,
        },
        responses={201: SandboxSerializer},
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a twin of a real cluster, or of a recording (paused)."""
        given = self.read(TwinSerializer)
        title, files = given["title"], [_bytes(file) for file in given["files"]]
        if given["cluster"] and files:
            problem = Form.GOT_BOTH.said(wanted=Wanted.FILES_OR_CLUSTER)
            raise InvalidError(
                problem, causes=[Cause(problem=problem, field="cluster")]
            )
        sandbox = (
            actions.do_follow_cluster(self.user(), given["cluster"], title=title)
            if given["cluster"]
            else actions.do_play_recording(self.user(), files, title=title)
        )
        return self.shown(sandbox, 201)


class Shadow(View):
    """The decisions of a real cluster beside this engine's."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="shadow_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("most", int, description="The newest so many; 500."),
            OpenApiParameter(
                "seconds", int, description="How long to compare; 20, at most 60."
            ),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return how many decisions agree, by kind, and each one that differs."""
        return self.by_workers(
            "shadow",
            self.sandbox(sandbox_id),
            seconds=number(request, "seconds", 20, most=60),
            most=number(request, "most", 500, most=10_000),
        )


class OneShadow(View):
    """One decision of a real cluster beside this engine's."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="shadow_decision_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter(
                "seconds",
                int,
                description="How long to search the smallest world; 10, at most 60.",
            )
        ],
    )
    def get(self, request: Request, sandbox_id: str, event: int) -> Response:
        """Return a real decision, the engine's decision, and the smallest world that shows it."""
        seconds = number(request, "seconds", 10, most=60)
        sandbox = self.sandbox(sandbox_id)
        return self.by_workers("shadowDecision", sandbox, event=event, seconds=seconds)


class Incident(View):
    """A window of a real cluster under a changed policy."""

    scope = "read"  # it runs on copies, which are thrown away
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="incident_create",
        request=IncidentSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return a window of time as recorded, replayed, and replayed with the edits."""
        sandbox = self.sandbox(sandbox_id)
        given = self.read(IncidentSerializer)
        change = msgspec.convert({"edits": given["edits"]}, Change)
        return self.by_workers(
            "incident",
            sandbox,
            from_tick=given["fromTick"],
            to_tick=given["toTick"],
            change=msgspec.to_builtins(change),
            seconds=given["seconds"],
        )


class Clusters(View):
    """The clusters that may be followed."""

    @extend_schema(operation_id="clusters_list", responses=ClusterListSerializer)
    def get(self, request: Request) -> Response:
        """Return the clusters that you may follow, and the sandboxes that follow them."""
        user = self.user()
        shown = dict(
            Sandbox.objects.exclude(cluster="")
            .visible_to(user)
            .values_list("cluster", "pk")
        )
        followed = set(
            Sandbox.objects.exclude(cluster="").values_list("cluster", flat=True)
        )
        items = [
            {
                "name": one.name,
                "sandbox": shown.get(one.name),
                "followed": one.name in followed,
            }
            for one in clusters.allowed(user)
        ]
        return Response({"items": items})


def _bytes(file: dict[str, Any]) -> tuple[str, bytes]:
    watchdog.leave_to_worker()
    name = file["name"]
    if not file["data"]:
        return name, file["text"].encode()
    try:
        return name, base64.b64decode(file["data"], validate=True)
    except ValueError as error:
        problem = in_field("data", RequestProblem.BASE64.said(problem=error))
        cause = Cause(problem=problem, file=name, line=1)
        raise InvalidError(in_field(name, problem), causes=[cause]) from error
