"""One decision in a page of others, by a link of its own."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Event
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


def embed(busy, event: str):
    return actions.do_share(
        busy.owner, busy.pk, may_fork=False, event=event, expires_at=None
    )


@pytest.fixture
def link(busy):
    tick(busy, 15)
    event = Event.objects.filter(sandbox=busy, type="Preempt").first()
    return busy, *embed(busy, f"{event.revision}.{event.seq}")


def opened(secret: str):
    body = {"secret": secret}
    return Client().post("/api/v1/embeds/open", body, content_type="application/json")


def test_a_link_shows_its_decision_to_nobody_in_particular(link):
    answer = opened(link[2])
    assert answer.status_code == 200
    assert answer.json()["frames"]
    assert "Set-Cookie" not in answer.headers


def test_a_link_that_was_taken_back_shows_nothing(link):
    busy, made, secret = link
    actions.do_unshare(busy.owner, busy.pk, made.pk)
    assert opened(secret).status_code == 404


def test_the_link_of_a_decision_opens_no_sandbox_and_that_of_a_sandbox_no_decision(
    link, stranger
):
    busy, _, secret = link
    _, whole = actions.do_share(busy.owner, busy.pk, may_fork=True, expires_at=None)
    client = APIClient()
    client.force_authenticate(stranger)
    by_embed = client.post("/api/v1/shares/open", {"secret": secret}, format="json")
    assert by_embed.status_code == 404
    assert opened(whole).status_code == 404


def test_an_event_of_a_link_is_a_revision_and_a_number(busy, call):
    made = call("post", busy, "/shares", {"event": "seventeen"})
    assert made.status_code == 422
    assert call("post", busy, "/shares", {"event": "1.0"}).json()["event"] == "1.0"


def test_a_classroom_at_one_address_sees_a_film_that_is_made_once(link, settings):
    few = {"requests_per_minute_joins": 2, "requests_per_minute_explanations": 1}
    settings.LIMITS = {**settings.LIMITS, **few}
    asked = [opened(link[2]) for _ in range(5)]
    assert [one.status_code for one in asked] == [200] * 5
    assert {one.content for one in asked} == {asked[0].content}


def test_links_cannot_be_tried_without_end(link, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_joins": 2}
    tries = [opened(f"wrong{n}") for n in range(3)]
    assert [one.status_code for one in tries] == [404, 404, 429]


def test_films_that_are_made_are_counted(link, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_explanations": 1}
    busy, _, secret = link
    first, other = opened(secret), opened(embed(busy, "1.0")[1])
    assert (first.status_code, other.status_code) == (200, 429)
    assert int(other.headers["Retry-After"]) > 0


def test_only_the_page_of_a_link_may_be_framed_by_others(db):
    embedded, page = Client().get("/embed"), Client().get("/")
    assert "frame-ancestors *" in embedded.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded.headers
    assert not embedded.cookies
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
