"""Small experiments on small worlds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from sandbox.experiments import actions
from sandbox.models import Experiment
from tests.builders import job, small_cluster
from tests.sandbox.conftest import text_of


def world_text(jobs: int = 9) -> str:
    """Return a queue of four CPUs, and jobs whose lengths follow the seed."""
    work = [
        job(f"job-{n}", queue="main", cpu=1 + n % 3, arrival=f"{n}s", runtime="exp(9s)")
        for n in range(jobs)
    ]
    return text_of(*small_cluster(cpu=4), *work)


FAIR = {
    "name": "fair",
    "policy": {"kueue": {"fairSharing": {"preemptionStrategies": []}}},
}


def document_of(**spec: Any) -> dict[str, Any]:
    """Return an experiment of two variants and two seeds."""
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "spec": {
            "base": {"files": ["world.yaml"]},
            "title": "Twice the arrivals",
            "seeds": {"count": 2},
            "horizon": "2m",
            "variants": [{"name": "usual"}, {"name": "double", "arrivals": 2}],
            **spec,
        },
    }


@pytest.fixture
def start(person: User) -> Callable[..., Experiment]:
    """Return a function that starts an experiment; nobody works on it yet."""

    def start_it(*, jobs: int = 9, **spec: Any) -> Experiment:
        files = {"world.yaml": world_text(jobs)}
        return actions.do_start(person, document_of(**spec), files=files)

    return start_it


def again(experiment: Experiment) -> Experiment:
    """Return the experiment as stored now."""
    return Experiment.objects.get(pk=experiment.pk)
