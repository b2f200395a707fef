"""Sandboxes side by side; a sandbox as one file."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.renderers import OneShape, saved
from api.serializers.sandboxes import SandboxSerializer
from api.views.base import View, number
from api.views.explaining import COSTLY
from sandbox import actions
from sandbox.base.errors import ForbiddenError
from sandbox.base.refusals import Denied
from sandbox.explain import comparing
from sandbox.models import Sandbox
from sandbox.retention import archives
from scheduler.model import ranges
from scheduler.model.problems import Wanted, expected

ARCHIVE = "application/vnd.quotalab.sandbox"


class Compare(View):
    """What differs between this sandbox and others."""

    @extend_schema(
        operation_id="compare_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter(
                "with", str, required=True, description="Ids of others, by commas."
            ),
            OpenApiParameter("toTick", int, description="No further than this."),
            OpenApiParameter("points", int, description="Of each curve; at most 5000."),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return where the branches diverge, workloads that differ, preemptions, curves, totals."""
        others = _others(request)
        given = request.query_params.get("toTick")
        return self.by_workers(
            "compare",
            self.sandbox(sandbox_id),
            *map(self.sandbox, others),
            to_tick=None
            if given is None
            else number(request, "toTick", 0, most=ranges.REVISION.most),
            points=number(request, "points", comparing.MOST_POINTS, most=5000),
        )


class Pair(View):
    """Two branches of one run, as the two sides of a what-if."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="pair_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("with", str, required=True, description="Id of another.")
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return who comes out otherwise in the other branch, as the verdict of a what-if.

        From where they part to the last tick that both have reached; this sandbox is
        the side without the change.
        """
        (other,) = _others(request, most=1)
        return self.by_workers("pair", self.sandbox(sandbox_id), self.sandbox(other))


def _others(request: Request, most: int = comparing.MOST_BRANCHES - 1) -> list[str]:
    ids = [part for part in request.query_params.get("with", "").split(",") if part]
    if not 1 <= len(ids) <= most:
        problem = expected(Wanted.SANDBOXES.said(least="1", most=most), given=len(ids))
        raise invalid({"with": problem})
    return ids


class ArchiveParser(BaseParser):
    """An archive as it is."""

    media_type = ARCHIVE

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        """Return the bytes as `{"file": ...}`; one more than may be, and no more."""
        return {"file": stream.read(settings.LIMITS["bytes_per_archive"] + 1)}


class Archive(View):
    """A sandbox with its history as one file."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="archive_read", responses={(200, ARCHIVE): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return the sandbox as one file; a link that only allows looking may not export."""
        sandbox = self.sandbox(sandbox_id, archived=True)
        if not Sandbox.objects.forkable_by(self.user()).filter(pk=sandbox.pk).exists():
            raise ForbiddenError(Denied.EXPORT.said())
        return saved(f"{sandbox.pk}.quotalab", archives.whole(sandbox), ARCHIVE)


class Archives(View):
    """Sandboxes from files."""

    parser_classes = (ArchiveParser,)

    @extend_schema(
        operation_id="archives_create",
        request={ARCHIVE: OpenApiTypes.BINARY},
        responses={201: SandboxSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a sandbox from an exported archive."""
        data = request.data if isinstance(request.data, dict) else {}
        sandbox = actions.do_restore(self.user(), data.get("file", b""))
        return self.shown(sandbox, 201)
