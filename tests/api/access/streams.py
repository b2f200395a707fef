"""Sockets and watches of a sandbox, as the outside opens them."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.test import Client

from sandbox.live.asgi import application

Header = tuple[bytes, bytes]


def cookie(user: User) -> Header:
    client = Client()
    client.force_login(user)
    return b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()


def bearer(secret: str) -> Header:
    return b"authorization", f"Bearer {secret}".encode()


def socket(sandbox_id: str, *headers: Header) -> ApplicationCommunicator:
    scope = {
        "type": "websocket",
        "path": f"/ws/sandboxes/{sandbox_id}",
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "query_string": b"",
        "subprotocols": [],
        "client": ("127.0.0.1", 1),
    }
    return ApplicationCommunicator(application, scope)


async def opening(line: ApplicationCommunicator) -> dict[str, Any]:
    """Send it; return what is answered."""
    await line.send_input({"type": "websocket.connect"})
    answer: dict[str, Any] = await line.receive_output(10)
    return answer


async def leaving(line: ApplicationCommunicator, kind: str = "socket") -> None:
    kinds = {"socket": "websocket.disconnect", "watch": "http.disconnect"}
    await line.send_input({"type": kinds[kind], "code": 1000})
    await line.wait(10)


SHUT = 4404


def shut(answer: dict[str, Any]) -> bool:
    return (answer["type"], answer.get("code")) == ("websocket.close", SHUT)


async def first_page(line: ApplicationCommunicator) -> dict[str, Any]:
    """Say hello; return the first frame that is about rows."""
    hello = {"type": "hello", "since": None, "views": []}
    await line.send_input({"type": "websocket.receive", "text": json.dumps(hello)})
    while True:
        frame: dict[str, Any] = json.loads((await line.receive_output(20))["text"])
        if frame["type"] in ("page_state", "diff"):
            return frame


def watch(sandbox_id: str, *headers: Header) -> ApplicationCommunicator:
    """A Kubernetes watch of the sandbox's pods."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/api/v1/sandboxes/{sandbox_id}/api/v1/pods",
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "query_string": b"watch=1&allowWatchBookmarks=1",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }
    return ApplicationCommunicator(application, scope)


async def begun(kind: str, line: ApplicationCommunicator) -> None:
    """Let the stream begin, and receive something."""
    if kind == "socket":
        assert (await opening(line))["type"] == "websocket.accept"
        return
    await line.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await line.receive_output(10)
    assert (start["type"], start["status"]) == ("http.response.start", 200)


async def ended(kind: str, line: ApplicationCommunicator) -> bool:
    """Return whether the stream ends now, and says so."""
    if kind == "socket":
        while "text" in (answer := await line.receive_output(10)):
            pass
        return shut(answer)
    body = b""
    while (part := await line.receive_output(10)).get("more_body"):
        body += part["body"]
    last = json.loads(body.splitlines()[-1])
    return last["type"] == "ERROR" and last["object"]["code"] in (403, 410)


async def refused(kind: str, line: ApplicationCommunicator) -> bool:
    """Return whether the stream cannot be opened."""
    if kind == "socket":
        return shut(await opening(line))
    await line.send_input({"type": "http.request", "body": b"", "more_body": False})
    return (await line.receive_output(10))["status"] in (401, 404, 410)
