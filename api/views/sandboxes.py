"""The list of sandboxes, and one sandbox itself."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.renderers import StorableJSONParser, YAMLTextParser
from api.serializers.actions import finding_body
from api.serializers.sandboxes import (
    ChangeSerializer,
    CreatedSerializer,
    CreateSerializer,
    DiskSerializer,
    SandboxListSerializer,
    SandboxSerializer,
    UseSerializer,
    report_body,
    use_body,
    with_release,
)
from api.uploads import FilesParser, converted_texts, run_times, traces
from api.views.base import View, flag, number
from sandbox import actions
from sandbox.actions.access import owned
from sandbox.models import Sandbox
from sandbox.retention import disk


class Sandboxes(View):
    """The sandboxes that you may see."""

    parser_classes = (StorableJSONParser, YAMLTextParser, FilesParser)

    @extend_schema(
        operation_id="sandboxes_list",
        responses=SandboxListSerializer,
        parameters=[
            OpenApiParameter("limit", int, description="At most this many; 100."),
            OpenApiParameter("offset", int),
        ],
    )
    def get(self, request: Request) -> Response:
        """Return your sandboxes, newest change first."""
        limit = number(request, "limit", 100, most=1000)
        offset = number(request, "offset", 0, most=10**9)
        found = Sandbox.objects.visible_to(self.user()).select_related("owner")
        total = found.count()
        rows = found[offset : offset + limit]
        shown = SandboxSerializer(rows, many=True, context={"request": request})
        body = shown.data
        remaining = max(0, total - offset - len(body))
        return Response({"items": body, "remaining": remaining})

    @extend_schema(
        operation_id="sandboxes_create",
        request={
            "application/json": CreateSerializer,
            "application/yaml": str,
            "multipart/form-data": CreateSerializer,
        },
        responses={201: CreatedSerializer},
        parameters=[OpenApiParameter("skipErrors", bool)],
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a sandbox from a scenario, from files, or empty; it is paused."""
        given = self.read(CreateSerializer)
        files, said = converted_texts(self.user(), given)
        made = actions.do_create(
            self.user(),
            title=given["title"],
            scenario=given["scenario"],
            seed=given["seed"],
            policy=with_release(given["policy"], given["release"], given["stack"]),
            skip_errors=given["skipErrors"] or flag(request, "skipErrors"),
            files=files,
            said=said,
            traces=traces(given["traces"]),
            run_times=run_times(given["runTimes"]),
        )
        findings = [finding_body(one) for one in made.findings]
        report = report_body(made.report)
        return self.shown(made.sandbox, 201, findings=findings, report=report)


class Disk(View):
    """What sandboxes take on disk."""

    @extend_schema(operation_id="disk_read", responses=DiskSerializer)
    def get(self, request: Request) -> Response:
        """Return the bytes of each of your sandboxes, and of the whole database."""
        mine = list(Sandbox.objects.filter(owner_id=self.user().pk))
        found = disk.use_of(mine)
        return Response(
            {
                "items": [use_body(one, found[one.pk]) for one in mine],
                "bytes": sum(use.total for use in found.values()),
                "database": {"bytes": disk.database_bytes(), "free": disk.free_bytes()},
            }
        )


class OneDisk(View):
    """What one sandbox takes on disk."""

    @extend_schema(operation_id="sandboxes_disk_read", responses=UseSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the bytes of the sandbox by purpose."""
        sandbox = self.sandbox(sandbox_id, archived=True)
        return Response(use_body(sandbox, disk.use_of([sandbox])[sandbox.pk]))


class OneSandbox(View):
    """A sandbox itself: title, visibility, clock."""

    admin_methods = frozenset({"PATCH", "DELETE"})  # visibility lets people in

    @extend_schema(operation_id="sandboxes_read", responses=SandboxSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the sandbox."""
        return self._answer(sandbox_id)

    @extend_schema(
        operation_id="sandboxes_change",
        request=ChangeSerializer,
        responses=SandboxSerializer,
    )
    def patch(self, request: Request, sandbox_id: str) -> Response:
        """Change the name, the visibility or the kept history."""
        given = self.read(ChangeSerializer)
        if "visibility" in given:  # an editor's other changes would be half of it
            owned(self.user(), sandbox_id)
        if "title" in given:
            actions.do_rename(self.user(), sandbox_id, given["title"])
        if "keepTicks" in given or "keepDays" in given:
            actions.do_set_retention(
                self.user(),
                sandbox_id,
                ticks=given.get("keepTicks"),
                days=given.get("keepDays"),
            )
        if "visibility" in given:
            actions.do_set_visibility(self.user(), sandbox_id, given["visibility"])
        return self._answer(sandbox_id)

    @extend_schema(operation_id="sandboxes_delete", responses={204: None})
    def delete(self, request: Request, sandbox_id: str) -> Response:
        """Delete the sandbox with its history; forks keep their own."""
        actions.do_delete_sandbox(self.user(), sandbox_id)
        return Response(status=204)

    def _answer(self, sandbox_id: str) -> Response:
        sandbox = self.sandbox(sandbox_id, archived=True)
        answer = self.shown(sandbox)
        answer["ETag"] = f'"{sandbox.revision}"'
        return answer
