"""The pictures of the scenarios are of the scenarios there are, and from runs."""

from __future__ import annotations

import pytest

from docs.written.pictures import picture_of
from sandbox.base import library
from sandbox.page.pictures import pictures

pytestmark = pytest.mark.django_db


def test_every_scenario_has_its_picture():
    assert set(pictures()) == set(library.names()), (
        "run python -m docs.written pictures"
    )


@pytest.mark.parametrize("name", ["classical-reclaim", "yunikorn-tenant-fences"])
def test_a_picture_is_what_a_run_shows(name):
    assert picture_of(name) == pictures()[name], (
        f"run python -m docs.written pictures {name}"
    )


def test_hardly_two_pictures_are_alike():
    found = [str(picture) for picture in pictures().values()]
    assert len(set(found)) > 0.9 * len(found)


def test_only_scenarios_that_lose_a_node_are_filed_under_failures():
    topics = {
        name: picture_of(name)["topics"] for name in ("kube-pools", "node-failure")
    }
    assert ["failures" in found for found in topics.values()] == [False, True]
