"""Requests and answers, with the standard library alone; refusals as errors."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, Protocol, cast

JSON = dict[str, Any]
API = "/api/v1"
#: The status of a question that is still worked out; its body has the place of the answer.
STILL_WORKED_OUT = 202
_CUT_OFF = (
    "the server closed the connection while {} bytes were sent to {}: more than it takes "
    "there (BYTES_PER_UPLOAD), or it went away; send fewer files, or look at its log"
)


class ApiError(Exception):
    """A refusal: its HTTP code, Kubernetes reason, sentence and causes."""

    def __init__(self, code: int, body: JSON) -> None:
        super().__init__(body.get("message") or f"HTTP {code}")
        self.code = code
        self.reason: str = body.get("reason", "")
        self.causes: list[JSON] = (body.get("details") or {}).get("causes") or []


class Transport(Protocol):
    """What carries a request to a server and brings the answer back."""

    def __call__(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        """Return status, content type and body."""


class Address:
    """A server behind a URL, asked over HTTP."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s

    def __call__(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        """Return status, content type and body. Raises OSError when nobody answers."""
        request = urllib.request.Request(
            self.url + path, data=body, headers=dict(headers), method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as answer:
                return answer.status, answer.headers.get_content_type(), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers.get_content_type(), error.read()
        except urllib.error.URLError as error:
            if body and isinstance(
                error.reason, BrokenPipeError | ConnectionResetError
            ):
                raise ConnectionError(_CUT_OFF.format(len(body), path)) from error
            raise


class Sender:
    """Sends one request and returns its answer: JSON, text, or bytes."""

    def __init__(self, transport: Transport, token: str = "") -> None:
        self.transport = transport
        self.token = token

    @staticmethod
    def part(value: str | int) -> str:
        """Return a value as one part of a path."""
        return urllib.parse.quote(str(value), safe="")

    def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, Any] | None = None,
        media: str = "application/json",
        accept: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the answer. Raises ApiError when the server refuses."""
        tail = f"?{urllib.parse.urlencode(query)}" if query else ""
        sent = {"Accept": accept, **(headers or {})}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            sent["Content-Type"] = media
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        code, kind, answer = self.transport(method, API + path + tail, sent, data)
        while code == STILL_WORKED_OUT:  # the server waited a while; it goes on
            place = json.loads(answer)["place"]
            sent.pop("Content-Type", None)
            code, kind, answer = self.transport("GET", place, sent, None)
        if code >= 400:
            raise ApiError(code, _body(answer))
        return _read(kind, answer)


class AsyncSender:
    """The same, awaited: a thread waits."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self.part = sender.part

    async def send(self, method: str, path: str, **more: Any) -> Any:
        """Return the answer. Raises ApiError when the server refuses."""
        return await asyncio.to_thread(self.sender.send, method, path, **more)


def given(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given of a query, flags as the API spells them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }


def _read(kind: str, answer: bytes) -> Any:
    if not answer:
        return None
    if kind == "application/json" or kind.endswith("+json"):
        return json.loads(answer)
    if kind.startswith("text/") or kind == "application/yaml":
        return answer.decode()
    return answer


def _body(text: bytes) -> JSON:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return cast("JSON", found) if isinstance(found, dict) else {}
