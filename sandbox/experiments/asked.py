"""Questions about experiments, as a worker answers them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from sandbox.answers.work import answers
from sandbox.experiments import actions as experiments
from sandbox.experiments.comparing import compare_runs


@answers("estimate")
def _estimate(*, user: int, document: Any, files: Any) -> Any:
    return experiments.do_estimate(User.objects.get(pk=user), document, files=files)


@answers("runs")
def _runs(*, user: int, experiment: str, numbers: Any, **asked: Any) -> Any:
    found = experiments.visible(User.objects.get(pk=user), experiment)
    return compare_runs(found, numbers, **asked)
