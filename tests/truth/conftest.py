"""A client of the API, a person to ask as, and how both play a script."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest

from api.proving.playing import Document, SandboxServer, Seen, play
from sandbox import actions
from sandbox.models import Sandbox
from tests.api.conftest import client, person  # noqa: F401 - fixtures
from tests.sandbox.conftest import _nothing_in_memory, tick  # noqa: F401 - a fixture


@pytest.fixture
def sandbox_server(client, person) -> Callable[[Document], SandboxServer]:  # noqa: F811 - the fixtures
    """Return a function that makes the sandbox of a script, asked without a server."""

    def sent(
        method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        media = headers.get("Content-Type", "application/json")
        accept = {"Accept": headers["Accept"]}
        answer = client.generic(
            method, path, body or b"", content_type=media, headers=accept
        )
        return answer.status_code, "", answer.content

    def ticks(key: str, count: int) -> None:
        actions.do_step(person, key, ticks=count)
        tick(Sandbox.objects.get(pk=key), count)

    def made(script: Document) -> SandboxServer:
        if kueue := os.environ.get("QUOTALAB_TRUTH_KUEUE"):
            script = {"release": {"kueue": kueue}, **script}
        return SandboxServer(sent, ticks, script)

    return made


@pytest.fixture
def played(sandbox_server) -> Callable[[Document], Seen]:
    """Return a function that plays a script on a sandbox."""

    def play_it(script: Document) -> Seen:
        with sandbox_server(script) as server:
            return play(server, script)

    return play_it
