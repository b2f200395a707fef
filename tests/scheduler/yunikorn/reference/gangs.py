"""Gangs the slow way: counts of placeholders and pods of one core in one queue.

Source: docs/semantics/yunikorn.md#gang-scheduling.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

PHASE_MS = 6_000
LONG_MS = 900_000


@dataclass
class Gang:
    """An application with one task group; pods come phase by phase."""

    name: str
    members: int
    style: str
    timeout_ms: int
    pods: list[int]  # how many come before each phase
    placed: int = 0  # placeholders that hold a place
    missing: int = 0  # placeholders without one
    waiting: int = 0  # pods without a place
    running: int = 0
    whole: bool = False  # all placeholders had a place: pods may take over
    failed: bool = False
    over: bool = False  # the placeholders' time
    since_ms: int | None = None  # the first placeholder's place

    def shown(self) -> tuple[str, int, int, bool]:
        """Return what a partition shows of it."""
        return self.name, self.placed, self.running, self.failed


@dataclass
class Gangs:
    """All of them, in the order in which they were submitted."""

    cores: int
    gangs: list[Gang]
    now_ms: int = 0
    seen: list[list[tuple[str, int, int, bool]]] = field(default_factory=list)

    def run(self) -> list[list[tuple[str, int, int, bool]]]:
        """Return what is shown at the end of each phase."""
        for gang in self.gangs:
            gang.missing = gang.members
        for phase in range(len(self.gangs[0].pods)):
            for gang in self.gangs:
                gang.waiting += 0 if gang.failed else gang.pods[phase]
            self._rest()
            self.now_ms += PHASE_MS
            self.seen.append([gang.shown() for gang in self.gangs])
        return self.seen

    def _rest(self) -> None:
        """Do one thing after the other until nothing is left to do in this phase."""
        while self._replace() or self._place() or self._expire():
            pass

    def _free(self) -> int:
        return self.cores - sum(gang.placed + gang.running for gang in self.gangs)

    def _place(self) -> bool:
        for gang in self.gangs:
            held_back = gang.placed + gang.missing > 0
            if self._free() and gang.missing:
                gang.missing, gang.placed = gang.missing - 1, gang.placed + 1
                gang.since_ms = self.now_ms if gang.since_ms is None else gang.since_ms
                gang.whole |= not gang.missing
                return True
            if self._free() and gang.waiting and not held_back:
                gang.waiting, gang.running = gang.waiting - 1, gang.running + 1
                return True
        return False

    def _replace(self) -> bool:
        for gang in self.gangs:
            if gang.whole and gang.placed and gang.waiting:
                gang.placed, gang.running = gang.placed - 1, gang.running + 1
                gang.waiting -= 1
                return True
        return False

    def _expire(self) -> bool:
        for gang in self.gangs:
            at = None if gang.since_ms is None else gang.since_ms + gang.timeout_ms
            unused = gang.placed + gang.missing
            if at is None or not unused or at >= self.now_ms + PHASE_MS:
                continue
            gang.placed = gang.missing = 0
            if not gang.whole and gang.style == "Hard":
                gang.failed, gang.waiting = True, 0
            return True
        return False


def drawn(draw: random.Random) -> Gangs:
    """Return up to three gangs in a queue of a few cores."""
    phases = 5
    gangs = [
        Gang(
            name=f"app-{number}",
            members=draw.randint(1, 4),
            style=draw.choice(["Soft", "Hard"]),
            timeout_ms=draw.choice([8_000, 14_000, LONG_MS]),
            pods=[draw.choice([0, 0, 1, 2]) for _ in range(phases)],
        )
        for number in range(draw.randint(1, 3))
    ]
    return Gangs(cores=draw.randint(4, 7), gangs=gangs)
