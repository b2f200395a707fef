"""Experiments: started, watched, cancelled; their runs opened as sandboxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.idempotency import once
from api.renderers import OneShape, StorableJSONParser, YAMLTextParser, saved
from api.serializers import experiments as bodies
from api.serializers.sandboxes import SandboxSerializer
from api.views.answers import WAIT, waiting
from api.views.base import View, number, whole
from api.views.explaining import COSTLY
from sandbox.base.errors import ConflictError
from sandbox.base.refusals import NotNow
from sandbox.experiments import actions, reading
from sandbox.experiments.searching import search_of
from sandbox.explain.comparing import MOST_BRANCHES, MOST_POINTS
from sandbox.models import Experiment
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.reports.markdown import markdown_of
from scheduler.analysis.advice.reports.page import html_of
from scheduler.analysis.experiments.document import Objective, read_experiment
from scheduler.analysis.experiments.results import ordered, with_front
from scheduler.analysis.measures import better
from scheduler.model.problems import Wanted, expected
from scheduler.model.problems.library import plain_word


class ExperimentView(View):
    """What the views of experiments share."""

    def line(self, experiment: Experiment) -> dict[str, Any]:
        """Return the experiment as lists show it."""
        body: dict[str, Any] = bodies.ExperimentSerializer(
            experiment, context={"request": self.request}
        ).data
        return body


class Experiments(ExperimentView):
    """The experiments that you may see."""

    parser_classes = (StorableJSONParser, YAMLTextParser)

    @extend_schema(
        operation_id="experiments_list",
        responses=bodies.ExperimentListSerializer,
        parameters=[
            OpenApiParameter("limit", int, description="At most this many; 100."),
            OpenApiParameter("offset", int),
        ],
    )
    def get(self, request: Request) -> Response:
        """Return your experiments, newest first."""
        limit = number(request, "limit", 100, most=1000)
        offset = number(request, "offset", 0, most=10**9)
        found = Experiment.objects.visible_to(self.user())
        total = found.count()
        rows = found.select_related("owner").defer("base", "files")
        items = [self.line(row) for row in rows[offset : offset + limit]]
        remaining = max(0, total - offset - len(items))
        return Response({"items": items, "remaining": remaining})

    @extend_schema(
        operation_id="experiments_create",
        request={"application/json": bodies.StartSerializer, "application/yaml": str},
        responses={201: bodies.ExperimentSerializer},
        parameters=[WAIT],
    )
    @once
    def post(self, request: Request) -> Response:
        """Start an experiment; workers begin its runs at once."""
        given = self.read(bodies.StartSerializer)
        files = {file["name"]: file["text"] for file in given["files"]}
        document = given["document"]
        if not document:
            document, files = actions.document_among(files)
        with waiting(request) as wait:
            experiment = actions.do_start(
                self.user(),
                document,
                files=files,
                title=given["title"],
                visibility=given["visibility"],
            )
            wait(has_ended(experiment))
        found = actions.visible(self.user(), experiment.pk)
        return Response(self.line(found), status=201)


class OneExperiment(ExperimentView):
    """One experiment."""

    admin_methods = frozenset({"DELETE"})

    @extend_schema(
        operation_id="experiments_read",
        responses=bodies.OneExperimentSerializer,
        parameters=[
            WAIT,
            OpenApiParameter(
                "sort",
                str,
                description="`variant`, `name` or a measure, by its mean; a `-` "
                "in front reverses it. Lines without the measure come last.",
            ),
            OpenApiParameter(
                "front",
                str,
                description="Objectives of the Pareto front instead of the "
                "document's: `measure:low,measure:high`.",
            ),
        ],
    )
    def get(self, request: Request, experiment_id: str) -> Response:
        """Return the progress, and one line per variant from the runs that have ended."""
        experiment = actions.visible(self.user(), experiment_id)
        with waiting(request) as wait:
            wait(has_ended(experiment))
        experiment = actions.visible(self.user(), experiment_id)
        found = reading.outcome(experiment)
        spec = read_experiment(experiment.document).spec
        objectives = _objectives(request) or spec.objectives
        names = reading.variants_of(experiment)
        lines = with_front(found.lines, objectives)
        by = request.query_params.get("sort", "variant")
        lines = ordered(lines, names, by.removeprefix("-"), falling=by[:1] == "-")
        measures = sorted({name for line in lines for name in line.measures})
        body = {
            **self.line(experiment),
            "document": experiment.document,
            "objectives": [
                {"measure": o.measure, "better": o.better} for o in objectives
            ],
            "better": {name: way for name in measures if (way := better(name))},
            "lines": msgspec.to_builtins(lines),
            "verdicts": msgspec.to_builtins(found.verdicts),
            "search": search_of(experiment),
        }
        return Response(body)

    @extend_schema(operation_id="experiments_delete", responses={204: None})
    def delete(self, request: Request, experiment_id: str) -> Response:
        """Delete it with its results; sandboxes opened from it stay."""
        actions.do_delete(self.user(), experiment_id)
        return Response(status=204)


def has_ended(experiment: Experiment) -> Callable[[], bool]:
    """Return what says whether it ended, or was deleted."""
    runs = Experiment.objects.filter(pk=experiment.pk, state=Experiment.RUNNING)
    return lambda: not runs.exists()


def _objectives(request: Request) -> tuple[Objective, ...]:
    """Return the objectives that were asked for; none = the document's."""
    parts = [part for part in request.query_params.get("front", "").split(",") if part]
    found = []
    for part in parts:
        measure, _, way = part.rpartition(":")
        if not measure or way not in ("low", "high"):
            problem = expected(Wanted.OBJECTIVE, part)
            raise invalid({"front": problem})
        found.append(
            Objective(measure=measure, better="low" if way == "low" else "high")
        )
    return tuple(found)


