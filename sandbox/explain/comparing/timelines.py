"""Timelines of workloads, from what was decided about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.explain.comparing.branches import Branch, Happened
from sandbox.explain.comparing.shapes import OutcomeCounts, OutcomeDiff, Span, Timeline
from scheduler.analysis.measures.verdict import StartVerdict, start_verdict

_STARTS = {"Workload": "Admit", "Pod": "Bind"}


@dataclass(slots=True)
class TimelineBuilder:
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
        """Begin a span; the one before ends."""
        if self.spans:
            before, since, _ = self.spans[-1]
            if before == state:
                return
            self.spans[-1] = (before, since, now_ms)
        self.spans.append((state, now_ms, None))

    def built(self) -> Timeline:
        """Return the timeline as it travels."""
        return Timeline(
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


Timelines = dict[str, TimelineBuilder]


def timelines_of(branch: Branch) -> Timelines:
    """Return the timelines of all that waited or ran, by key. O(decisions)."""
    reader = _Reader(branch.subject_kind)
    for happened in branch.before:
        reader.take(happened)
    for timeline in reader.timelines.values():
        timeline.evictions = timeline.lost_ms = 0
        timeline.lost = {}
        timeline.started_before = timeline.first_ms is not None
        timeline.finished_before = timeline.finished_ms is not None
    for happened in branch.since:
        reader.take(happened)
    return reader.timelines


class _Reader:
    """Follows the subjects; jobs end without a word about their pods."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.start = _STARTS[kind]
        self.timelines: Timelines = {}
        self.owners: set[str] = set()  # namespace/name of what has pods
        self.pods: dict[str, list[TimelineBuilder]] = {}

    def take(self, happened: Happened) -> None:
        kind, _, name = happened.subject.partition("/")
        if kind == self.kind:
            self._live(happened, name)
        elif self.kind == "Pod" and happened.type == "Arrive":
            self.owners.add(name)
        elif self.kind == "Pod" and happened.type == "Finish":
            for timeline in self.pods.pop(name, ()):
                if timeline.running:
                    _finish(timeline, happened.t_ms)

    def _live(self, happened: Happened, name: str) -> None:
        now = happened.t_ms
        timeline = self.timelines.get(happened.subject)
        if timeline is None:
            timeline = self.timelines[happened.subject] = TimelineBuilder()
            if (owner := self._owner(name)) is not None:
                self.pods.setdefault(owner, []).append(timeline)
        if happened.type == "Arrive":
            timeline.arrived_ms = (
                now if timeline.arrived_ms is None else timeline.arrived_ms
            )
            timeline.begin("waiting", now)
        elif happened.type == self.start:
            _start(timeline, now, happened.data)
        elif happened.type in ("Preempt", "Evict"):
            _lose(timeline, now)
        elif happened.type == "Finish":
            _finish(timeline, now)

    def _owner(self, pod: str) -> str | None:
        """Return the job whose name the pod's begins with, the longest such."""
        name = pod
        while self.owners and "-" in name.rpartition("/")[2]:
            name = name.rpartition("-")[0]
            if name in self.owners:
                return name
        return None


def _finish(timeline: TimelineBuilder, now: int) -> None:
    timeline.finished_ms, timeline.running = now, False
    timeline.begin("finished", now)


def _start(timeline: TimelineBuilder, now: int, data: dict[str, Any]) -> None:
    timeline.first_ms = now if timeline.first_ms is None else timeline.first_ms
    timeline.started_ms, timeline.running = now, True
    timeline.usage = dict(_usage(data))
    timeline.begin("running", now)


def _usage(data: dict[str, Any]) -> Iterator[tuple[str, int]]:
    total: dict[str, int] = {}
    for pod_set in data.get("pod_sets") or ():
        for resource, amount in pod_set["usage"].items():
            total[resource] = total.get(resource, 0) + amount
    yield from total.items()


def _lose(timeline: TimelineBuilder, now: int) -> None:
    if not timeline.running or timeline.started_ms is None:
        return
    held = now - timeline.started_ms
    timeline.evictions += 1
    timeline.lost_ms += held
    for resource, amount in timeline.usage.items():
        timeline.lost[resource] = timeline.lost.get(resource, 0) + amount * held
    timeline.running, timeline.started_ms = False, None
    timeline.begin("waiting", now)


# ------------------------------------------------------------------------
# Whose outcome differs: earlier, later, never, or only in the other branch.


def outcome_diffs(
    branches: Sequence[Branch], timelines: Sequence[Timelines]
) -> list[OutcomeDiff]:
    """Return the workloads that differ, largest time difference first."""
    first, *others = timelines
    end_ms = min(branch.end_ms for branch in branches)
    found: list[tuple[int, OutcomeDiff]] = []
    for subject in _subjects(timelines):
        ours = first.get(subject)
        verdicts = [verdict(ours, other.get(subject)) for other in others]
        if all(v == "same" for v in verdicts) and not _evicted(subject, timelines):
            continue
        builders = [branch.get(subject) for branch in timelines]
        diff = OutcomeDiff(
            subject=subject,
            verdicts=verdicts,
            timelines=[one.built() if one is not None else None for one in builders],
        )
        found.append((_apart(builders, end_ms), diff))
    return [diff for _, diff in sorted(found, key=lambda f: (-f[0], f[1].subject))]


def counts(timelines: Sequence[Timelines]) -> list[OutcomeCounts]:
    """Return how many outcomes of each kind there are, per other branch."""
    first, *others = timelines
    subjects = _subjects(timelines)
    return [
        _counts(Counter(verdict(first.get(s), other.get(s)) for s in subjects))
        for other in others
    ]


def _counts(found: Counter[StartVerdict]) -> OutcomeCounts:
    return OutcomeCounts(
        same=found["same"],
        earlier=found["earlier"],
        later=found["later"],
        never=found["never"],
        only=found["only"],
    )


def _subjects(timelines: Sequence[Timelines]) -> list[str]:
    return list(dict.fromkeys(subject for one in timelines for subject in one))


def _evicted(subject: str, timelines: Sequence[Timelines]) -> bool:
    """Return whether it was evicted in one branch more often than in another."""
    return len({one[subject].evictions for one in timelines if subject in one}) > 1


def verdict(
    ours: TimelineBuilder | None, theirs: TimelineBuilder | None
) -> StartVerdict:
    """Return its outcome there, by the start that holds."""
    one = None if ours is None else ours.started_ms
    other = None if theirs is None else theirs.started_ms
    return start_verdict(one, other)


def _apart(timelines: Sequence[TimelineBuilder | None], end_ms: int) -> int:
    """Return how far the starts lie apart; who does not run starts at the end."""
    starts = [
        end_ms if one is None or one.started_ms is None else one.started_ms
        for one in timelines
    ]
    return max(starts) - min(starts)
