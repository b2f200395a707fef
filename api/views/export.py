"""A sandbox as files: everything in it, as the real systems read it."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.serializers import ValidationError

from api.renderers import YAML, OneShape, dump, dump_all
from api.views.base import View
from sandbox import exports


class Export(View):
    """Manifests, policy, or both."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="export_read",
        responses={(200, YAML): OpenApiTypes.STR},
        parameters=[
            OpenApiParameter(
                "what",
                str,
                enum=["all", "objects", "policy", "queues"],
                description="all: policy and objects; queues: YuniKorn's queues.yaml.",
            ),
            OpenApiParameter("status", bool, description="With statuses."),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return YAML that loads again."""
        sandbox = self.sandbox(sandbox_id)
        what = request.query_params.get("what", "all")
        if what == "queues":
            text = dump(exports.queues(sandbox))
        elif what in ("all", "objects", "policy"):
            status = request.query_params.get("status") == "true"
            text = dump_all(exports.documents(sandbox, what, status=status))
        else:
            raise ValidationError({"what": "expected all, objects, policy or queues"})
        name = f"{sandbox.pk}-{what}.yaml"
        return HttpResponse(
            text,
            content_type=YAML,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
