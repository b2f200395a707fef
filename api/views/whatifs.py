"""What-ifs: changes from a tick on, with a verdict beside the run without them."""

from __future__ import annotations

from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import RETRY_S
from api.idempotency import once
from api.serializers.actions import (
    KeptWhatIfSerializer,
    SeenSerializer,
    WhatIfBeginSerializer,
    WhatIfDiscardSerializer,
    WhatIfFilesSerializer,
)
from api.uploads import texts
from api.views.answers import ANSWER_S, answer_wait
from api.views.base import View, number
from api.views.explaining import COSTLY
from sandbox.access import limits
from sandbox.models import KeptWhatIf
from sandbox.retention.retention import NEWEST
from sandbox.whatifs import asking as whatifs
from sandbox.whatifs.asking import WhatIfState
from sandbox.whatifs.keeping import do_discard, do_keep
from sandbox.whatifs.patch import patch_of

_WAIT = OpenApiParameter(
    "wait",
    int,
    description="Seconds to wait for the verdict, and no longer than the service "
    f"waits; then a 202. {ANSWER_S}.",
)


class WhatIfs(View):
    """The what-ifs of a sandbox."""

    scope = "read"  # it runs on copies; nothing of the sandbox changes until it is kept
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="what_ifs_list",
        responses=OpenApiTypes.OBJECT,
        parameters=[OpenApiParameter("limit", int, description="The newest; 20.")],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the newest what-ifs, with the totals of their verdicts."""
        limit = number(request, "limit", 20, most=2 * NEWEST[KeptWhatIf].most)
        found = whatifs.listed(self.sandbox(sandbox_id), limit)
        return Response(msgspec.to_builtins(found))

    @extend_schema(
        operation_id="what_ifs_create",
        request=WhatIfBeginSerializer,
        responses=OpenApiTypes.OBJECT,
        parameters=[_WAIT],
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Start a what-if, and return the workloads whose outcome differs at the horizon.

        Two copies run per seed, without the changes and with them. Changes that cannot
        be made are a 422 that names them, and leave nothing. While it still runs, a 202
        with the verdict so far, whose `toMs` is how far both runs are, and the place to
        ask again.
        """
        sandbox = self.sandbox(sandbox_id)
        given = self.read(WhatIfBeginSerializer)
        row = whatifs.begin(
            sandbox,
            self.user(),
            given["at"],
            changes=[_plain(change) for change in given["changes"]],
            horizon_ms=given["horizonMs"],
            seeds=given["seeds"],
            seen=given["revision"],
        )
        found = whatifs.answered(row, wait_s=answer_wait(request), is_new=True)
        return _answer(sandbox_id, found)


class OneWhatIf(View):
    """One what-if."""

    @extend_schema(
        operation_id="what_ifs_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[_WAIT],
    )
    def get(self, request: Request, sandbox_id: str, what_if_id: int) -> Response:
        """Return a what-if with its verdict; while it runs, a 202 with the verdict so far."""
        row = whatifs.find(self.sandbox(sandbox_id), what_if_id)
        return _answer(sandbox_id, whatifs.answered(row, wait_s=answer_wait(request)))


class KeepWhatIf(View):
    """A what-if that becomes the run."""

    @extend_schema(
        operation_id="what_ifs_keep",
        request=SeenSerializer,
        responses=KeptWhatIfSerializer,
    )
    @once
    def post(self, request: Request, sandbox_id: str, what_if_id: int) -> Response:
        """Keep the what-if: continue from its tick with its changes; the later history becomes a fork."""
        seen = self.read(SeenSerializer)["revision"]
        step, fork = do_keep(self.user(), sandbox_id, what_if_id, seen=seen)
        body = {
            "revision": step.revision,
            "tick": step.tick,
            "fork": None if fork is None else fork.pk,
        }
        return Response(body)


class DiscardWhatIf(View):
    """A what-if that is put away."""

    @extend_schema(
        operation_id="what_ifs_discard",
        request=WhatIfDiscardSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    @once
    def post(self, request: Request, sandbox_id: str, what_if_id: int) -> Response:
        """Discard the what-if, for another that takes its place or for none; the run stays as it is."""
        by = self.read(WhatIfDiscardSerializer)["replacedBy"]
        do_discard(self.user(), sandbox_id, what_if_id, replaced_by=by)
        row = whatifs.find(self.sandbox(sandbox_id), what_if_id)
        return Response(msgspec.to_builtins(whatifs.state_of(row)))


class WhatIfPatch(View):
    """The changes of a what-if in somebody's files."""

    scope = "read"  # of the files sent; nothing of the sandbox changes
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="what_ifs_patch",
        request=WhatIfFilesSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, sandbox_id: str, what_if_id: int) -> Response:
        """Return the changes as a diff of the files, with comments and lines kept.

        An object that is new comes to a new file. A change that none of the files can
        take is named in `left`. A text that is no YAML is a 422 with its line.
        """
        row = whatifs.find(self.sandbox(sandbox_id), what_if_id)
        files = texts(self.read(WhatIfFilesSerializer)["files"])
        limits.check_bytes(files)
        return Response(msgspec.to_builtins(patch_of(row, files)))


def _answer(sandbox_id: str, found: WhatIfState) -> Response:
    body = msgspec.to_builtins(found)
    if found.state != KeptWhatIf.RUNNING:
        return Response(body)
    place = f"/api/v1/sandboxes/{sandbox_id}/what-ifs/{found.id}"
    headers = {"Location": place, "Retry-After": str(RETRY_S)}
    return Response({**body, "place": place}, status=202, headers=headers)


def _plain(change: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(change)
    return plain
