"""The sandboxes of this machine: the API, asked inside of this process."""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

#: How long to wait for somebody else who holds the sandbox.
PATIENCE_S = 10.0


def begin() -> None:
    """Make Django ready, and the database of a machine that had none."""
    import django

    django.setup()
    # What is refused is head in words; the server's log lines would say it twice.
    logging.getLogger("django.request").setLevel(logging.ERROR)
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    # No worker need be there: what takes long is worked out by this process.
    settings.ANSWER_INLINE = True
    if not settings.SERVER and not connection.introspection.table_names():
        call_command("migrate", verbosity=0, interactive=False)


def manage(words: list[str]) -> int:
    """Do a verb that is a management command of its own; return its exit status."""
    from sandbox.base.commands import run_command

    return run_command(["quotalab", *words])


def make_ticks(key: str, count: int) -> Iterator[int]:
    """Make ticks in this process; yield how many now and then, until it stops itself.

    A worker that lives beside it makes some of them. Raises SandboxError when it
    may not, and when somebody else holds it for long.
    """
    from sandbox import actions
    from sandbox.access.people import local_user

    _, goal = actions.do_step(local_user(), key, ticks=count)
    while (tick := _ticks(key)) is not None:
        yield max(0, count - (goal or tick) + tick)


def _ticks(key: str) -> int | None:
    """Make some ticks and return the last one's number; None when the sandbox stands."""
    from sandbox import actions
    from sandbox.base.errors import BusyError
    from sandbox.base.refusals import NotNow
    from sandbox.world import leases

    deadline = time.monotonic() + PATIENCE_S
    while (claim := leases.take(key)) is None:
        if time.monotonic() > deadline:
            raise BusyError(NotNow.HELD.said())
        time.sleep(0.05)
    try:
        steps = actions.do_ticks(claim)
    finally:
        leases.release(claim)
    return steps[-1].tick if steps else None


class InProcess:
    """Carries requests to the application itself; nobody listens anywhere."""

    def __init__(self) -> None:
        from django.core.handlers.wsgi import WSGIHandler

        # Not get_wsgi_application: it sets Django up again, and the log with it.
        self.application: Any = WSGIHandler()

    def __call__(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        """Return status, content type and body."""
        head: dict[str, Any] = {}

        def start(status: str, sent: list[tuple[str, str]], *_: object) -> None:
            head["code"] = int(status.split()[0])
            head["type"] = dict(sent).get("Content-Type", "").partition(";")[0]

        environment = _environment(method, path, headers, body or b"")
        answer = self.application(environment, start)
        try:
            return _answer(head, b"".join(answer))
        finally:
            answer.close()


def _answer(head: dict[str, Any], body: bytes) -> tuple[int, str, bytes]:
    return head["code"], head["type"], body


def _environment(
    method: str, path: str, headers: Mapping[str, str], body: bytes
) -> dict[str, Any]:
    from urllib.parse import unquote

    place, _, query = path.partition("?")
    found = {
        "REQUEST_METHOD": method,
        "PATH_INFO": unquote(place).encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": True,
    }
    for name, value in headers.items():
        if name != "Content-Type":
            found[f"HTTP_{name.upper().replace('-', '_')}"] = value
    return found
