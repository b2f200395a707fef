"""Searches: estimated, ended early, and handed over as patches and reports."""

from __future__ import annotations

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.renderers import OneShape, StorableJSONParser, YAMLTextParser
from api.serializers import advice
from api.serializers import experiments as bodies
from api.views.experiments import ExperimentView
from api.views.explaining import COSTLY
from sandbox.base.denials import NotNow
from sandbox.base.errors import ConflictError
from sandbox.experiments import actions
from sandbox.models import Experiment
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.reports.markdown import markdown_of
from scheduler.analysis.advice.reports.page import html_of
from scheduler.model.problems.library import plain_word


class Estimate(ExperimentView):
    """What a search would take."""

    throttle_classes = COSTLY  # a few runs are tried
    parser_classes = (StorableJSONParser, YAMLTextParser)
    scope = "read"  # a copy is run, and nothing is stored

    @extend_schema(
        operation_id="experiments_estimate",
        request={"application/json": bodies.StartSerializer, "application/yaml": str},
        responses=advice.AdviceEstimateSerializer,
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

    def text(self, text: str, kind: str, name: str) -> HttpResponse:
        """Return a text to be saved under a name."""
        return HttpResponse(
            text,
            content_type=f"{kind}; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class Patches(AnswerView):
    """The answer of a search as manifests."""

    @extend_schema(
        operation_id="experiments_patches",
        responses={(200, "application/yaml"): OpenApiTypes.STR},
    )
    def get(self, request: Request, experiment_id: str) -> HttpResponse:
        """Return the answer as manifests for `kubectl apply -f`."""
        _, answer = self.found(experiment_id)
        return self.text(answer.patches, "application/yaml", f"{experiment_id}.yaml")


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
        return self.text(text, "text/markdown", f"{experiment_id}.md")


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
        return self.text(text, "text/html", f"{experiment_id}.html")
