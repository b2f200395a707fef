"""A secret opens what it is for. It stands in no path, no log, no refusal and no row."""

from __future__ import annotations

import logging
import re

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.urls import get_resolver
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.access.people import owner_link
from sandbox.base.logs import JsonLine
from tests.api.access.test_permissions import PASSWORD, cases, walk

pytestmark = pytest.mark.django_db(transaction=True)

SECRET_NAMES = re.compile(r"secret|token(?!_id)|password|key|code|once")
#: Route -> the field of its body that is a secret.
OPENED_BY = {
    "/api/v1/shares/open": "secret",
    "/api/v1/embeds/open": "secret",
    "/api/v1/lessons/join": "code",
    "/sign-in": "password",
}

#: What would end the sandbox, or the token, that the rest is asked with.
ENDING = ("<str:sandbox_id>", "actions/archive", "<int:token_id>")


class Secrets:
    """What was given out, and where it was found since."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.found: set[tuple[str, str]] = set()

    def new(self, text: str) -> str:
        self.texts.append(text)
        return text

    def look(self, place: str, text: str) -> None:
        if any(one in text for one in self.texts):
            self.found.add((place, text[:200]))


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture(autouse=True)
def _logs(secrets):
    """Read every line of every logger, with all that its caller attached."""

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            secrets.look(f"log of {record.name}", JsonLine().format(record))

    reader, root = Reader(), logging.getLogger()
    before = root.level
    root.addHandler(reader)
    root.setLevel(logging.DEBUG)
    yield
    root.removeHandler(reader)
    root.setLevel(before)


def test_no_path_takes_a_secret():
    routes = {route for _, route in walk(get_resolver().url_patterns)}
    named = {name for route in routes for name in re.findall(r"<\w+:(\w+)>", route)}
    assert named
    assert not {name for name in named if SECRET_NAMES.search(name)}


def test_every_route_keeps_the_token_of_a_request_to_itself(
    server, quiet, secrets, settings
):
    settings.LIMITS = dict.fromkeys(settings.LIMITS, 0)
    settings.ANSWER_WAIT_S = 0
    token, secret = actions.do_token(
        quiet.owner, name="ci", scope="admin", expires_at=None
    )
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secrets.new(secret)}"}
    for case in cases():
        if case.method == "any" or case.route.endswith(ENDING):
            continue
        asked = APIClient(**bearer, raise_request_exception=False)
        answer = case.send(asked, quiet.pk)
        if not answer.streaming:
            content = answer.content.decode("latin-1")
            secrets.look(f"{case.method} {case.route}", content)
    actions.do_revoke(quiet.owner, token.pk)
    APIClient(**bearer).get("/api/v1/me")
    in_rows(secrets)
    assert not secrets.found


@pytest.mark.parametrize("path", OPENED_BY)
@pytest.mark.parametrize("shape", ["text", "list", "long"])
def test_what_opens_something_is_in_no_log_whether_it_fits_or_not(
    server, quiet, stranger, secrets, path, shape
):
    link, secret = actions.do_share(
        quiet.owner, quiet.pk, may_fork=False, expires_at=None
    )
    _, event = actions.do_share(
        quiet.owner, quiet.pk, may_fork=False, event="1.0", expires_at=None
    )
    client, codes = APIClient(raise_request_exception=False), set()
    if path != "/sign-in":
        client.force_authenticate(stranger)
    for given in map(secrets.new, (secret, event, PASSWORD)):
        shaped = {"list": [given], "long": given * 40}.get(shape, given)
        body = {OPENED_BY[path]: shaped}
        if path == "/sign-in":
            codes.add(client.post(path, {"username": "vera", **body}).status_code)
        else:
            codes.add(client.post(path, body, format="json").status_code)
    if shape == "text" and path.startswith("/api/v1/shares"):
        assert codes == {200, 404}
    actions.do_unshare(quiet.owner, quiet.pk, link.pk)
    in_rows(secrets)
    assert not secrets.found


def test_the_link_of_the_terminal_is_in_no_log(settings, secrets, db):
    settings.LAN = "127.0.0.1"
    link = owner_link.open("http://127.0.0.1:8000", lambda _said: None)
    once = secrets.new(link.partition("once=")[2])
    client = APIClient()
    client.get(f"/sign-in?once={once}")
    client.put(f"/sign-in?once={once}")
    client.post("/sign-in", {"once": once})
    client.post("/sign-in", {"once": once})
    in_rows(secrets)
    assert not secrets.found


def in_rows(secrets: Secrets) -> None:
    """Look for the secrets in every column of every table but that of sessions."""
    for model in apps.get_models():
        if model is not Session:
            for row in model._default_manager.values():
                secrets.look(model._meta.label, repr(row))