class Cancel(ExperimentView):
    """The end of an experiment before its end."""

    @extend_schema(
        operation_id="experiments_cancel",
        request=None,
        responses=bodies.ExperimentSerializer,
    )
    @once
    def post(self, request: Request, experiment_id: str) -> Response:
        """Cancel the runs that have not ended; results of ended runs are kept."""
        return Response(self.line(actions.do_cancel(self.user(), experiment_id)))


class Results(ExperimentView):
    """Every run that ended."""

    @extend_schema(
        operation_id="experiments_results",
        responses=bodies.ResultsSerializer,
        parameters=[
            OpenApiParameter("after", int, description="`next` of the last answer."),
            OpenApiParameter("limit", int, description="At most this many; 1000."),
        ],
    )
    def get(self, request: Request, experiment_id: str) -> Response:
        """Return the runs in the order in which they ended, page by page."""
        experiment = actions.visible(self.user(), experiment_id)
        after = number(request, "after", 0, most=10**9)
        limit = max(1, number(request, "limit", 1000, most=10_000))
        runs = reading.runs_after(experiment, after, limit)
        items = [reading.run_row(run) for run in runs]
        last = items[-1]["ended"] if items else after
        return Response({"items": items, "next": last, "state": experiment.state})


class ResultsCsv(ExperimentView):
    """Every run as a table."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="experiments_results_csv",
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, experiment_id: str) -> HttpResponse:
        """Return a CSV with one line per run and one column per measure."""
        experiment = actions.visible(self.user(), experiment_id)
        text = reading.write_csv(experiment)
        return saved(f"{experiment.pk}.csv", text, "text/csv; charset=utf-8")


class CompareRuns(ExperimentView):
    """Runs side by side."""

    @extend_schema(
        operation_id="experiments_compare",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("runs", str, required=True, description="By commas."),
            OpenApiParameter("toTick", int, description="No further than this."),
            OpenApiParameter("points", int, description="Of each curve; at most 5000."),
        ],
    )
    def get(self, request: Request, experiment_id: str) -> Response:
        """Return the differences between runs, as `compare` does between sandboxes."""
        experiment = actions.visible(self.user(), experiment_id)
        given = request.query_params.get("toTick")
        return self.by_workers(
            "runs",
            user=self.user().pk,
            experiment=experiment.pk,
            numbers=_numbers(request.query_params.get("runs", "")),
            to_tick=None if given is None else number(request, "toTick", 0, most=10**9),
            points=number(request, "points", MOST_POINTS, most=5000),
        )


def _numbers(text: str) -> list[int]:
    parts = [whole(part) for part in text.split(",") if part]
    found = [part for part in parts if part is not None]
    if not 2 <= len(parts) <= MOST_BRANCHES or len(found) != len(parts):
        problem = expected(Wanted.RUN_NUMBERS.said(least="2", most=MOST_BRANCHES), text)
        raise invalid({"runs": problem})
    return found


class OpenRun(ExperimentView):
    """One run as a sandbox."""

    @extend_schema(
        operation_id="experiments_runs_open",
        request=bodies.OpenSerializer,
        responses={201: SandboxSerializer},
    )
    @once
    def post(self, request: Request, experiment_id: str, run: int) -> Response:
        """Create a paused sandbox from a run, at a tick or at its end."""
        given = self.read(bodies.OpenSerializer)
        sandbox = actions.do_open(self.user(), experiment_id, run, tick=given["tick"])
        return self.shown(sandbox, 201)


# ------------------------------------------------------------------------
# Searches: estimated, ended early, and handed over as patches and reports.


class Estimate(ExperimentView):
    """What a search would take."""

    throttle_classes = COSTLY  # a few runs are tried
    parser_classes = (StorableJSONParser, YAMLTextParser)
    scope = "read"  # a copy is run, and nothing is stored

    @extend_schema(
        operation_id="experiments_estimate",
        request={"application/json": bodies.StartSerializer, "application/yaml": str},
        responses=bodies.AdviceEstimateSerializer,
    )
    def post(self, request: Request) -> Response:
        """Return the number of runs of a search and a time estimate; nothing is stored."""
        given = self.read(bodies.StartSerializer)
        files = {file["name"]: file["text"] for file in given["files"]}
        document = given["document"]
        if not document:
            document, files = actions.document_among(files)
        user = self.user().pk
        return self.by_workers("estimate", user=user, document=document, files=files)


class Take(ExperimentView):
    """The end of a search before its end, with an answer."""

    @extend_schema(
        operation_id="experiments_take",
        request=None,
        responses=bodies.ExperimentSerializer,
    )
    @once
    def post(self, request: Request, experiment_id: str) -> Response:
        """End a search: the best settings so far are verified on held-out seeds, then returned."""
        return Response(self.line(actions.do_take(self.user(), experiment_id)))


class AnswerView(ExperimentView):
    """What the texts of a search's answer share."""

    content_negotiation_class = OneShape

    def found(self, experiment_id: str) -> tuple[Experiment, AdviceAnswer]:
        """Return the experiment and its answer. Raises ConflictError for none."""
        experiment = actions.visible(self.user(), experiment_id)
        if "verdict" not in experiment.answer:
            raise ConflictError(NotNow.ANSWER.said(state=plain_word(experiment.state)))
        return experiment, msgspec.convert(experiment.answer, AdviceAnswer)


