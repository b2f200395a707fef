"""Signing in at a provider of OpenID Connect: who comes in, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from joserfc.jwk import RSAKey

from api import openid
from api.openid import ProviderUnavailableError
from sandbox.base import environment
from sandbox.models import Audit, Identity
from tests.services.provider import CLIENT, SECRET, running_provider

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def oidc(provider, settings, monkeypatch):
    """The server run, with the provider set up by its variables."""
    monkeypatch.setenv("OIDC_ISSUER", provider.issuer)
    monkeypatch.setenv("OIDC_CLIENT_ID", CLIENT)
    monkeypatch.setenv("OIDC_CLIENT_SECRET", SECRET)
    monkeypatch.setenv("OIDC_NAME", "Example Works")
    settings.SERVER = True
    settings.LIMITS = {**settings.LIMITS, "sign_ins_per_minute": 0}
    settings.OIDC = environment.provider()
    return provider


def leave(client: Client, target: str = "/s/abc") -> str:
    """Begin at our page; return the address that the provider sends back to."""
    there = client.get("/sign-in/provider", {"next": target})
    assert there.status_code == 302
    sent = requests.get(there["Location"], allow_redirects=False, timeout=5)
    return sent.headers["Location"]


def come_back(client: Client, where: str):
    parts = urlsplit(where)
    return client.get(f"{parts.path}?{parts.query}")


def sign_in(client: Client):
    return come_back(client, leave(client))


def test_who_comes_from_the_provider_is_signed_in_where_they_wanted_to_be(oidc):
    client = Client()
    done = sign_in(client)
    assert (done.status_code, done["Location"]) == (302, "/s/abc")
    assert client.get("/api/v1/me").json()["user"] == "ada"
    user = User.objects.get(username="ada")
    assert (user.email, user.has_usable_password()) == ("ada@example.org", False)
    lines = list(Audit.objects.values_list("action", flat=True))
    assert lines == ["sign-in", "first-sign-in"]


def test_the_same_subject_is_the_same_user_by_another_name(oidc):
    sign_in(Client())
    oidc.person = {"sub": "1001", "preferred_username": "ada.lovelace"}
    client = Client()
    sign_in(client)
    assert client.get("/api/v1/me").json()["user"] == "ada"


def test_a_name_that_is_taken_is_not_taken_over(oidc):
    User.objects.create_user("ada", "ada@example.org", "a long pass phrase")
    client = Client()
    sign_in(client)
    assert client.get("/api/v1/me").json()["user"] == "ada-2"


def test_the_way_there_carries_state_nonce_and_a_challenge(oidc):
    there = Client().get("/sign-in/provider")
    asked = parse_qs(urlsplit(there["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert all(len(asked[name][0]) > 15 for name in ("state", "nonce"))
    assert asked["redirect_uri"] == ["http://testserver/sign-in/provider/back"]


def test_a_target_on_another_site_is_not_gone_to(oidc):
    client = Client()
    done = come_back(client, leave(client, "https://evil.example/"))
    assert done["Location"] == "/"


OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, private=True)
HOUR = 3600


@pytest.mark.parametrize(
    "twist",
    [
        pytest.param({"nonce": "another"}, id="wrong nonce"),
        pytest.param({"nonce": None}, id="no nonce"),
        pytest.param({"nonce": None, "nonce_supported": False}, id="nonce denied"),
        pytest.param({"aud": "another-client"}, id="wrong audience"),
        pytest.param({"aud": None}, id="no audience"),
        pytest.param({"aud": "another", "azp": CLIENT}, id="audience of another"),
        pytest.param({"iss": "https://evil.example"}, id="wrong issuer"),
        pytest.param({"exp": int(time.time()) - HOUR}, id="expired"),
        pytest.param({"exp": None}, id="no expiry"),
        pytest.param({"iat": int(time.time()) + HOUR}, id="from the future"),
        pytest.param({"sub": None}, id="nobody"),
        pytest.param({"at_hash": "bm90IHRoaXMgdG9rZW4"}, id="another access token"),
    ],
)
def test_a_token_is_refused_with(oidc, twist):
    oidc.twist = twist
    client = Client()
    assert sign_in(client).status_code == 401
    assert client.get("/api/v1/me").status_code == 401
    assert not Identity.objects.exists()


def test_a_token_signed_by_another_key_is_refused(oidc):
    oidc.signed_with = OTHER_KEY
    assert sign_in(Client()).status_code == 401


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_that_anybody_could_have_made_is_refused(oidc, algorithm):
    def text(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    def forged(asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {"iss": oidc.issuer, "aud": CLIENT, "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], "sub": "1001"}
        head = text(json.dumps({"alg": algorithm, "kid": "one"}).encode())
        body = f"{head}.{text(json.dumps(claims).encode())}"
        key = oidc.key.as_pem(private=False)
        mac = hmac.new(key, body.encode(), hashlib.sha256).digest()
        return f"{body}.{text(mac) if algorithm == 'HS256' else ''}"

    oidc.id_token = forged
    assert sign_in(Client()).status_code == 401


def test_a_state_that_was_not_given_here_is_refused(oidc):
    where = leave(Client())
    somebody = Client()
    somebody.get("/sign-in")
    assert come_back(somebody, where).status_code == 401


def test_a_way_back_is_gone_once(oidc):
    client = Client()
    where = leave(client)
    assert come_back(client, where).status_code == 302
    assert come_back(Client(), where).status_code == 401
    assert come_back(client, where).status_code == 401


def test_a_code_without_its_verifier_buys_nothing(oidc):
    client = Client()
    where = leave(client)
    state = parse_qs(urlsplit(where).query)["state"][0]
    session = client.session
    name = f"_state_provider_{state}"
    kept = session[name]
    kept["data"]["code_verifier"] = "stolen-code-has-no-verifier"
    session[name] = kept
    session.save()
    assert come_back(client, where).status_code == 401


def test_userinfo_about_somebody_else_is_refused(oidc):
    oidc.about = "2002"
    assert sign_in(Client()).status_code == 401


def test_a_provider_that_says_no_is_believed(oidc):
    client = Client()
    leave(client)
    no = client.get("/sign-in/provider/back", {"error": "access_denied", "state": "x"})
    assert no.status_code == 401


def test_a_provider_by_another_name_is_not_gone_to(oidc, monkeypatch):
    found = {**oidc.metadata(), "issuer": "https://evil.example"}
    monkeypatch.setattr(oidc, "metadata", lambda: found)
    assert Client().get("/sign-in/provider").status_code == 502


@pytest.mark.parametrize("name", ["token_endpoint", "userinfo_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/latest", "http://8.8.4.4/keys", "https://[::1]/"]
)
def test_an_address_of_a_provider_that_points_inside_is_not_asked(name, url):
    issuer = "https://8.8.8.8"
    with pytest.raises(ProviderUnavailableError, match=name):
        openid.check_addresses(issuer, {name: url})


def test_a_provider_may_have_more_hosts_and_one_inside_may_name_others_inside():
    openid.check_addresses("https://8.8.8.8", {"jwks_uri": "https://8.8.4.4/keys"})
    openid.check_addresses("https://10.0.0.1", {"jwks_uri": "https://10.0.0.2/keys"})


@pytest.mark.parametrize(
    "path", ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"]
)
def test_an_address_that_a_provider_redirects_to_is_not_asked(oidc, path):
    with running_provider() as inside:
        client = Client()
        there = leave(client)
        oidc.moved[path] = inside.issuer + path
        assert come_back(client, there).status_code == 502
        assert inside.asked == []


def test_a_provider_that_is_away_is_said_to_be_away(oidc, settings, monkeypatch):
    monkeypatch.setenv("OIDC_ISSUER", "http://127.0.0.1:9")
    settings.OIDC = environment.provider()
    answer = Client().get("/sign-in/provider")
    assert answer.status_code == 502
    assert "does not answer" in answer.content.decode()


def test_a_key_that_was_changed_needs_no_restart(oidc):
    sign_in(Client())
    fresh = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"}, private=True)
    oidc.key = oidc.signed_with = fresh
    assert sign_in(Client()).status_code == 401  # still named by the old one's id
    oidc.key = oidc.signed_with = OTHER_KEY
    assert sign_in(Client()).status_code == 302


def test_groups_decide_who_comes_in_and_who_is_staff(oidc, settings, monkeypatch):
    monkeypatch.setenv("OIDC_GROUPS", "engineers, staff")
    monkeypatch.setenv("OIDC_STAFF_GROUPS", "staff")
    settings.OIDC = environment.provider()
    sign_in(Client())
    assert User.objects.get(username="ada").is_staff
    oidc.more = {"groups": ["engineers"]}
    sign_in(Client())
    assert not User.objects.get(username="ada").is_staff
    oidc.more = {"groups": ["visitors"]}
    assert sign_in(Client()).status_code == 403


def test_who_was_switched_off_here_stays_out(oidc):
    sign_in(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert sign_in(client).status_code == 403
    assert client.get("/api/v1/me").status_code == 401


def test_signing_out_offers_to_leave_the_provider_too(oidc):
    client = Client()
    sign_in(client)
    left = client.post("/sign-out")
    assert f"{oidc.issuer}/logout?id_token_hint=" in left.content.decode()
    assert client.get("/api/v1/me").status_code == 401
    assert client.post("/sign-out")["Location"] == "/sign-in"


def test_too_many_ways_there_must_wait(oidc, settings):
    settings.LIMITS = {**settings.LIMITS, "sign_ins_per_minute": 1}
    codes = [Client().get("/sign-in/provider").status_code for _ in range(2)]
    assert 429 in codes


def test_the_button_is_there_only_when_a_provider_is(oidc, settings):
    assert "Sign in at Example Works" in Client().get("/sign-in").content.decode()
    settings.OIDC = None
    assert "provider" not in Client().get("/sign-in").content.decode()
    assert Client().get("/sign-in/provider").status_code == 404
    assert Client().get("/sign-in/provider/back").status_code == 404


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"OIDC_ISSUER": "http://id.example.org", "OIDC_CLIENT_ID": "x"}, "https"),
        ({"OIDC_ISSUER": "https://id.example.org"}, "OIDC_CLIENT_ID"),
    ],
    ids=["plain HTTP to elsewhere", "no client"],
)
def test_a_provider_that_is_half_set_up_is_reported(monkeypatch, variables, problem):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=problem):
        environment.provider()
