"""The default run and its page: nobody else drives it, and it loads nothing foreign."""

from __future__ import annotations

import ipaddress
import re
import urllib.error
import urllib.request

import psutil
import pytest
from django.contrib.auth.models import User
from django.test import Client
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.services.default_run import DefaultRun

pytestmark = [pytest.mark.django_db]
PATHS = ("/", "/s/abc", "/account", "/api/v1/me", "/api/v1/nowhere", "/healthz")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::2]"])
def test_a_name_that_resolves_to_this_machine_opens_nothing(path, host):
    """DNS rebinding: the address is ours, and the name is not."""
    if path == "/healthz":
        pytest.skip("says nothing but that it lives")
    assert Client().get(path, HTTP_HOST=host).status_code == 400


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_says_what_it_may_be_used_for(path):
    sent = Client().get(path).headers
    assert "default-src 'none'" in sent["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in sent["Content-Security-Policy"]
    assert sent["X-Frame-Options"] == "DENY"
    assert sent["X-Content-Type-Options"] == "nosniff"
    assert sent["Referrer-Policy"] == "same-origin"
    assert sent["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/sign-in"])
def test_a_page_holds_no_script_or_style_of_its_own(path, settings):
    settings.SERVER = path == "/sign-in"
    html = Client().get(path).content.decode()
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", html) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", html) == []
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", html) == []


def test_a_session_changes_nothing_without_its_token(settings):
    """CSRF: a form of another page has the cookie and not the token."""
    settings.SERVER = True
    User.objects.create_user("vera", password="a long pass phrase")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get())
    asked = {"data": "{}", "content_type": "application/json"}
    assert client.post("/api/v1/sandboxes", **asked).status_code == 403
    assert client.post("/sign-out").status_code == 403
    client.get("/")
    token = client.cookies["csrftoken"].value
    done = client.post("/api/v1/sandboxes", headers={"x-csrftoken": token}, **asked)
    assert done.status_code == 201


def test_cookies_are_for_this_site_and_out_of_scripts_reach(settings):
    settings.SERVER = True
    user = User.objects.create_user("vera", password="a long pass phrase")
    client = Client()
    form = {"username": user.username, "password": "a long pass phrase"}
    client.post("/sign-in", form)
    session = client.cookies["sessionid"]
    assert (session["httponly"], session["samesite"]) == (True, "Lax")


# ------------------------------------------------------------- the run as users start it


def test_it_listens_to_this_machine_alone(shared_run: DefaultRun):
    found = [shared_run.process, *shared_run.family()]
    heard = [
        ipaddress.ip_address(line.laddr.ip)
        for process in found
        for line in process.net_connections("inet")
        if line.status == psutil.CONN_LISTEN
    ]
    assert heard
    assert all(address.is_loopback for address in heard)


def test_a_page_of_another_origin_drives_nothing(shared_run: DefaultRun):
    request = urllib.request.Request(
        f"{shared_run.url}/api/v1/sandboxes",
        data=b"{}",
        headers={"Content-Type": "text/plain", "Origin": "https://evil.example"},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    assert refused.value.code == 403
    refused.value.close()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, "https://evil.example"),
        (None, "http://127.0.0.1:9"),
        ("evil.example", "http://evil.example"),
        (None, "null"),
    ],
    ids=["another site", "another port", "a name that resolves here", "no origin"],
)
def test_a_socket_is_not_opened_for(shared_run: DefaultRun, host, origin):
    made = shared_run.post("/api/v1/sandboxes", {"title": "mine"})
    address = shared_run.url.replace("http", "ws")
    port = address.rpartition(":")[2]
    headers = {"Host": f"{host}:{port}"} if host else {}
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(
            f"{address}/ws/sandboxes/{made['id']}",
            origin=origin,
            additional_headers=headers,
        ),
    ):
        pass
    assert refused.value.response.status_code in (400, 403)
