"""Requests to the control plane, as one of those that its token file knows."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.proving.playing import JSON, PATCHES

Document = dict[str, Any]
STRATEGIC = PATCHES["strategic"]


class RefusedError(Exception):
    """The API server refused what must be accepted; the message has its sentence."""


@dataclass(frozen=True, slots=True)
class Api:
    """An API server, and who asks it."""

    url: str
    token: str
    trusted: ssl.SSLContext

    @classmethod
    def of(cls, url: str, token: str, authority: Path) -> Api:
        """Return the API server at a URL, whose certificate `authority` signed."""
        return cls(url, token, ssl.create_default_context(cafile=str(authority)))

    def ask(
        self, method: str, path: str, body: Any = None, media: str = JSON
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer. Raises OSError without one."""
        headers = {"Accept": JSON, "Authorization": f"Bearer {self.token}"}
        data = None
        if body is not None:
            headers["Content-Type"], data = media, json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(
                request, timeout=60, context=self.trusted
            ) as answer:
                code, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                code, text = error.code, error.read()
        try:
            return code, json.loads(text) if text else None
        except ValueError:
            return code, text.decode(errors="replace")

    def made(self, path: str, document: Document) -> None:
        """Create an object that may be there already. Raises RefusedError."""
        code, answer = self.ask("POST", path, document)
        if code >= 300 and code != 409:
            name = document["metadata"]["name"]
            raise RefusedError(f"{document['kind']} {name}: {code} {answer}")
