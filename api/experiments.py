"""The routes of experiments."""

from __future__ import annotations

from django.urls import path

from api.views import experiments
from api.views import experiments as views

_ALL = "experiments"
_ONE = "experiments/<str:experiment_id>"

urlpatterns = [
    path(_ALL, views.Experiments.as_view(), name="experiments"),
    path(
        f"{_ALL}/estimate", experiments.Estimate.as_view(), name="experiment-estimate"
    ),
    path(_ONE, views.OneExperiment.as_view(), name="experiment"),
    path(f"{_ONE}/cancel", views.Cancel.as_view(), name="experiment-cancel"),
    path(f"{_ONE}/take", experiments.Take.as_view(), name="experiment-take"),
    path(
        f"{_ONE}/patches.yaml", experiments.Patches.as_view(), name="experiment-patches"
    ),
    path(
        f"{_ONE}/report.md",
        experiments.MarkdownReport.as_view(),
        name="experiment-report-markdown",
    ),
    path(
        f"{_ONE}/report.html",
        experiments.HtmlReport.as_view(),
        name="experiment-report-html",
    ),
    path(f"{_ONE}/compare", views.CompareRuns.as_view(), name="experiment-compare"),
    path(f"{_ONE}/results", views.Results.as_view(), name="experiment-results"),
    path(f"{_ONE}/results.csv", views.ResultsCsv.as_view(), name="experiment-csv"),
    path(
        f"{_ONE}/runs/<int:run>/open", views.OpenRun.as_view(), name="experiment-open"
    ),
]
