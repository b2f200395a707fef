"""The same client, awaited: a thread waits for each answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from .operations import AsyncOperations
from .records import Event
from .sending import Transport
from .waiting import Client

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    call: Callable[Concatenate[Client, P], T],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """Return the call as it is awaited: done in a thread."""

    async def awaited(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(call, self.waiting, *args, **kwargs)

    awaited.__doc__ = call.__doc__
    return awaited


class AsyncClient:
    """The same calls, awaited; `events` as one list."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str = "",
        timeout_s: float = 60.0,
        transport: Transport | None = None,
    ) -> None:
        self.waiting = Client(
            url, token=token, timeout_s=timeout_s, transport=transport
        )
        self.operations = AsyncOperations(self.waiting.operations)

    async def events(self, sandbox: str, **query: Any) -> list[Event]:
        """Return all events in order."""
        return await asyncio.to_thread(
            lambda: list(self.waiting.events(sandbox, **query))
        )

    async def watch(self, sandbox: str, **given: Any) -> AsyncIterator[Event]:
        """Yield events as they happen, until `timeout_s` are over."""
        found = self.waiting.watch(sandbox, **given)
        while (event := await asyncio.to_thread(next, found, None)) is not None:
            yield event

    sandboxes = _awaited(Client.sandboxes)
    create = _awaited(Client.create)
    read = _awaited(Client.read)
    delete = _awaited(Client.delete)
    play = _awaited(Client.play)
    pause = _awaited(Client.pause)
    step = _awaited(Client.step)
    wait = _awaited(Client.wait)
    wait_until = _awaited(Client.wait_until)
    fork = _awaited(Client.fork)
    rewind = _awaited(Client.rewind)
    apply = _awaited(Client.apply)
    policy = _awaited(Client.policy)
    patch_policy = _awaited(Client.patch_policy)
    undo = _awaited(Client.undo)
    table = _awaited(Client.table)
    what_if = _awaited(Client.what_if)
    explain = _awaited(Client.explain)
    hash = _awaited(Client.hash)
    export = _awaited(Client.export)
    metrics = _awaited(Client.metrics)
