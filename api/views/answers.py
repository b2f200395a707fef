"""Answers that take longer than a request waits: the place to ask again."""

from __future__ import annotations

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.renderers import YAML, YAMLManyRenderer
from api.serializers.actions import imported_body
from api.views.base import View
from api.views.waiting import ANSWER_WAIT, answer_wait
from sandbox.actions.import_plan import Imported
from sandbox.answers import asking


class OneAnswer(View):
    """The answer to a question that a worker works out."""

    renderer_classes = (JSONRenderer, YAMLManyRenderer)

    @extend_schema(
        operation_id="answers_read",
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, YAML): OpenApiTypes.STR,
        },
        parameters=[ANSWER_WAIT],
    )
    def get(self, request: Request, answer_id: int) -> Response:
        """Return the answer, as the first request would; a 202 while it is not ready.

        One that nobody reads for 60 s is forgotten.
        """
        found = asking.find(answer_id, self.user())
        answer = asking.result(found, wait_s=answer_wait(request))
        if found.kind == "import":
            answer = imported_body(msgspec.convert(answer, Imported))
        return Response(answer)

    @extend_schema(operation_id="answers_delete", responses={204: None})
    def delete(self, request: Request, answer_id: int) -> Response:
        """Stop the work on an answer that you asked for; an undo or a redo is not made then."""
        asking.stop(answer_id, self.user())
        return Response(status=204)
