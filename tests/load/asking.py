"""A running server that is asked with the same headers each time."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from tests.services.server import ServerRun

_TOKEN = """
from django.contrib.auth.models import User
from sandbox.actions import do_token
user = User.objects.create_user("{name}")
print(do_token(user, name="t", scope="admin", expires_at=None)[1])
"""


class Asking:
    """Asks `url` as whom the headers stand for."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self.url = url
        self.headers = dict(headers or {})

    def get(self, path: str) -> Any:
        """Return the JSON that is answered."""
        return self._answer(urllib.request.Request(self.url + path, None, self.headers))

    def post(self, path: str, body: object) -> Any:
        """Send JSON; return the JSON that is answered."""
        headers = {**self.headers, "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        return self._answer(urllib.request.Request(self.url + path, data, headers))

    def delete(self, path: str) -> None:
        """Delete what is at the path."""
        request = urllib.request.Request(
            self.url + path, None, self.headers, method="DELETE"
        )
        urllib.request.urlopen(request, timeout=120).close()

    def _answer(self, request: urllib.request.Request) -> Any:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)


def with_token(run: ServerRun, name: str = "olga") -> Asking:
    """Return what asks a server as a new user, with a token of all scopes."""
    secret = run.manage(
        "shell", "--verbosity", "0", "-c", _TOKEN.format(name=name)
    ).split()[-1]
    return Asking(run.url, {"Authorization": f"Bearer {secret}"})
