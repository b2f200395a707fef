"""500 connections that say nothing, half a word, half a body, or nothing more: they end, others are served."""

from __future__ import annotations

import base64
import contextlib
import os
import select
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.services.default_run import DefaultRun, wait_for

EACH = 100
HALF = b"GET /api/v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = (
    b"POST /api/v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory) -> Iterator[DefaultRun]:
    times = ("SECONDS_PER_HEAD", "SECONDS_PER_BODY", "SECONDS_PER_HELLO")
    variables = {**dict.fromkeys(times, "2"), "LOG_LEVEL": "INFO"}
    with DefaultRun(tmp_path_factory.mktemp("run"), **variables) as run:
        yield run


def upgrade(run: DefaultRun, sandbox: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET /ws/sandboxes/{sandbox} HTTP/1.1",
        f"Host: {urlsplit(run.url).netloc}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def opened(run: DefaultRun, said: bytes) -> socket.socket:
    where = urlsplit(run.url)
    line = socket.create_connection((where.hostname, where.port), timeout=60)
    line.sendall(said)
    return line


def is_closed(line: socket.socket) -> bool:
    """Read what is there; return whether the other side has ended it."""
    try:
        while select.select([line], [], [], 0)[0]:
            if not line.recv(65536):
                return True
    except OSError:
        return True
    return False


def test_silent_connections_end_while_others_are_served(impatient):
    sandbox = impatient.post("/api/v1/sandboxes", {"scenario": "strict-fifo"})["id"]
    kinds = (b"", HALF, BODY, WHOLE, upgrade(impatient, sandbox))
    with contextlib.ExitStack() as stack:
        lines = [
            stack.enter_context(opened(impatient, said))
            for said in kinds
            for _ in range(EACH)
        ]
        assert impatient.get("/healthz") == {"status": "ok"}
        wait_for(lambda: all(is_closed(line) for line in lines), "the end of all")
    words = ("Traceback", "ERROR", "sandbox.look", "sandbox.advance")
    assert [word for word in words if word in impatient.says()] == []


def test_a_slow_request_that_arrives_in_time_is_answered(impatient):
    with opened(impatient, WHOLE[:-2]) as line:
        time.sleep(0.5)  # a pause in the middle is what is tried here
        line.sendall(WHOLE[-2:])
        assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_a_page_that_says_hello_stays(impatient):
    """Longer than a head or a hello may take: their times end with them."""
    from websockets.sync.client import connect

    sandbox = impatient.post("/api/v1/sandboxes", {"scenario": "strict-fifo"})["id"]
    url = f"{impatient.url.replace('http', 'ws')}/ws/sandboxes/{sandbox}"
    with connect(url, max_size=None) as page:
        page.send('{"type":"hello","since":null}')
        page.recv(30)
        time.sleep(3)  # the longer of both times, and a second
        impatient.post(f"/api/v1/sandboxes/{sandbox}/actions/play", {"speed": 4})
        assert page.recv(30)
