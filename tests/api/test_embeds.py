"""One decision in a page of others, by a link."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from sandbox import actions
from sandbox.models import Event
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


@pytest.fixture
def link(busy):
    tick(busy, 15)
    event = Event.objects.filter(sandbox=busy, type="Preempt").first()
    made, secret = actions.do_share(
        busy.owner, busy.pk, may_fork=False, expires_at=None
    )
    return busy, made, f"{secret}/{event.revision}.{event.seq}"


def test_a_link_shows_its_decision_to_nobody_in_particular(link):
    _, _, path = link
    answer = Client().get(f"/api/v1/embeds/{path}/film")
    assert answer.status_code == 200
    assert answer.json()["frames"]
    assert "Set-Cookie" not in answer.headers


def test_a_link_that_was_taken_back_shows_nothing(link):
    busy, made, path = link
    actions.do_unshare(busy.owner, busy.pk, made.pk)
    assert Client().get(f"/api/v1/embeds/{path}/film").status_code == 404


def test_a_classroom_at_one_address_sees_a_film_that_is_made_once(link, settings):
    few = {"requests_per_minute_joins": 2, "requests_per_minute_explanations": 1}
    settings.LIMITS = {**settings.LIMITS, **few}
    _, _, path = link
    asked = [Client().get(f"/api/v1/embeds/{path}/film") for _ in range(5)]
    assert [one.status_code for one in asked] == [200] * 5
    assert {one.content for one in asked} == {asked[0].content}


def test_links_cannot_be_tried_without_end(link, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_joins": 2}
    place = link[2].split("/")[1]
    tries = [Client().get(f"/api/v1/embeds/wrong{n}/{place}/film") for n in range(3)]
    assert [one.status_code for one in tries] == [404, 404, 429]


def test_films_that_are_made_are_counted(link, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_explanations": 1}
    _, _, path = link
    first = Client().get(f"/api/v1/embeds/{path}/film")
    place = path.split("/")[1]
    other = Client().get(f"/api/v1/embeds/{path.replace(place, '1.0')}/film")
    assert (first.status_code, other.status_code) == (200, 429)
    assert int(other.headers["Retry-After"]) > 0


def test_only_the_page_of_a_link_may_be_framed_by_others(link):
    _, _, path = link
    embedded, page = Client().get(f"/embed/{path}"), Client().get("/")
    assert "frame-ancestors *" in embedded.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded.headers
    assert not embedded.cookies
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
