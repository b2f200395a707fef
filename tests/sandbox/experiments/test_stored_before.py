"""Experiments that an older version stored."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model

from sandbox.models import Experiment

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def ended(**answer: str) -> str:
    owner = get_user_model().objects.get_or_create(username="kim")[0]
    made = Experiment.objects.create(
        owner=owner,
        document={},
        plan={},
        base=b"",
        total=0,
        state=Experiment.DONE,
        answer=answer,
    )
    return made.pk


def test_a_search_without_an_answer_is_said_to_have_failed():
    failed, answered, plain = ended(error="no"), ended(verdict="improved"), ended()
    import_module("sandbox.migrations.0014_failed_searches").say_failed(apps, None)
    states = dict(Experiment.objects.values_list("pk", "state"))
    assert states == {failed: "failed", answered: "done", plain: "done"}
