"""Why: places, shares, preemptions step by step, what would let a workload in."""

from __future__ import annotations

from typing import cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.permissions import CodeTries, Explanations, PerPerson, Writes
from api.renderers import YAML, YAMLManyRenderer
from api.serializers.access import OpenLinkSerializer
from api.views.answers import ANSWER_WAIT, answer_wait
from api.views.base import View, flag, number, whole
from sandbox.actions.access import open_link
from sandbox.base.errors import NotFoundError
from sandbox.explain import explaining
from sandbox.world.history import refuse_archived
from scheduler.model import ranges
from scheduler.model.objects import Key
from scheduler.model.problems import Wanted, expected

#: What is run anew for every question, and counted by itself.
COSTLY = (PerPerson, Writes, Explanations)
TICK = OpenApiParameter("tick", int, description="As it was at this tick; now.")


def tick_of(request: Request) -> int | None:
    """Return the tick that is asked about; None for now."""
    given = request.query_params.get("tick")
    return (
        None if given is None else number(request, "tick", 0, most=ranges.REVISION.most)
    )


class Explain(View):
    """Why a Workload, a Pod or an application of YuniKorn is where it is."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="explain_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            TICK,
            OpenApiParameter("kind", str, enum=["Workload", "Pod", "Application"]),
        ],
    )
    def get(
        self, request: Request, sandbox_id: str, namespace: str, name: str
    ) -> Response:
        """Return conditions, arithmetic, searches or node tables, and sentences."""
        kind = request.query_params.get("kind", "Workload")
        if kind not in ("Workload", "Pod", "Application"):
            problem = expected(
                Wanted.CHOICE.said(first="Workload, Pod", last="Application"), kind
            )
            raise invalid({"kind": problem})
        if kind == "Application":
            found = explaining.explain_application(
                self.sandbox(sandbox_id), name, tick_of(request)
            )
            return Response(found)
        sandbox, key = self.sandbox(sandbox_id), Key(kind, namespace, name)
        return Response(explaining.explain_object(sandbox, key, tick_of(request)))


class Waiting(View):
    """What waits and for what, and why anything is as it is."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="waiting_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            TICK,
            OpenApiParameter(
                "about",
                str,
                description="A Workload, job, pod, gang, application, queue, cohort or "
                "node, with its namespace or kind before it, if need be.",
            ),
            OpenApiParameter(
                "tried",
                bool,
                description="Also run copies on, for when it starts by itself and which "
                "changes start it now: a worker's answer; false.",
            ),
            ANSWER_WAIT,
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return what waits by its cause, the most common first, and answers about `about`."""
        about, tick = request.query_params.get("about", ""), tick_of(request)
        sandbox = self.sandbox(sandbox_id)
        if about and flag(request, "tried"):
            return self.by_workers(
                "explanation",
                sandbox,
                wait_s=answer_wait(request),
                about=about,
                tick=tick,
            )
        return Response(explaining.explain_overview(sandbox, about, tick))


class Fairness(View):
    """Weighted shares and who is next."""

    @extend_schema(
        operation_id="fairness_read", responses=OpenApiTypes.OBJECT, parameters=[TICK]
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the share formulas with numbers, borrowing flows, queue heads and next victims."""
        sandbox = self.sandbox(sandbox_id)
        return Response(explaining.explain_fairness(sandbox, tick_of(request)))


class Capacity(View):
    """Nodes that come and go."""

    @extend_schema(
        operation_id="capacity_read", responses=OpenApiTypes.OBJECT, parameters=[TICK]
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return node groups and pools, their cost, and why none grows for pending work."""
        sandbox = self.sandbox(sandbox_id)
        return Response(explaining.explain_capacity(sandbox, tick_of(request)))


class Counterfactuals(View):
    """What would let a Workload in."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="counterfactuals_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            TICK,
            OpenApiParameter("horizonMs", int, description="How far each run goes."),
            OpenApiParameter("limit", int, description="At most this many runs."),
            ANSWER_WAIT,
        ],
    )
    def get(
        self, request: Request, sandbox_id: str, namespace: str, name: str
    ) -> Response:
        """Return what would admit the workload; each answer was run on a copy of the world."""
        return self.by_workers(
            "counterfactuals",
            self.sandbox(sandbox_id),
            wait_s=answer_wait(request),
            workload=str(Key("Workload", namespace, name)),
            tick=tick_of(request),
            horizon_ms=number(
                request, "horizonMs", explaining.HORIZON_MS, most=86_400_000
            ),
            limit=number(request, "limit", explaining.MOST_RUNS, most=200),
        )


