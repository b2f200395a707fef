"""The client that waits for each answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from .operations import Operations
from .records import (
    Create,
    Created,
    Done,
    Event,
    Import,
    Imported,
    Rewound,
    Sandbox,
    WhatIfBegin,
    WhatIfState,
)
from .sending import JSON, Address, Transport

Files = Sequence[tuple[str, str]]  # (name, text)
LOOK_EVERY_S = 0.1
MOST_WAIT_S = 60


class StoppedError(Exception):
    """A sandbox stands still before the tick that is waited for; `found` is it."""

    def __init__(self, found: Sandbox, tick: int) -> None:
        self.found = found
        why = found["problem"] or "it was paused; play it, or ask for a step"
        super().__init__(
            f"sandbox {found['id']} stands at tick {found['tick']}, "
            f"before tick {tick}: {why}"
        )


class Client:
    """A server and who asks. Every call raises ApiError when it is refused.

    `operations` has the whole API; `transport` replaces HTTP to `url`.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str = "",
        timeout_s: float = 60.0,
        transport: Transport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.operations = Operations(transport or Address(url, timeout_s), token)

    # -- sandboxes

    def sandboxes(self) -> list[Sandbox]:
        """Return the sandboxes that one may see, newest change first."""
        return self.operations.sandboxes_list()["items"]

    def create(
        self,
        *,
        files: Files = (),
        scenario: str = "",
        title: str = "",
        seed: int | None = None,
        policy: Mapping[str, Any] | None = None,
    ) -> Created:
        """Make a sandbox of files, or of a scenario of the library; paused."""
        body: Create = {
            "files": [{"name": name, "text": text} for name, text in files],
            "scenario": scenario,
            "title": title,
            "seed": seed,
            "policy": dict(policy or {}),
        }
        return self.operations.sandboxes_create(body)

    def read(self, sandbox: str) -> Sandbox:
        """Return one sandbox."""
        return self.operations.sandboxes_read(sandbox)

    def delete(self, sandbox: str) -> None:
        """Delete a sandbox with its history."""
        self.operations.sandboxes_delete(sandbox)

    # -- time

    def play(self, sandbox: str, *, speed: float | None = None) -> Done:
        """Start the clock of a sandbox; `speed` in ticks per second, 0 as fast as possible."""
        return self.operations.play(sandbox, {} if speed is None else {"speed": speed})

    def pause(self, sandbox: str) -> Done:
        """Stop the clock of a sandbox."""
        return self.operations.pause(sandbox)

    def step(
        self,
        sandbox: str,
        ticks: int = 1,
        *,
        speed: float = 0.0,
        timeout_s: float = 600.0,
    ) -> Sandbox:
        """Make ticks, as fast as they go, and wait until they are made.

        `speed` in ticks per second. Raises what `wait` raises.
        """
        asked = self.operations.step(sandbox, {"ticks": ticks, "speed": speed})
        goal = asked["untilTick"] or asked["tick"] + ticks
        return self.wait(sandbox, tick=goal, timeout_s=timeout_s)

    def wait(
        self, sandbox: str, *, tick: int | None = None, timeout_s: float = 600.0
    ) -> Sandbox:
        """Return the sandbox once it came to `tick`; without one, once it stands.

        Raises StoppedError when it stands before that tick, and TimeoutError.
        """
        goal = math.inf if tick is None else tick
        found = self._look(
            sandbox,
            lambda found: found["tick"] >= goal or not found["playing"],
            timeout_s,
        )
        if tick is not None and found["tick"] < tick:
            raise StoppedError(found, tick)
        return found

    def wait_until(
        self, sandbox: str, good: Callable[[Sandbox], bool], *, timeout_s: float = 600.0
    ) -> Sandbox:
        """Return the sandbox once it is `good`, or has a problem.

        Raises TimeoutError.
        """
        return self._look(
            sandbox, lambda found: good(found) or bool(found["problem"]), timeout_s
        )

    def _look(
        self, sandbox: str, good: Callable[[Sandbox], bool], timeout_s: float
    ) -> Sandbox:
        deadline = time.monotonic() + timeout_s
        while True:
            found = self.read(sandbox)
            if good(found):
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"sandbox {sandbox} is at tick {found['tick']} after {timeout_s:g} s"
                )
            time.sleep(LOOK_EVERY_S)

    def fork(self, sandbox: str, *, tick: int | None = None) -> Sandbox:
        """Make another sandbox that goes on from a tick."""
        return self.operations.fork(sandbox, {} if tick is None else {"tick": tick})

    def rewind(self, sandbox: str, tick: int) -> Rewound:
        """Continue from an earlier tick; the later history is kept as a fork."""
        return self.operations.rewind(sandbox, {"tick": tick})

    # -- edits

    def apply(
        self,
        sandbox: str,
        files: Files = (),
        objects: Sequence[JSON] = (),
        *,
        dry_run: bool = False,
    ) -> Imported:
        """Create and change objects: all of them or, on any error, none."""
        body: Import = {
            "files": [{"name": name, "text": text} for name, text in files],
            "objects": list(objects),
            "dryRun": dry_run,
        }
        return self.operations.apply(sandbox, body)

    def policy(self, sandbox: str) -> JSON:
        """Return the policy document."""
        return self.operations.policy_read(sandbox)

    def patch_policy(self, sandbox: str, patch: JSON) -> Imported:
        """Apply a merge patch to the policy document."""
        return self.operations.policy_patch(sandbox, patch)

    def undo(self, sandbox: str) -> Done:
        """Undo the last edit: the sandbox is run again without it."""
        return self.operations.undo(sandbox)

    # -- reading

    def table(self, sandbox: str, name: str, /, **query: Any) -> list[JSON]:
        """Return rows: workloads, clusterqueues, nodes, pods, ...

        `search`, `sort`, `limit`, `offset` and `tick` as the API has them, and any
        field with the value that is wanted.
        """
        own = {n: query.pop(n) for n in _TABLE if n in query}
        found = self.operations.tables_read(sandbox, name, fields=query, **own)
        return found["items"]

    def events(self, sandbox: str, **query: Any) -> Iterator[Event]:
        """Yield events in order, page after page."""
        after = ""
        while True:
            page = self.operations.events_read(sandbox, **{**query, "after": after})
            yield from page["items"]
            after = page["next"]
            if not after:
                return

    def watch(
        self,
        sandbox: str,
        *,
        after: str | None = None,
        timeout_s: float = math.inf,
        **query: Any,
    ) -> Iterator[Event]:
        """Yield events as they happen, in order, until `timeout_s` are over.

        They begin after the event of the place `after` ("" = with the first one), by
        default with the next. `query` is as for `events`. Asks ten times a second.
        """
        deadline = time.monotonic() + timeout_s
        if after is None:
            last = self.operations.events_read(sandbox, newest=True, limit=1)["items"]
            after = _place(last[-1]) if last else ""
        while True:
            page = self.operations.events_read(sandbox, **{**query, "after": after})
            for event in page["items"]:
                after = _place(event)
                yield event
            if time.monotonic() > deadline:
                return
            if not page["items"]:
                time.sleep(LOOK_EVERY_S)

    def what_if(self, sandbox: str, asked: WhatIfBegin) -> WhatIfState:
        """Return a what-if with its verdict up to the horizon: it is waited for."""
        operations = self.operations
        found = operations.what_ifs_create(sandbox, asked, wait=MOST_WAIT_S)
        while found["state"] == "running":
            found = operations.what_ifs_read(sandbox, found["id"], wait=MOST_WAIT_S)
        return found

    def explain(self, sandbox: str, workload: str) -> JSON:
        """Return why a Workload ("namespace/name") is where it is."""
        namespace, _, name = workload.partition("/")
        found = self.operations.explain_read(sandbox, namespace, name)
        return cast("JSON", found)

    def hash(self, sandbox: str) -> str:
        """Return the hash of the world."""
        return self.operations.hash_read(sandbox)["hash"]

    def export(self, sandbox: str, what: str = "all") -> str:
        """Return YAML that loads again."""
        return str(self.operations.export_read(sandbox, what=cast("Any", what)))

    def metrics(self, sandbox: str) -> str:
        """Return the metrics as Prometheus text, in simulated time."""
        return self.operations.metrics_read(sandbox)


def _place(event: Event) -> str:
    """Return where an event stands among all of its sandbox."""
    return f"{event['revision']}.{event['seq']}"


_TABLE = ("search", "sort", "limit", "offset", "tick")
