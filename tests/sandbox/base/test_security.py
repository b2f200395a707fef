"""Security: which pages may change something here, and what ours may load."""

from __future__ import annotations

import json

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from sandbox.base.security import (
    headers,
    same_origin,
    welcome,
)

OURS = "http://127.0.0.1:8000"


def post(**sent: str) -> HttpResponse:
    request = RequestFactory().post("/x", headers={"host": "127.0.0.1:8000", **sent})
    return same_origin(lambda _: HttpResponse("done"))(request)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({}, id="a program that is no browser"),
        pytest.param({"origin": OURS}, id="our page"),
        pytest.param({"sec-fetch-site": "same-origin"}, id="our page, without Origin"),
        pytest.param({"sec-fetch-site": "none"}, id="typed by the user"),
    ],
)
def test_a_change_is_let_through_from(sent):
    assert post(**sent).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"origin": "https://evil.example"}, id="another site"),
        pytest.param({"origin": "http://127.0.0.1:9000"}, id="another local port"),
        pytest.param({"origin": "null"}, id="a page without origin"),
        pytest.param({"origin": "http://["}, id="no address at all"),
        pytest.param({"sec-fetch-site": "cross-site"}, id="a form of another site"),
        pytest.param({"sec-fetch-site": "same-site"}, id="a neighbouring name"),
    ],
)
def test_a_change_is_refused_from(sent):
    answer = post(**sent)
    assert answer.status_code == 403
    assert json.loads(answer.content)["kind"] == "Status"


def test_reading_is_open_to_the_browsers_own_rules():
    request = RequestFactory().get("/x", headers={"origin": "https://evil.example"})
    assert same_origin(lambda _: HttpResponse("read"))(request).status_code == 200


def test_no_script_or_style_may_stand_inside_the_page():
    answer = headers(lambda _: HttpResponse())(RequestFactory().get("/"))
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_no_answer_of_the_api_is_stored_or_given_to_somebody_else():
    answer = headers(lambda _: HttpResponse())(RequestFactory().get("/api/v1/me"))
    assert "no-store" in answer["Cache-Control"]
    assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))


def test_the_page_itself_may_be_kept():
    answer = headers(lambda _: HttpResponse())(RequestFactory().get("/"))
    assert "Cache-Control" not in answer


@pytest.mark.parametrize(
    ("handshake", "open_"),
    [
        pytest.param({b"host": b"127.0.0.1:8000"}, True, id="no browser"),
        pytest.param(
            {b"host": b"127.0.0.1:8000", b"origin": b"http://127.0.0.1:8000"},
            True,
            id="our page",
        ),
        pytest.param(
            {b"host": b"127.0.0.1:8000", b"origin": b"http://127.0.0.1:9000"},
            False,
            id="another local port",
        ),
        pytest.param(
            {b"host": b"127.0.0.1:8000", b"origin": b"https://evil.example"},
            False,
            id="another site",
        ),
        pytest.param(
            {b"host": b"127.0.0.1:8000", b"origin": b"http://["},
            False,
            id="no address at all",
        ),
        pytest.param(
            {b"host": b"evil.example:8000", b"origin": b"http://evil.example:8000"},
            False,
            id="a foreign name that resolves to this machine",
        ),
        pytest.param({}, False, id="no host"),
    ],
)
def test_a_socket_is_opened_for(settings, handshake, open_):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
    assert welcome(handshake) is open_
