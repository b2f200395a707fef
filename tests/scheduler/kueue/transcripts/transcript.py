"""All that a stage says while it plays a recorded case, as lines of JSON.

A recorded case holds what the real Kueue decided. Here is kept what the engine writes
besides: every decision with its words, each status and stored state when it changed, the
next instant with a timer, and what an explanation of a cycle would be read from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.engine.kueue import queries
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.stage import Context
from scheduler.model.objects import Key, Object

Objects = Mapping[Key, Object]


class Transcript:
    """The lines so far of one stage."""

    def __init__(self, stage: KueueStage) -> None:
        self.stage = stage
        self.lines: list[bytes] = []
        self._cycle = 0

    def say(self, what: str, *values: Any) -> None:
        self.lines.append(msgspec.json.encode([what, *values]))

    def digest(self) -> str:
        return hashlib.sha256(b"\n".join(self.lines)).hexdigest()[:16]

    def note(self, objects: Objects) -> None:
        """Say what was decided and written since the last time, before it is taken."""
        stage = self.stage
        journal = stage.context.journal
        if journal.decisions:
            self.say("decided", stage.context.now_ms, journal.decisions)
        for key in sorted(journal.stale):
            if key in objects:
                self.say("written", *written(stage, objects[key]))
        journal.stale.clear()
        self.say(
            "state", stage.dump_state(), stage.due(), *queries.pending_counts(stage)
        )
        self._trace()

    def _trace(self) -> None:
        """Say what the cycle looked at; have the next one traced for another one."""
        stage = self.stage
        if stage.trace is not None and stage.trace.steps:
            self.say("traced", str(stage.traced), stage.trace.steps)
        stage.trace, stage.traced = Trace(), self._next()

    def _next(self) -> Key | None:
        works = self.stage.cluster.workloads.values()
        waiting = sorted(work.key for work in works if work.pending_queue is not None)
        self._cycle += 1
        return waiting[self._cycle % len(waiting)] if waiting else None

    def close(self, objects: Objects) -> None:
        """Say how each object stands at the end, and what is asked of a stage."""
        stage = self.stage
        stage.settle()
        for key in sorted(objects):
            self.say("at the end", *written(stage, objects[key]))
            if key.kind == "Workload" and key in stage.cluster.workloads:
                running = queries.is_running(stage, key)
                self.say("runs", running, queries.is_stopping(stage, key))
        assert list(queries.violations(stage)) == []


def written(stage: KueueStage, obj: Object) -> tuple[str, Any, Any, Any]:
    """Return name, manifest without its specification, status and state as stored."""
    copied = copy_of(obj)
    stage.write(copied)
    active = copied.spec.get("active")
    return str(obj.key), [active, copied.labels], copied.status, copied.state


def copy_of(obj: Object) -> Object:
    manifest = {**obj.manifest}
    for part in ("metadata", "spec"):
        if part in manifest:
            manifest[part] = {**manifest[part]}
    return Object(
        key=obj.key, manifest=manifest, status={**obj.status}, state={**obj.state}
    )


def read_back(stage: KueueStage, objects: Objects) -> KueueStage:
    """Return another stage made of what this one stores."""
    old = stage.context
    context = Context(seed=old.seed, epoch_us=old.epoch_us, now_ms=old.now_ms)
    again = KueueStage(context, stage.settings)
    again.load_state(msgspec.json.decode(msgspec.json.encode(stage.dump_state())))
    for key in sorted(objects):
        obj = copy_of(objects[key])
        stage.write(obj)
        again.put(
            msgspec.json.decode(msgspec.json.encode(obj), type=Object), restore=True
        )
    again.settle()
    return again
