"""A provider of OpenID Connect on loopback: real keys, real endpoints, real checks."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import secrets
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.services.loopback import Handler, served

CLIENT, SECRET = "quotalab-tests", "a secret of the tests' client"


@functools.cache
def first_key() -> RSAKey:
    """Return the key of every provider at its start; making one takes a while."""
    return RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, private=True)


class Provider(ThreadingHTTPServer):
    """Signs in `person` whoever asks; `twist` bends the ID tokens it makes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = first_key()
        self.signed_with = self.key
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self.person: dict[str, Any] = {"sub": "1001", "preferred_username": "ada"}
        self.more: dict[str, Any] = {"email": "ada@example.org", "groups": ["staff"]}
        self.about = ""  # whom userinfo is about, when not the person
        self.twist: dict[str, Any] = {}
        self.asked: list[str] = []
        self.moved: dict[str, str] = {}  # path -> where it redirects to
        self.asks_first = False  # a page with a button, as people see it

    def metadata(self) -> dict[str, Any]:
        at = self.issuer
        return {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "userinfo_endpoint": f"{at}/userinfo",
            "end_session_endpoint": f"{at}/logout",
            "jwks_uri": f"{at}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def code_for(self, asked: dict[str, str]) -> str:
        """Return where the browser goes with a code, as /authorize answers it."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked.get("state", "")})
        return f"{asked['redirect_uri']}?{back}"

    def exchange(self, form: dict[str, str], client: str) -> dict[str, Any]:
        """Return tokens for a code that is used once, by its client, with PKCE."""
        asked = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert asked["code_challenge_method"] == "S256"
        assert asked["code_challenge"] == challenge
        assert asked["redirect_uri"] == form["redirect_uri"]
        assert client == f"{CLIENT}:{SECRET}"
        access = secrets.token_urlsafe(16)
        self.tokens[access] = self.person
        return {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self.id_token(asked),
        }

    def id_token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked.get("nonce"),
            **self.person,
            **self.twist,
        }
        header = {"alg": "RS256", "kid": "one"}
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(header, kept, self.signed_with)


class _Answers(Handler):
    """The endpoints."""

    server: Provider

    def do_GET(self) -> None:
        path, asked = urlsplit(self.path), self.server
        asked.asked.append(path.path)
        query = dict(parse_qsl(path.query))
        if path.path in asked.moved:
            self.redirect(asked.moved[path.path])
        elif path.path == "/.well-known/openid-configuration":
            self.answer_json(asked.metadata())
        elif path.path == "/jwks":
            self.answer_json(KeySet([asked.key]).as_dict(private=False))
        elif path.path == "/authorize":
            self.authorize(query)
        elif path.path == "/userinfo":
            access = self.headers["Authorization"].removeprefix("Bearer ")
            who = {**asked.tokens[access], **asked.more}
            self.answer_json({**who, "sub": asked.about or who["sub"]})
        elif path.path == "/logout":
            self.page(
                f"<h1>Bye</h1><a href='{query['post_logout_redirect_uri']}'>on</a>"
            )
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        form = dict(parse_qsl(self.rfile.read(length).decode()))
        self.server.asked.append(self.path)
        if self.path in self.server.moved:
            self.redirect(self.server.moved[self.path])
            return
        basic = self.headers.get("Authorization", "").removeprefix("Basic ")
        client = base64.b64decode(basic).decode()
        try:
            self.answer_json(self.server.exchange(form, client))
        except (AssertionError, KeyError):
            self.answer_json({"error": "invalid_grant"}, 400)

    def authorize(self, query: dict[str, str]) -> None:
        assert query["client_id"] == CLIENT
        there = self.server.code_for(query)
        if self.server.asks_first:
            self.page(f"<h1>Who are you?</h1><a href='{there}'>I am Ada</a>")
            return
        self.redirect(there)

    def redirect(self, there: str) -> None:
        self.send_response(302)
        self.send_header("Location", there)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def page(self, text: str) -> None:
        self.answer(f"<!doctype html>{text}".encode(), "text/html")


@contextlib.contextmanager
def running_provider() -> Iterator[Provider]:
    """Run one until the block ends."""
    provider = Provider()
    with served(provider):
        yield provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider of this test alone."""
    with running_provider() as running:
        yield running