class Reproduce(View):
    """The smallest world that still shows an event."""

    renderer_classes = (JSONRenderer, YAMLManyRenderer)
    throttle_classes = COSTLY

    @extend_schema(
        operation_id="reproduction_read",
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, YAML): OpenApiTypes.STR,
        },
        parameters=[
            OpenApiParameter(
                "seconds", int, description="How long to search; at most 60."
            ),
            OpenApiParameter("runs", int, description="At most this many runs."),
        ],
    )
    def get(self, request: Request, sandbox_id: str, place: str) -> Response:
        """Return the smallest world that still takes the decision; every step is run.

        As YAML: a scenario that expects the decision, and the objects that it needs.
        """
        sandbox = self.sandbox(sandbox_id)
        revision, seq = place_of(place)
        return self.by_workers(
            "reproduction",
            sandbox,
            revision=revision,
            seq=seq,
            seconds=number(request, "seconds", 20, most=60),
            most_runs=number(request, "runs", explaining.MOST_TRIALS, most=20_000),
        )


def place_of(text: str) -> tuple[int, int]:
    """Return (revision, seq) of "REVISION.SEQ". Raises NotFoundError."""
    revision, dot, seq = text.partition(".")
    number, place = whole(revision), whole(seq)
    if not dot or number is None or place is None:
        raise NotFoundError(expected(Wanted.EVENT, text[:40]))
    return number, min(place, ranges.OFFSET.most)


OTHER = OpenApiParameter(
    "other", bool, description="The same moment by the other strategy; false."
)


class EventFilm(View):
    """The cycle behind a decision, as a film."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="event_film_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[OTHER],
    )
    def get(self, request: Request, sandbox_id: str, place: str) -> Response:
        """Return the frames of a decision, in order; no frame reveals the result of a later one.

        An event is REVISION.SEQ: Admit, ReserveQuota, Wait, Preempt, Bind, PermitWait or Fail.
        """
        sandbox = self.sandbox(sandbox_id)
        if flag(request, "other"):
            return Response(
                explaining.film_of_event(sandbox, *place_of(place), other=True)
            )
        return Response(
            explaining.film_kept(sandbox, *place_of(place), before=lambda: None)
        )


class EmbeddedFilm(View):
    """A film to whoever has its link: it stands in pages of others."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = (CodeTries,)

    @extend_schema(
        operation_id="embeds_open",
        request=OpenLinkSerializer,
        responses=OpenApiTypes.OBJECT,
        auth=cast("list[str]", [{}]),  # nobody signs in
    )
    def post(self, request: Request) -> Response:
        """Return the frames of the decision of a link, without a sign-in.

        One address may be a classroom: links that open nothing are counted, and films
        that are made, not those that were made for somebody else a moment ago.
        """
        secret = self.read(OpenLinkSerializer)["secret"]
        try:
            link = open_link(secret, embeds=True)
        except NotFoundError:
            CodeTries().count(request, self)
            raise
        refuse_archived(link.sandbox)
        place = place_of(link.event)
        return Response(
            explaining.film_kept(
                link.sandbox, *place, before=lambda: self._count(request)
            )
        )

    def _count(self, request: Request) -> None:
        made = Explanations()
        if not made.allow_request(request, self):
            raise Throttled(made.wait())


class ObjectFilm(View):
    """The cycle in which a Workload or Pod would be tried, as a film."""

    throttle_classes = COSTLY

    @extend_schema(
        operation_id="object_film_read",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            TICK,
            OTHER,
            OpenApiParameter("kind", str, enum=["Workload", "Pod"]),
        ],
    )
    def get(
        self, request: Request, sandbox_id: str, namespace: str, name: str
    ) -> Response:
        """Return the frames of the next attempt for an object; a 422 says why there is none."""
        key = Key(request.query_params.get("kind", "Workload"), namespace, name)
        return Response(
            explaining.film_of_object(
                self.sandbox(sandbox_id),
                key,
                tick_of(request),
                other=flag(request, "other"),
            )
        )


class PreemptionSteps(View):
    """A preemption, step by step."""

    throttle_classes = COSTLY

    @extend_schema(operation_id="preemption_steps_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, sandbox_id: str, place: str) -> Response:
        """Return the traced search that chose the victim; its tick is run again for this."""
        sandbox = self.sandbox(sandbox_id)
        return Response(explaining.explain_event(sandbox, *place_of(place)))
