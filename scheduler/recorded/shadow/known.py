"""What the engine decides from states that are one to Kueue, worked out once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from scheduler.engine.stage import US_PER_MS
from scheduler.model import durations
from scheduler.model.annotations import MAX_EXECUTION
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Object
from scheduler.model.reasons import PODS_READY
from scheduler.recorded.shadow.decisions import Decided, Manifest, cycles

#: What an API server writes for itself, and every write changes.
_SERVERS = ("resourceVersion", "managedFields")
_INSTANT = re.compile(rb'"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z)"')
#: An end that is so long after a beginning: the present instant matters by itself.
_LIMITS = (b'"maximumExecutionTimeSeconds"', MAX_EXECUTION.encode())
_SECOND_US = 1_000_000
_MOST = 4_096  # some 2 KiB each where a hundred objects are read

State = tuple[object, ...]


class _Known(NamedTuple):
    manifest: Manifest  # held: its id stays its own
    number: int  # equal for equal ones
    instants: tuple[int, ...]  # in microseconds, as it states them
    oldest: float  # of a Workload's, PodsReady included; infinite for others
    limited: bool


class KnownCycles:
    """Decisions by states of one recording whose manifests nobody changes.

    Two states are one where their objects are equal, but for the condition PodsReady, and
    each instant that an object states is before, at or after both present ones, also when
    these are cut to whole seconds. Kueue only compares instants, and reads PodsReady for
    a deadline alone, where it neither holds others back until pods are ready, nor adds use
    up over time, keeps what is over, limits how long one runs, or has waited too long.
    Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        waiting = settings.waiting
        self._patience = math.inf  # us that a Workload may wait for its pods, at least
        if waiting is not None:
            spans = waiting.timeout_ms, waiting.recovery_ms
            least = min(span for span in spans if span is not None)
            self._patience = least * US_PER_MS - _SECOND_US
        self._by_time = bool(
            (waiting is not None and waiting.block)
            or settings.usage
            or settings.retention
            or settings.gates.concurrent_admission
        )
        self._numbers: dict[bytes, int] = {}
        self._read: dict[int, _Known] = {}
        self._decided: dict[State, list[Decided | None]] = {}

    def cycles(
        self, objects: Sequence[Object], at_us: int, most: int
    ) -> Iterator[Decided]:
        """Yield what `decisions.cycles` yields. Cost: O(objects) for a state that is known."""
        state = self._state(objects, at_us)
        if state is None:
            yield from cycles(objects, self.settings, at_us, most)
            return
        if len(self._decided) >= _MOST:
            self._decided.clear()
        decided = self._decided.setdefault(state, [])
        rest: Iterator[Decided] | None = None
        for number in range(most):
            if number == len(decided):
                if rest is None:
                    every = cycles(objects, self.settings, at_us, most)
                    rest = islice(every, number, None)
                decided.append(next(rest, None))
            one = decided[number]
            if one is None:
                return
            yield one

    def _state(self, objects: Sequence[Object], at_us: int) -> State | None:
        """Return what parts a state from others; None where the instant does it by itself."""
        if self._by_time:
            return None
        read = [self._known(obj.manifest) for obj in objects]
        since = at_us - self._patience
        if any(one.limited or one.oldest <= since for one in read):
            return None
        second = at_us - at_us % _SECOND_US
        late = [at for one in read for at in one.instants if at >= second]
        later = tuple(
            sum(at >= since for at in late) for since in (second + 1, at_us, at_us + 1)
        )
        return (len(late), *later, *(one.number for one in read))

    def _known(self, manifest: Manifest) -> _Known:
        known = self._read.get(id(manifest))
        if known is None:
            known = self._read[id(manifest)] = self._look(manifest)
        return known

    def _look(self, manifest: Manifest) -> _Known:
        metadata = {n: v for n, v in manifest["metadata"].items() if n not in _SERVERS}
        found, oldest = {**manifest, "metadata": metadata}, math.inf
        if manifest["kind"] == "Workload":
            oldest = min(_instants(msgspec.json.encode(found)), default=oldest)
            status = manifest.get("status") or {}
            given = status.get("conditions") or ()
            conditions = [one for one in given if one["type"] != PODS_READY]
            found["status"] = {**status, "conditions": conditions}
        text = msgspec.json.encode(found)
        number = self._numbers.setdefault(text, len(self._numbers))
        limited = any(name in text for name in _LIMITS)
        return _Known(manifest, number, _instants(text), oldest, limited)


def _instants(text: bytes) -> tuple[int, ...]:
    return tuple(durations.stamp_us(at.decode()) for at in _INSTANT.findall(text))