class Patches(AnswerView):
    """The answer of a search as manifests."""

    @extend_schema(
        operation_id="experiments_patches",
        responses={(200, "application/yaml"): OpenApiTypes.STR},
    )
    def get(self, request: Request, experiment_id: str) -> HttpResponse:
        """Return the answer as manifests for `kubectl apply -f`."""
        _, answer = self.found(experiment_id)
        kind = "application/yaml; charset=utf-8"
        return saved(f"{experiment_id}.yaml", answer.patches, kind)


class MarkdownReport(AnswerView):
    """The answer of a search as Markdown."""

    @extend_schema(
        operation_id="experiments_report_markdown",
        responses={(200, "text/markdown"): OpenApiTypes.STR},
    )
    def get(self, request: Request, experiment_id: str) -> HttpResponse:
        """Return the report of an answer as Markdown."""
        experiment, answer = self.found(experiment_id)
        text = markdown_of(answer, experiment.title)
        return saved(f"{experiment_id}.md", text, "text/markdown; charset=utf-8")


class HtmlReport(AnswerView):
    """The answer of a search as one HTML file."""

    @extend_schema(
        operation_id="experiments_report_html",
        responses={(200, "text/html"): OpenApiTypes.STR},
    )
    def get(self, request: Request, experiment_id: str) -> HttpResponse:
        """Return the report of an answer as one HTML file."""
        experiment, answer = self.found(experiment_id)
        text = html_of(answer, experiment.title)
        return saved(f"{experiment_id}.html", text, "text/html; charset=utf-8")
