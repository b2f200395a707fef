"""Why: a workload's place, what would let it in, a preemption step by step."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.views.base import View, number
from sandbox import explaining
from sandbox.errors import NotFoundError
from scheduler.records.objects import Key

_TICK = OpenApiParameter("tick", int, description="As it was at this tick; now.")


def _tick(request: Request) -> int | None:
    given = request.query_params.get("tick")
    return None if given is None else number(request, "tick", 0, most=2**62)


class Explain(View):
    """Why a Workload is where it is."""

    @extend_schema(
        operation_id="explain_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[_TICK],
    )
    def get(
        self, request: Request, sandbox_id: str, namespace: str, name: str
    ) -> Response:
        """Return conditions, arithmetic by flavor, searches and sentences."""
        sandbox, key = self.sandbox(sandbox_id), Key("Workload", namespace, name)
        return Response(explaining.explain_workload(sandbox, key, _tick(request)))


class Counterfactuals(View):
    """What would let a Workload in."""

    @extend_schema(
        operation_id="counterfactuals_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            _TICK,
            OpenApiParameter("horizonMs", int, description="How far each run goes."),
            OpenApiParameter("limit", int, description="At most this many runs."),
        ],
    )
    def get(
        self, request: Request, sandbox_id: str, namespace: str, name: str
    ) -> Response:
        """Return verdicts; every one of them was run on a copy of the world."""
        found = explaining.explain_counterfactuals(
            self.sandbox(sandbox_id),
            Key("Workload", namespace, name),
            _tick(request),
            horizon_ms=number(
                request, "horizonMs", explaining.HORIZON_MS, most=86_400_000
            ),
            limit=number(request, "limit", explaining.MOST_RUNS, most=200),
        )
        return Response(found)


class PreemptionSteps(View):
    """A preemption, step by step."""

    @extend_schema(operation_id="preemption_steps_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, sandbox_id: str, place: str) -> Response:
        """Return the search that chose the victim: its tick run again and traced."""
        sandbox = self.sandbox(sandbox_id)
        revision, dot, seq = place.partition(".")
        if not (dot and revision.isdecimal() and seq.isdecimal()):
            raise NotFoundError(f"expected REVISION.SEQ of an event, got {place!r}")
        return Response(explaining.explain_event(sandbox, int(revision), int(seq)))
