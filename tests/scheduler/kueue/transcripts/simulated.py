"""Runs a world and returns its transcript, with explanations of those that wait.

`python -m tests.scheduler.kueue.transcripts.simulated NAME` prints one; `--write` keeps all.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scheduler.analysis.explain.workloads import explain
from scheduler.engine.kueue import queries
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.objects import Key
from tests.scheduler.kueue.transcripts.worlds import WORLDS

KEPT = Path(__file__).parent / "worlds.txt"
_KINDS = {"Workload", "ClusterQueue", "LocalQueue", "Cohort"}
_UNTIL_MS = 700_000
_EXPLANATIONS = 12


class WorldTranscript:
    """What a world decides and writes, instant by instant."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lines: list[bytes] = []
        self._known: dict[Key, bytes] = {}
        self._explained = 0

    def say(self, *values: Any) -> None:
        self.lines.append(msgspec.json.encode(values))

    def hear(self, decisions: Sequence[Decision]) -> None:
        """Say what was decided at an instant, and what stands otherwise since."""
        world = self.world
        self.say(world.context.now_ms, decisions)
        for key in sorted(key for key in world.objects if key.kind in _KINDS):
            obj = world.get(key)
            text = msgspec.json.encode([obj.labels, obj.status, obj.state])
            if self._known.get(key) != text:
                self._known[key] = text
                self.lines.append(str(key).encode() + b" " + text)
        if world.kueue is not None:
            self._ask()

    def _ask(self) -> None:
        stage = self.world.kueue
        assert stage is not None
        works = sorted(stage.cluster.workloads)
        running = [queries.is_running(stage, key) for key in works]
        self.say(
            stage.dump_state(),
            running,
            [queries.is_stopping(stage, key) for key in works],
        )
        waiting = [key for key in works if stage.cluster.workloads[key].pending_queue]
        if waiting and self._explained < _EXPLANATIONS:
            key = waiting[self._explained % len(waiting)]
            self._explained += 1
            self.say("explained", str(key), explain(self.world, key))


def simulated(make: Callable[[], World]) -> WorldTranscript:
    """Return what a world said until it was quiet."""
    transcript = WorldTranscript(make())
    simulate(transcript.world, until_ms=_UNTIL_MS, hear=transcript.hear)
    return transcript


def digest(make: Callable[[], World]) -> str:
    return hashlib.sha256(b"\n".join(simulated(make).lines)).hexdigest()[:16]


def main(words: list[str]) -> None:
    """Print what these worlds say, or write all digests with `--write`."""
    if words == ["--write"]:
        rows = [f"{name}: {digest(make)}\n" for name, make in WORLDS.items()]
        KEPT.write_text("".join(rows))
        return
    for name in words:
        for line in simulated(WORLDS[name]).lines:
            sys.stdout.write(line.decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
