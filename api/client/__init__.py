"""A small client of the REST API, typed, with the standard library alone.

`Client` waits for each answer; `AsyncClient` does the same calls from a thread
and is awaited. `pip install ./api/client` installs it as `quotalab.client`.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar, cast

__all__ = ["ApiError", "AsyncClient", "Client", "Done", "Sandbox"]

JSON = dict[str, Any]
Files = Sequence[tuple[str, str]]  # (name, text)
P = ParamSpec("P")
T = TypeVar("T")


class Done(TypedDict):
    """Where an action led."""

    revision: int
    tick: int


class Sandbox(TypedDict):
    """A sandbox as the API tells of it."""

    id: str
    title: str
    branch: str
    parent: str | None
    owner: str
    role: str
    visibility: str
    stack: str
    seed: str
    revision: int
    tick: int
    tMs: int
    playing: bool
    speed: float
    problem: str
    hash: str


class ApiError(Exception):
    """A refusal: its HTTP code, Kubernetes reason, sentence and causes."""

    def __init__(self, code: int, body: JSON) -> None:
        super().__init__(body.get("message") or f"HTTP {code}")
        self.code = code
        self.reason: str = body.get("reason", "")
        self.causes: list[JSON] = (body.get("details") or {}).get("causes") or []


class Client:
    """A server and who asks. Every call raises ApiError when it is refused."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str = "",
        timeout_s: float = 60.0,
    ) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.timeout_s = timeout_s

    # -- sandboxes

    def sandboxes(self) -> list[Sandbox]:
        """Return the sandboxes that one may see, newest change first."""
        return cast("list[Sandbox]", self._json("GET", "/sandboxes")["items"])

    def create(
        self,
        *,
        files: Files = (),
        scenario: str = "",
        title: str = "",
        seed: int | None = None,
        policy: Mapping[str, Any] | None = None,
    ) -> Sandbox:
        """Make a sandbox of files, or of a scenario of the library; paused."""
        body = {
            "files": [{"name": name, "text": text} for name, text in files],
            "scenario": scenario,
            "title": title,
            "seed": seed,
            "policy": dict(policy or {}),
        }
        return cast("Sandbox", self._json("POST", "/sandboxes", body))

    def read(self, sandbox: str) -> Sandbox:
        """Return one sandbox."""
        return cast("Sandbox", self._json("GET", f"/sandboxes/{sandbox}"))

    def delete(self, sandbox: str) -> None:
        """Delete a sandbox with its history."""
        self._send("DELETE", f"/sandboxes/{sandbox}")

    # -- time

    def play(self, sandbox: str, *, speed: float | None = None) -> Done:
        """Let time run; `speed` in ticks per second, 0 as fast as it goes."""
        return self._act(sandbox, "play", {} if speed is None else {"speed": speed})

    def pause(self, sandbox: str) -> Done:
        """Hold time."""
        return self._act(sandbox, "pause")

    def step(self, sandbox: str, ticks: int = 1) -> Sandbox:
        """Make ticks and wait until they are made."""
        target = self._act(sandbox, "step", {"ticks": ticks})["tick"] + ticks
        return self.wait(sandbox, tick=target)

    def wait(self, sandbox: str, *, tick: int, timeout_s: float = 600.0) -> Sandbox:
        """Return the sandbox once it came to `tick`, or stopped by itself.

        Raises TimeoutError.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            found = self.read(sandbox)
            if found["tick"] >= tick or found["problem"]:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"tick {tick} did not come in {timeout_s:g} s")
            time.sleep(0.1)

    def fork(self, sandbox: str, *, tick: int | None = None) -> Sandbox:
        """Make another sandbox that goes on from a tick."""
        return cast("Sandbox", self._act(sandbox, "fork", {"tick": tick}))

    def rewind(self, sandbox: str, tick: int) -> Done:
        """Go on from an earlier tick; what came after is kept as a fork."""
        return self._act(sandbox, "rewind", {"tick": tick})

    # -- edits

    def apply(
        self,
        sandbox: str,
        files: Files = (),
        objects: Sequence[JSON] = (),
        *,
        dry_run: bool = False,
    ) -> JSON:
        """Create and change objects: all of them or, on any error, none."""
        body = {
            "files": [{"name": name, "text": text} for name, text in files],
            "objects": list(objects),
            "dryRun": dry_run,
        }
        return cast("JSON", self._act(sandbox, "apply", body))

    def policy(self, sandbox: str) -> JSON:
        """Return the policy document."""
        return self._json("GET", f"/sandboxes/{sandbox}/policy")

    def patch_policy(self, sandbox: str, patch: JSON) -> JSON:
        """Lay a merge patch over the policy document."""
        return self._json("PATCH", f"/sandboxes/{sandbox}/policy", patch)

    def undo(self, sandbox: str) -> Done:
        """Run again without the last edit."""
        return self._act(sandbox, "undo")

    # -- reading

    def table(self, sandbox: str, name: str, /, **query: str | int) -> list[JSON]:
        """Return rows: workloads, clusterqueues, nodes, pods, ..."""
        path = f"/sandboxes/{sandbox}/tables/{name}"
        return cast("list[JSON]", self._json("GET", path, query=query)["items"])

    def events(self, sandbox: str, **query: str | int) -> Iterator[JSON]:
        """Yield events in order, page after page."""
        after = ""
        while True:
            path = f"/sandboxes/{sandbox}/events"
            page = self._json("GET", path, query={**query, "after": after})
            yield from page["items"]
            after = page["next"]
            if not after:
                return

    def explain(self, sandbox: str, workload: str) -> JSON:
        """Return why a Workload ("namespace/name") is where it is."""
        return self._json("GET", f"/sandboxes/{sandbox}/explain/{workload}")

    def hash(self, sandbox: str) -> str:
        """Return the hash of the world."""
        return str(self._json("GET", f"/sandboxes/{sandbox}/hash")["hash"])

    def export(self, sandbox: str, what: str = "all") -> str:
        """Return YAML that loads again."""
        path = f"/sandboxes/{sandbox}/export"
        return self._send("GET", path, query={"what": what}).decode()

    def metrics(self, sandbox: str) -> str:
        """Return the metrics as Prometheus text, in simulated time."""
        return self._send("GET", f"/sandboxes/{sandbox}/metrics").decode()

    # -- the wire

    def _act(self, sandbox: str, action: str, body: JSON | None = None) -> Done:
        path = f"/sandboxes/{sandbox}/actions/{action}"
        return cast("Done", self._json("POST", path, body or {}))

    def _json(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> JSON:
        return cast("JSON", json.loads(self._send(method, path, body, query)))

    def _send(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> bytes:
        tail = f"?{urllib.parse.urlencode(query)}" if query else ""
        url = f"{self.url}/api/v1{urllib.parse.quote(path)}{tail}"
        request = urllib.request.Request(url, method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as answer:
                return cast("bytes", answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise ApiError(error.code, _body(error.read())) from None


def _body(text: bytes) -> JSON:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


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

    def __init__(self, url: str = "http://127.0.0.1:8000", *, token: str = "") -> None:
        self.waiting = Client(url, token=token)

    async def events(self, sandbox: str, **query: str | int) -> list[JSON]:
        """Return all events in order."""
        return await asyncio.to_thread(
            lambda: list(self.waiting.events(sandbox, **query))
        )

    sandboxes = _awaited(Client.sandboxes)
    create = _awaited(Client.create)
    read = _awaited(Client.read)
    delete = _awaited(Client.delete)
    play = _awaited(Client.play)
    pause = _awaited(Client.pause)
    step = _awaited(Client.step)
    wait = _awaited(Client.wait)
    fork = _awaited(Client.fork)
    rewind = _awaited(Client.rewind)
    apply = _awaited(Client.apply)
    policy = _awaited(Client.policy)
    patch_policy = _awaited(Client.patch_policy)
    undo = _awaited(Client.undo)
    table = _awaited(Client.table)
    explain = _awaited(Client.explain)
    hash = _awaited(Client.hash)
    export = _awaited(Client.export)
    metrics = _awaited(Client.metrics)
