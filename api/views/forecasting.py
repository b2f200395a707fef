"""When work starts: many futures, run within the seconds given."""

from __future__ import annotations

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.serializers.forecasting import (
    ARRIVALS,
    ForecastOptionsSerializer,
    SubmissionSerializer,
    WouldAskedSerializer,
    continued_of,
    files_of,
    options_of,
)
from api.uploads import run_times
from api.views.answers import WAIT, waiting
from api.views.base import View, number
from api.views.explaining import COSTLY, TICK, tick_of
from sandbox.explain import forecasting
from sandbox.explain.forecasting import ForecastOptions
from sandbox.forecasts import asking, outcomes
from scheduler.model import ranges
from scheduler.model.problems import Wanted, expected


class Forecasts(View):
    """When each waiting Workload starts, and when one would that is not submitted yet."""

    scope = "read"  # futures run on copies, which are thrown away
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
            OpenApiParameter(
                "arrivals",
                str,
                enum=ARRIVALS,
                description=(
                    "Only those that are known, or beyond them as they came; by "
                    "default continued beside a real cluster, else known."
                ),
            ),
            OpenApiParameter(
                "withinMs", int, description="A further time to give the chance of."
            ),
            OpenApiParameter(
                "id", int, description="Of one that a 202 named; then nothing else."
            ),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return p10, p50, p90 and chances; every future was run on a copy of the world.

        Fewer futures than asked when the seconds are over; 503 when it was none.
        A 202 while it is still made.
        """
        sandbox = self.sandbox(sandbox_id)
        if "id" in request.query_params:
            kept = asking.find(sandbox, number(request, "id", 0, most=2**63 - 1))
        else:
            asked = tick_of(request), options_in(request), self.user()
            kept = asking.ask(sandbox, *asked)
        return Response(msgspec.to_builtins(asking.result(kept)))

    @extend_schema(
        operation_id="forecast_submission_create",
        request=SubmissionSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return when a manifest would start if it were submitted, for each queue.

        Nothing is submitted. One Workload, or one job with a queue.
        """
        given = self.read(SubmissionSerializer)
        return self.by_workers(
            "submission",
            self.sandbox(sandbox_id),
            tick=given["tick"],
            files=files_of(given),
            queues=given["queues"],
            options=msgspec.to_builtins(options_of(given)),
        )


class Would(View):
    """Whether work would start if it were submitted."""

    scope = "read"  # it runs on copies, which are thrown away
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="would_create",
        request=WouldAskedSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return when work would start, whom it would displace, and what starts it now.

        Nothing is submitted. Each change of the work was run on a copy of the world.
        """
        given = self.read(WouldAskedSerializer)
        return self.by_workers(
            "would",
            self.sandbox(sandbox_id),
            tick=given["tick"],
            files=files_of(given),
            run_times=msgspec.to_builtins(run_times(given["runTimes"])),
            horizon_ms=given["horizonMs"],
        )


class KeptForecasts(View):
    """Forecasts that workers make, kept for everybody who looks."""

    scope = "read"  # nothing of the sandbox changes
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="forecasts_list",
        responses=OpenApiTypes.OBJECT,
        parameters=[OpenApiParameter("limit", int, description="The newest; 20.")],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return kept forecasts, newest first, with their track record."""
        limit = number(request, "limit", 20, most=outcomes.MOST)
        found = asking.forecasts_of(self.sandbox(sandbox_id), limit)
        return Response(msgspec.to_builtins(found))

    @extend_schema(
        operation_id="forecasts_create",
        request=ForecastOptionsSerializer,
        responses=OpenApiTypes.OBJECT,
        parameters=[WAIT],
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Start a forecast, or return the one that was asked for before."""
        given = self.read(ForecastOptionsSerializer)
        sandbox = self.sandbox(sandbox_id)
        with waiting(request) as wait:
            found = asking.ask(sandbox, given["tick"], options_of(given), self.user())
            wait(lambda: not asking.is_running(found))
        found = asking.find(sandbox, found.pk)
        return Response(msgspec.to_builtins(asking.state_of(found)))


class KeptForecast(View):
    """One kept forecast."""

    @extend_schema(
        operation_id="forecasts_read", responses=OpenApiTypes.OBJECT, parameters=[WAIT]
    )
    def get(self, request: Request, sandbox_id: str, forecast_id: int) -> Response:
        """Return the progress, and the forecast when it is done.

        One that nobody reads for 15 s is cancelled.
        """
        sandbox = self.sandbox(sandbox_id)
        found = asking.find(sandbox, forecast_id)
        with waiting(request) as wait:
            wait(lambda: not asking.is_running(found))
        found = asking.find(sandbox, forecast_id)
        return Response(msgspec.to_builtins(asking.state_of(found)))


def options_in(request: Request) -> ForecastOptions:
    """Return how a forecast is asked for in a query; 422 for what makes no sense."""
    arrivals = request.query_params.get("arrivals")
    if arrivals is not None and arrivals not in ARRIVALS:
        problem = expected(
            Wanted.CHOICE.said(first="known", last="continued"), arrivals[:40]
        )
        raise invalid({"arrivals": problem})
    within = number(request, "withinMs", 0, most=forecasting.MOST_HORIZON_MS)
    return ForecastOptions(
        futures=number(
            request, "futures", forecasting.FUTURES, most=forecasting.MOST_FUTURES
        ),
        seed=number(request, "seed", 1, most=ranges.SEED.most),
        horizon_ms=number(
            request,
            "horizonMs",
            forecasting.HORIZON_MS,
            most=forecasting.MOST_HORIZON_MS,
        ),
        seconds=number(request, "seconds", 20, most=60),
        continued=continued_of(arrivals),
        within_ms=(within,) if within else (),
    )
