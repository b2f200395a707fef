"""Twins: sandboxes that show a real cluster."""

from __future__ import annotations

import base64
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.renderers import StorableJSONParser
from api.serializers.sandboxes import SandboxSerializer
from api.serializers.twins import TwinSerializer
from api.uploads import FilesParser
from api.views.base import View
from sandbox import actions
from sandbox.base.errors import Cause, InvalidError


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
        """Make a sandbox that plays a recording of a real cluster; it is paused."""
        given = self.read(TwinSerializer)
        sandbox = actions.do_play_recording(
            self.user(), [_bytes(file) for file in given["files"]], title=given["title"]
        )
        body = SandboxSerializer(sandbox, context={"request": request}).data
        return Response(body, status=201)


def _bytes(file: dict[str, Any]) -> tuple[str, bytes]:
    name = file["name"]
    if not file["data"]:
        return name, file["text"].encode()
    try:
        return name, base64.b64decode(file["data"], validate=True)
    except ValueError as error:
        problem = f"data: expected base64: {error}"
        cause = Cause(problem=problem, file=name, line=1)
        raise InvalidError(f"{name}: {problem}", causes=[cause]) from error
