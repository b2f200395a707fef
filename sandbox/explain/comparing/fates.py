"""Lives of workloads, told by what was decided about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandbox.explain.comparing.branches import Branch, Happened
from sandbox.explain.comparing.shapes import Fate, Span

_STARTS = {"Workload": "Admit", "Pod": "Bind"}


@dataclass(slots=True)
class Life:
    """What happened to one workload so far."""

    arrived_ms: int | None = None
    first_ms: int | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    evictions: int = 0
    lost_ms: int = 0  # held and lost since the branches parted
    lost: dict[str, int] = field(default_factory=dict)  # resource -> amount x ms
    usage: dict[str, int] = field(default_factory=dict)
    running: bool = False
    started_before: bool = False  # the branches parted
    finished_before: bool = False
    spans: list[tuple[str, int, int | None]] = field(default_factory=list)

    def begin(self, state: str, now_ms: int) -> None:
        """Begin a stretch; the one before ends."""
        if self.spans:
            before, since, _ = self.spans[-1]
            if before == state:
                return
            self.spans[-1] = (before, since, now_ms)
        self.spans.append((state, now_ms, None))

    def wait_ms(self) -> int | None:
        """Return the time to the first start; None when that was not seen."""
        if self.first_ms is None or self.arrived_ms is None:
            return None
        return self.first_ms - self.arrived_ms

    def fate(self) -> Fate:
        """Return the life as it travels."""
        return Fate(
            arrived_ms=self.arrived_ms,
            first_ms=self.first_ms,
            started_ms=self.started_ms,
            finished_ms=self.finished_ms,
            evictions=self.evictions,
            spans=[
                Span(state=state, from_ms=since, until_ms=until)  # type: ignore[arg-type]  # one of three
                for state, since, until in self.spans
            ],
        )


Lives = dict[str, Life]


def fates_of(branch: Branch) -> Lives:
    """Return the lives of all that waited or ran, by key. O(decisions)."""
    reader = _Reader(branch.subject_kind)
    for happened in branch.before:
        reader.take(happened)
    for life in reader.lives.values():
        life.evictions = life.lost_ms = 0
        life.lost = {}
        life.started_before = life.first_ms is not None
        life.finished_before = life.finished_ms is not None
    for happened in branch.since:
        reader.take(happened)
    return reader.lives


class _Reader:
    """Follows the subjects; jobs end without a word about their pods."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.start = _STARTS[kind]
        self.lives: Lives = {}
        self.owners: set[str] = set()  # namespace/name of what has pods
        self.pods: dict[str, list[Life]] = {}

    def take(self, happened: Happened) -> None:
        kind, _, name = happened.subject.partition("/")
        if kind == self.kind:
            self._live(happened, name)
        elif self.kind == "Pod" and happened.type == "Arrive":
            self.owners.add(name)
        elif self.kind == "Pod" and happened.type == "Finish":
            for life in self.pods.pop(name, ()):
                if life.running:
                    _finish(life, happened.t_ms)

    def _live(self, happened: Happened, name: str) -> None:
        now = happened.t_ms
        life = self.lives.get(happened.subject)
        if life is None:
            life = self.lives[happened.subject] = Life()
            if (owner := self._owner(name)) is not None:
                self.pods.setdefault(owner, []).append(life)
        if happened.type == "Arrive":
            life.arrived_ms = now if life.arrived_ms is None else life.arrived_ms
            life.begin("waiting", now)
        elif happened.type == self.start:
            _start(life, now, happened.data)
        elif happened.type in ("Preempt", "Evict"):
            _lose(life, now)
        elif happened.type == "Finish":
            _finish(life, now)

    def _owner(self, pod: str) -> str | None:
        """Return the job whose name the pod's begins with, the longest such."""
        name = pod
        while self.owners and "-" in name.rpartition("/")[2]:
            name = name.rpartition("-")[0]
            if name in self.owners:
                return name
        return None


def _finish(life: Life, now: int) -> None:
    life.finished_ms, life.running = now, False
    life.begin("finished", now)


def _start(life: Life, now: int, data: dict[str, Any]) -> None:
    life.first_ms = now if life.first_ms is None else life.first_ms
    life.started_ms, life.running = now, True
    life.usage = dict(_usage(data))
    life.begin("running", now)


def _usage(data: dict[str, Any]) -> Iterator[tuple[str, int]]:
    total: dict[str, int] = {}
    for pod_set in data.get("pod_sets") or ():
        for resource, amount in pod_set["usage"].items():
            total[resource] = total.get(resource, 0) + amount
    yield from total.items()


def _lose(life: Life, now: int) -> None:
    if not life.running or life.started_ms is None:
        return
    held = now - life.started_ms
    life.evictions += 1
    life.lost_ms += held
    for resource, amount in life.usage.items():
        life.lost[resource] = life.lost.get(resource, 0) + amount * held
    life.running, life.started_ms = False, None
    life.begin("waiting", now)
