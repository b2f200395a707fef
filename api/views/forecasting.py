"""When waiting workloads start: many futures, run within the seconds given."""

from __future__ import annotations

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.views.base import View, number
from api.views.explaining import COSTLY, TICK, tick_of
from sandbox.explain import forecasting
from scheduler import ranges


class Forecasts(View):
    """When each waiting Workload starts."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="forecast_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            TICK,
            OpenApiParameter("futures", int, description="How many; 20, at most 200."),
            OpenApiParameter("horizonMs", int, description="How far each goes; 1 h."),
            OpenApiParameter("seed", int, description="Of what is drawn; 1."),
            OpenApiParameter(
                "seconds", int, description="How long to run them; 20, at most 60."
            ),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return p10, p50, p90 and chances; every future was run on a copy.

        Fewer futures than asked when the seconds are over; 422 when it was none.
        """
        found = forecasting.forecast_starts(
            self.sandbox(sandbox_id),
            tick_of(request),
            futures=number(
                request,
                "futures",
                forecasting.FUTURES,
                most=forecasting.MOST_FUTURES,
            ),
            seed=number(request, "seed", 1, most=ranges.SEED.most),
            horizon_ms=number(
                request, "horizonMs", forecasting.HORIZON_MS, most=86_400_000
            ),
            seconds=number(request, "seconds", 20, most=60),
        )
        return Response(msgspec.to_builtins(found))
