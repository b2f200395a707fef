"""Gangs the slow way: task groups of cores in one queue, tick by tick.

Source: docs/semantics/yunikorn.md#gang-scheduling, #order-of-requests.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

PHASE_MS, TICK_MS = 6_000, 100
LONG_MS = 900_000
Shown = tuple[str, int, int, bool]  # cores of placeholders, of pods; whether it failed


@dataclass
class Group:
    """A task group; pods of `pods[phase]` cores come before each phase."""

    members: int
    cores: int
    pods: list[list[int]]
    placed: int = 0  # placeholders that hold a place
    missing: int = 0  # placeholders without one

    @property
    def left(self) -> bool:
        return self.placed + self.missing > 0


@dataclass
class Gang:
    """An application with its task groups."""

    name: str
    style: str
    timeout_ms: int
    groups: list[Group]
    waiting: list[tuple[Group, int]] = field(default_factory=list)  # pods by age
    running: int = 0  # cores of pods
    whole: bool = False  # all placeholders had a place: pods may take over
    failed: bool = False
    since_ms: int | None = None  # the first placeholder's place

    fresh: int = 0  # where those stand that came in this phase

    def come(self, pod: tuple[Group, int]) -> None:
        """Stand in front of one's equals, unless they are the end of the list."""
        end = not any(group.missing for group in self.groups)
        self.waiting.insert(len(self.waiting) if end else self.fresh, pod)

    def held(self) -> int:
        return sum(group.placed * group.cores for group in self.groups)

    def whole_now(self) -> bool:
        return all(group.placed == group.members for group in self.groups)


@dataclass
class Gangs:
    """All of them, in the order in which they were submitted."""

    cores: int
    gangs: list[Gang]
    now_ms: int = 0

    def run(self, phases: int) -> Iterator[list[Shown]]:
        """Yield what is shown at the end of each phase."""
        for group in (g for gang in self.gangs for g in gang.groups):
            group.missing = group.members
        for phase in range(phases):
            for gang in self.gangs:
                gang.fresh = len(gang.waiting)
                for group in [] if gang.failed else gang.groups:
                    for cores in group.pods[phase]:
                        gang.come((group, cores))
            for _ in range(PHASE_MS // TICK_MS):
                self._expire()
                _ = self._replace() or self._place()
                self.now_ms += TICK_MS
            yield [(g.name, g.held(), g.running, g.failed) for g in self.gangs]

    def _free(self) -> int:
        return self.cores - sum(gang.held() + gang.running for gang in self.gangs)

    def _replace(self) -> bool:
        return any(gang.whole and self._replace_in(gang) for gang in self.gangs)

    def _replace_in(self, gang: Gang) -> bool:
        for pod in gang.waiting:
            group, cores = pod
            if cores > group.cores:
                group.placed = 0  # too small: given up, one after the other
            elif group.placed:
                group.placed -= 1
                self._start(gang, pod)
                return True
        return False

    def _start(self, gang: Gang, pod: tuple[Group, int]) -> None:
        gang.waiting.remove(pod)
        gang.running += pod[1]

    def _place(self) -> bool:
        return any(self._place_in(gang) for gang in self.gangs)

    def _place_in(self, gang: Gang) -> bool:
        """Pods are older than placeholders here, and wait while their group has one."""
        for pod in gang.waiting:
            if not pod[0].left and pod[1] <= self._free():
                self._start(gang, pod)
                return True
        for group in gang.groups:
            if group.missing and group.cores <= self._free():
                group.missing, group.placed = group.missing - 1, group.placed + 1
                gang.since_ms = self.now_ms if gang.since_ms is None else gang.since_ms
                gang.whole |= gang.whole_now()
                return True
        return False

    def _expire(self) -> None:
        for gang in self.gangs:
            if gang.since_ms is None or not any(group.left for group in gang.groups):
                continue
            if self.now_ms < gang.since_ms + gang.timeout_ms:
                continue
            for group in gang.groups:
                group.placed = group.missing = 0
            if not gang.whole and gang.style == "Hard":
                gang.failed = True
                gang.waiting.clear()


def drawn(draw: random.Random, phases: int) -> Gangs:
    """Return up to three gangs of one or two task groups, in a queue of a few cores."""
    gangs = [
        Gang(
            name=f"app-{number}",
            style=draw.choice(["Soft", "Hard"]),
            timeout_ms=draw.choice([8_000, 14_000, LONG_MS]),
            groups=[_group(draw, phases) for _ in range(draw.randint(1, 2))],
        )
        for number in range(draw.randint(1, 3))
    ]
    most = max(sum(g.members * g.cores for g in gang.groups) for gang in gangs)
    return Gangs(cores=most + draw.randint(0, 4), gangs=gangs)


def _group(draw: random.Random, phases: int) -> Group:
    cores = draw.randint(1, 3)
    sizes = [cores, cores, max(1, cores - 1), cores + 1]
    pods = [draw.choices(sizes, k=draw.choice([0, 0, 1, 2])) for _ in range(phases)]
    return Group(members=draw.randint(1, 4), cores=cores, pods=pods)
