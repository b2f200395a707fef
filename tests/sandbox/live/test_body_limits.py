"""Bodies: what is too large or too slow is refused before anything reads it."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.testing import ApplicationCommunicator

from sandbox.live.asgi import application as server
from sandbox.live.body_limits import BodySizeLimit, most_bytes


async def swallow(scope, receive, send):
    """An application that reads all that comes, and says how much it was."""
    total, more = 0, True
    while more:
        message = await receive()
        total += len(message["body"])
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(total).encode()})


async def unopened(scope, receive, send):
    """An application that nobody should reach."""
    raise AssertionError("the body was handed on")


def asked(application, path="/api/v1/tokens", length=None) -> ApplicationCommunicator:
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    return ApplicationCommunicator(BodySizeLimit(application), scope)


async def answer(request: ApplicationCommunicator) -> tuple[int, bytes]:
    start = await request.receive_output(5)
    body = await request.receive_output(5)
    return start["status"], body["body"]


@pytest.fixture(autouse=True)
def _small(settings):
    settings.LIMITS = {
        **settings.LIMITS,
        "bytes_per_body": 100,
        "bytes_per_upload": 1000,
        "seconds_per_body": 0,
    }


async def test_a_body_that_says_it_is_too_large_is_not_read():
    code, body = await answer(asked(unopened, length=101))
    status = json.loads(body)
    assert (code, status["kind"], status["code"]) == (413, "Status", 413)
    assert "100 bytes" in status["message"]


async def test_a_body_that_grows_too_large_is_stopped_where_it_does():
    request = asked(swallow)
    for _ in range(3):
        chunk = {"type": "http.request", "body": b"x" * 40, "more_body": True}
        await request.send_input(chunk)
    code, body = await answer(request)
    assert (code, json.loads(body)["reason"]) == (413, "RequestEntityTooLarge")


async def test_a_body_within_the_limit_is_handed_on():
    request = asked(swallow, length=100)
    await request.send_input({"type": "http.request", "body": b"x" * 100})
    assert await answer(request) == (200, b"100")


async def test_a_body_that_does_not_come_is_given_up(settings):
    settings.LIMITS = {**settings.LIMITS, "seconds_per_body": 1}
    request = asked(swallow, length=50)
    await request.send_input({"type": "http.request", "body": b"x", "more_body": True})
    code, body = await answer(request)
    assert (code, json.loads(body)["reason"]) == (408, "Timeout")


async def test_after_the_body_there_is_no_hurry(settings):
    settings.LIMITS = {**settings.LIMITS, "seconds_per_body": 1}

    async def patient(scope, receive, send):
        await receive()
        gone = asyncio.create_task(receive())  # as Django waits for a disconnect
        await asyncio.wait([gone], timeout=1.2)
        assert not gone.done()
        gone.cancel()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    request = asked(patient)
    await request.send_input({"type": "http.request", "body": b"{}"})
    assert (await answer(request))[0] == 200


@pytest.mark.parametrize(
    "path",
    ["archives", "experiments", "sandboxes", "sandboxes/a/actions/import"],
)
def test_files_may_be_larger_at(path):
    assert most_bytes(f"/api/v1/{path}") == 1000


@pytest.mark.parametrize(
    "path",
    ["/sign-in", "/api/v1/tokens", "/api/v1/sandboxes/a/actions/play", "/", "//"],
)
def test_a_body_is_small_at(path):
    assert most_bytes(path) == 100


def test_the_cap_stands_before_django():
    assert isinstance(server.application_mapping["http"], BodySizeLimit)
