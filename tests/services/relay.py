"""Between a follower and a cluster's API: it goes away, forgets, and has its own clock."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import socket
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.services.loopback import Handler, served


class Relay:
    """Passes GETs on to `target`, an origin; `url` is on loopback."""

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target).netloc
        self.url = ""
        self.down = False
        self.skew_s = 0.0  # the cluster's clock less ours
        self.expired: set[str] = set()  # paths whose next watch is too old
        self.watched: set[str] = set()
        self.open: set[socket.socket] = set()

    @property
    def port(self) -> int:
        """Return the port that followers connect to."""
        return urlsplit(self.url).port or 0

    def expire(self) -> None:
        """Cut what is open; every watch that goes on is too old."""
        self.expired = set(self.watched)
        self.cut()

    def cut(self) -> None:
        """Cut what is open; a watch can go on where it was."""
        for one in list(self.open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    relay: Relay

    def do_GET(self) -> None:
        relay, path = self.relay, urlsplit(self.path)
        self.close_connection = True
        if relay.down:
            return
        if "watch=true" in path.query:
            relay.watched.add(path.path)
            if path.path in relay.expired:
                relay.expired.discard(path.path)
                self.send_error(410)
                return
        relay.open.add(self.connection)
        try:
            self._pass_on()
        except (OSError, http.client.HTTPException):
            pass  # one of the two went away
        finally:
            relay.open.discard(self.connection)

    def _pass_on(self) -> None:
        upstream = http.client.HTTPConnection(self.relay.target, timeout=60)
        with contextlib.closing(upstream):
            asked = {"Accept": "application/json", "Connection": "close"}
            upstream.request("GET", self.path, headers=asked)
            answer = upstream.getresponse()
            self.send_response_only(answer.status)
            now = time.time() + self.relay.skew_s
            self.send_header("Date", email.utils.formatdate(now, usegmt=True))
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.begin_chunks()
            while part := answer.read1():
                self.chunk(part)
            self.chunk(b"")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a follower opens all of its watches at once


@contextlib.contextmanager
def relay_to(target: str) -> Iterator[Relay]:
    """Serve a relay until the end of the block."""
    relay = Relay(target)
    handler = type("Handler", (_Handler,), {"relay": relay})
    with served(_Server(("127.0.0.1", 0), handler)) as relay.url:
        try:
            yield relay
        finally:
            relay.cut()
