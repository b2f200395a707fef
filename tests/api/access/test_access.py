"""Signing in, tokens, links, members: how access is given and taken back."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.test import override_settings as with_settings
from django.utils import timezone
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.base.errors import ForbiddenError
from sandbox.models import Audit, Token
from tests.builders import flavor

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def server():
    with with_settings(SERVER=True):
        yield


@pytest.fixture
def vera(db) -> User:
    return User.objects.create_user("vera", password="a long pass phrase")


@pytest.fixture
def as_(vera):
    """A client signed in as somebody."""

    def sign_in(user: User | None) -> APIClient:
        client = APIClient()
        client.force_authenticate(user)
        return client

    return sign_in


def test_an_editor_changes_the_world_and_not_who_is_let_in(server, busy, as_, vera):
    actions.do_member(busy.owner, busy.pk, "vera", "editor")
    client = as_(vera)
    url = f"/api/v1/sandboxes/{busy.pk}"
    assert client.post(f"{url}/actions/speed", {"speed": 2}).status_code == 200
    assert client.patch(url, {"title": "Ours"}, format="json").status_code == 200
    busy.refresh_from_db()
    assert busy.title == "Ours"
    assert client.delete(f"{url}/objects/ClusterQueue/-/a").status_code == 200
    for method, path, body in (
        ("patch", "", {"visibility": "public"}),
        ("delete", "", {}),
        ("get", "/members", {}),
        ("post", "/shares", {}),
        ("get", "/audit", {}),
    ):
        answer = getattr(client, method)(url + path, body, format="json")
        assert answer.status_code == 403, path


def test_what_an_editor_may_not_change_is_changed_in_no_part(server, busy, as_, vera):
    actions.do_member(busy.owner, busy.pk, "vera", "editor")
    body = {"title": "mine", "visibility": "public"}
    assert as_(vera).patch(f"/api/v1/sandboxes/{busy.pk}", body).status_code == 403
    busy.refresh_from_db()
    assert (busy.title != "mine", busy.visibility) == (True, "private")


def test_the_list_holds_what_one_may_see_and_no_more(server, busy, make, as_, vera):
    make(flavor(), title="hidden")
    actions.do_member(busy.owner, busy.pk, "vera", "viewer")
    items = as_(vera).get("/api/v1/sandboxes").json()["items"]
    assert [item["id"] for item in items] == [busy.pk]


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("read", {"read"}),
        ("write", {"read", "write"}),
        ("admin", {"read", "write", "admin"}),
    ],
)
def test_a_token_reaches_as_far_as_its_scope(server, busy, scope, allowed):
    _, secret = actions.do_token(busy.owner, name="t", scope=scope, expires_at=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    url = f"/api/v1/sandboxes/{busy.pk}"
    codes = {
        "read": client.get(url).status_code,
        "write": client.post(f"{url}/actions/speed", {"speed": 2}).status_code,
        "admin": client.get(f"{url}/members").status_code,
    }
    assert {name for name, code in codes.items() if code == 200} == allowed
    assert set(codes.values()) <= {200, 403}


def test_an_expired_or_revoked_token_opens_nothing(server, busy):
    token, secret = actions.do_token(
        busy.owner, name="t", scope="read", expires_at=None
    )
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert client.get("/api/v1/me").json()["user"] == busy.owner.username
    past = timezone.now() - datetime.timedelta(seconds=1)
    Token.objects.update(expires_at=past)
    assert client.get("/api/v1/me").status_code == 401
    Token.objects.update(expires_at=None)
    actions.do_revoke(busy.owner, token.pk)
    assert client.get("/api/v1/me").status_code == 401


def test_a_token_makes_none_that_outlives_it(server, busy):
    end = timezone.now() + datetime.timedelta(hours=1)
    _, secret = actions.do_token(busy.owner, name="t", scope="admin", expires_at=end)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")

    def ask(**given: object) -> Any:
        return client.post("/api/v1/tokens", {"name": "n", **given}, format="json")

    ask()
    ask(expiresAt=end - datetime.timedelta(minutes=5))
    longest = Token.objects.order_by("expires_at").last()
    assert (Token.objects.count(), longest.expires_at) == (3, end)
    refused = ask(expiresAt=end + datetime.timedelta(seconds=1))
    assert refused.status_code == 422
    assert refused.json()["details"]["causes"][0]["field"] == "expiresAt"


def test_a_revoked_token_takes_along_what_was_made_with_it(server, busy, as_):
    """Those made with these too; what a person made at a page stays."""
    kept, _ = actions.do_token(busy.owner, name="own", scope="read", expires_at=None)
    first, secret = actions.do_token(
        busy.owner, name="first", scope="admin", expires_at=None
    )
    secrets = [secret]
    for name in ("second", "third"):
        client = APIClient(headers={"authorization": f"Bearer {secrets[-1]}"})
        body = {"name": name, "scope": "admin"}
        secrets.append(client.post("/api/v1/tokens", body).json()["token"])
    items = as_(busy.owner).get("/api/v1/tokens").json()["items"]
    made_with = {item["name"]: item["madeWith"] for item in items}
    assert made_with == {"own": "", "first": "", "second": "first", "third": "second"}
    actions.do_revoke(busy.owner, first.pk)
    assert list(Token.objects.all()) == [kept]
    for secret in secrets:
        client = APIClient(headers={"authorization": f"Bearer {secret}"})
        assert client.get("/api/v1/me").status_code == 401
    revoked = Audit.objects.filter(action="revoke").order_by("subject")
    assert [line.subject for line in revoked] == ["first", "second", "third"]


def test_a_token_that_was_revoked_meanwhile_makes_none(server, busy):
    asking, _ = actions.do_token(busy.owner, name="a", scope="admin", expires_at=None)
    actions.do_revoke(busy.owner, asking.pk)
    with pytest.raises(ForbiddenError, match="was revoked"):
        actions.do_token(
            busy.owner, name="b", scope="read", expires_at=None, asked_with=asking
        )


def test_secrets_are_kept_as_hashes_only(client):
    made = client.post("/api/v1/tokens", {"name": "ci", "scope": "write"}).json()
    kept = Token.objects.get().hash
    assert made["token"] not in (kept, str(Token.objects.values().get()))
    listed = client.get("/api/v1/tokens").json()["items"][0]
    assert "token" not in listed


def test_a_link_to_look_is_not_one_to_fork(server, busy, as_, vera):
    _, look = actions.do_share(busy.owner, busy.pk, may_fork=False, expires_at=None)
    link, fork = actions.do_share(busy.owner, busy.pk, may_fork=True, expires_at=None)
    client, url = as_(vera), f"/api/v1/sandboxes/{busy.pk}"
    client.post("/api/v1/shares/open", {"secret": look}, format="json")
    assert client.get(url).json()["role"] == "viewer"
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 403
    client.post("/api/v1/shares/open", {"secret": fork}, format="json")
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 201
    actions.do_unshare(busy.owner, busy.pk, link.pk)
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 403


def test_a_link_taken_back_opens_nothing(server, busy, as_, vera):
    link, secret = actions.do_share(
        busy.owner, busy.pk, may_fork=False, expires_at=None
    )
    client = as_(vera)
    client.post("/api/v1/shares/open", {"secret": secret}, format="json")
    actions.do_unshare(busy.owner, busy.pk, link.pk)
    assert client.get(f"/api/v1/sandboxes/{busy.pk}").status_code == 404
    again = client.post("/api/v1/shares/open", {"secret": secret}, format="json")
    assert again.status_code == 404


def test_who_was_let_in_and_out_is_in_the_log(busy, vera, call):
    actions.do_member(busy.owner, busy.pk, "vera", "viewer")
    actions.do_unmember(busy.owner, busy.pk, "vera")
    lines = call("get", busy, "/audit").json()["items"]
    assert [line["action"] for line in lines] == ["unmember", "member"]
    assert Audit.objects.count() == 2


def test_signing_in_leads_to_where_one_wanted_to_be(server, vera):
    client = Client()
    asked = client.get("/s/abc")
    assert (asked.status_code, asked["Location"]) == (302, "/sign-in?next=%2Fs%2Fabc")
    form = {"username": "vera", "password": "a long pass phrase", "next": "/s/abc"}
    done = client.post("/sign-in", form)
    assert (done.status_code, done["Location"]) == (302, "/s/abc")
    assert client.get("/api/v1/me").json()["user"] == "vera"
    client.post("/sign-out")
    assert client.get("/api/v1/me").status_code == 401


def test_signing_in_leads_to_no_other_site(server, vera):
    form = {"username": "vera", "password": "a long pass phrase"}
    done = Client().post("/sign-in", {**form, "next": "https://evil.example/"})
    assert done["Location"] == "/"


def test_too_many_tries_must_wait(server, vera, settings):
    settings.LIMITS = {**settings.LIMITS, "sign_ins_per_minute": 2}
    settings.CACHES = {
        **settings.CACHES,
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": "tries",
        },
    }
    wrong = {"username": "vera", "password": "guess"}
    codes = [Client().post("/sign-in", wrong).status_code for _ in range(3)]
    assert codes == [401, 401, 429]
