"""A recording as a recorder would have written it of a cluster that this engine plays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.recorded.qrec.frames import MAGIC, frame
from scheduler.recorded.qrec.reading import Entry, Header, Type, encode, stamp
from scheduler.recorded.twin.observing import is_shown
from tests.sandbox.conftest import contended, text_of

BEGIN_US = 1_800_000_000_000_000
TICKS = 40


class Played:
    """A cluster that was played, what was recorded of it, and its states by tick."""

    def __init__(self, world: World, ticks: int) -> None:
        self.world = world
        self.states: list[dict[str, Any]] = []
        self.entries = [Entry(stamp(BEGIN_US), "BEGIN", header=Header(kinds=["Pod"]))]
        world.take()
        for obj in world.objects.values():
            self._note(0, "LISTED", obj)
        self.entries.append(Entry(stamp(BEGIN_US), "SYNCED", "Pod"))
        self.decisions: list[Any] = []
        self.states.append(self._state())
        for tick in range(1, ticks + 1):
            self._tick(tick)

    def _tick(self, tick: int) -> None:
        known = set(self.world.objects)
        run_tick(self.world)
        changes = self.world.take()
        self.decisions += changes.decisions
        for key in changes.removed:
            self._gone(tick, key)
        for obj in changes.touched:
            self._note(tick, "MODIFIED" if obj.key in known else "ADDED", obj)
        self.states.append(self._state())

    def _state(self) -> dict[str, Any]:
        return {
            str(key): _conditions(self.world.get(key).status)
            for key in self.world.keys("Workload")
            if not self.world.lifetime.waits(key)
        }

    def _note(self, tick: int, kind: Type, obj: Object) -> None:
        if self.world.lifetime.waits(obj.key):
            return
        manifest = msgspec.to_builtins({**obj.manifest, "status": obj.status})
        if is_shown(manifest):
            self.entries.append(Entry(_at(tick), kind, obj.key.kind, manifest))

    def _gone(self, tick: int, key: Key) -> None:
        metadata = {"namespace": key.namespace, "name": key.name}
        manifest = {"kind": key.kind, "metadata": metadata}
        self.entries.append(Entry(_at(tick), "DELETED", key.kind, manifest))

    def file(self) -> bytes:
        """Return it as a `.qrec`."""
        return MAGIC + frame(encode(entry) for entry in self.entries)


def _at(tick: int) -> str:
    return stamp(BEGIN_US + 1_000_000 * tick)


def _conditions(status: dict[str, Any]) -> list[tuple[str, str]]:
    found: Iterable[dict[str, Any]] = status.get("conditions") or ()
    return sorted((one["type"], one["status"]) for one in found)


@pytest.fixture(scope="session")
def played() -> Played:
    text = text_of(*contended())
    policy = {"simulation": {"startTime": "2027-01-15T08:00:00Z"}}
    world = assemble([("all.yaml", text)], policy=policy).world
    return Played(world, TICKS)
