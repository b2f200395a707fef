"""How long each kind of step took, measured from the watch events of a recording."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from scheduler import durations
from scheduler.recordings.recording import Event, Item, Recording
from scheduler.records.annotations import READY_AFTER, RUNTIME
from scheduler.records.conditions import is_true

Samples = dict[str, list[tuple[int, int]]]  # step -> (began at, took), ms


@dataclass(slots=True)
class WorkloadSteps:
    """What was seen of one workload since it got its quota; ms since t=0."""

    reserved: int | None = None
    evicted: int | None = None
    started: int | None = None  # its last pod appeared
    ready: int | None = None  # its last pod got ready
    reported: int | None = None  # PodsReady said so
    ended: int | None = None  # its last pod failed
    pods: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Stopwatch:
    """Follows every workload through its steps."""

    samples: Samples = field(default_factory=lambda: defaultdict(list))
    attempts: dict[tuple[str, str], WorkloadSteps] = field(default_factory=dict)
    pods: dict[str, dict[str, int]] = field(default_factory=dict)
    jobs: dict[tuple[str, str], int] = field(default_factory=dict)
    finished: set[tuple[str, str]] = field(default_factory=set)
    undecided: dict[tuple[str, str], int] = field(default_factory=dict)

    def see(self, at: int, event: Event) -> None:
        """Take one event into account."""
        obj = event.object
        kind = obj["kind"]
        owner = _owner(obj)
        if kind == "Job" and event.type == "ADDED":
            self.jobs.setdefault(_name(obj), at)
        elif kind == "Workload" and owner:
            self._workload(at, event, (obj["metadata"].get("namespace", ""), owner))
        elif kind == "Pod" and owner:
            self._pod(at, obj, (obj["metadata"].get("namespace", ""), owner))

    def _workload(self, at: int, event: Event, key: tuple[str, str]) -> None:
        obj = event.object
        if event.type == "ADDED":
            self.undecided[key] = at
            if key in self.jobs:
                self._note(at, "workload_creation", at - self.jobs[key])
        conditions = {c["type"]: c for c in _status(obj).get("conditions") or ()}
        now = self.attempts.setdefault(key, WorkloadSteps())
        reserved = _is(conditions, "QuotaReserved")
        if "QuotaReserved" in conditions and key in self.undecided:
            self._note(at, "scheduling_cycle", at - self.undecided.pop(key))
        if reserved and now.reserved is None:
            now = self.attempts[key] = WorkloadSteps(reserved=at)
        if reserved and _is(conditions, "Evicted") and now.evicted is None:
            now.evicted = at
        if (
            _is(conditions, "PodsReady")
            and now.reported is None
            and now.ready is not None
        ):
            now.reported = at
            self._note(at, "readiness", at - now.ready)
        if _is(conditions, "Finished") and key not in self.finished:
            self.finished.add(key)
            self._finished(at, obj, now)
        if not reserved and now.reserved is not None:
            self._released(at, now)
            self.attempts[key] = WorkloadSteps()

    def _finished(self, at: int, workload: Item, now: WorkloadSteps) -> None:
        length = _runtime(workload)
        if now.ready is not None and length is not None:
            self._note(at, "completion", at - now.ready - length)

    def _released(self, at: int, now: WorkloadSteps) -> None:
        if now.started is not None and now.reserved is not None:
            self._note(now.started, "job_start", now.started - now.reserved)
        if now.ended is not None:
            self._note(at, "release", at - now.ended)

    def _pod(self, at: int, pod: Item, key: tuple[str, str]) -> None:
        now = self.attempts.setdefault(key, WorkloadSteps())
        seen = self.pods.setdefault(pod["metadata"]["uid"], {})
        status = _status(pod)
        if "added" not in seen:
            seen["added"] = at
            if now.reserved is not None:
                now.started = at
        if pod["spec"].get("nodeName") and "bound" not in seen:
            seen["bound"] = at
            self._note(at, "binding", at - seen["added"])
        if is_true(status, "Ready") and "ready" not in seen:
            seen["ready"] = now.ready = at
            if "bound" in seen:
                self._note(at, "pod_start", at - seen["bound"] - _ready_after(pod))
        if pod["metadata"].get("deletionTimestamp") and "deleted" not in seen:
            seen["deleted"] = at
            if now.evicted is not None:
                self._note(at, "suspension", at - now.evicted)
        if status.get("phase") == "Failed" and "ended" not in seen:
            seen["ended"] = now.ended = at
            if "deleted" in seen:
                self._note(at, "termination", at - seen["deleted"])

    def _note(self, at: int, step: str, ms: int) -> None:
        """Note that a step of this length was over at `at`."""
        ms = max(0, ms)
        self.samples[step].append((at - ms, ms))


def measure(recording: Recording) -> Samples:
    """Return when each step of every kind began and how long it took, in order.

    A step that goes on at the end of the recording is left out.
    """
    watch = Stopwatch()
    for event in recording.events:
        watch.see(recording.ms(event.at), event)
    for attempt in watch.attempts.values():
        if attempt.started is not None and attempt.reserved is not None:
            length = attempt.started - attempt.reserved
            watch._note(attempt.started, "job_start", length)
    return {step: sorted(found) for step, found in watch.samples.items()}


def _name(obj: Item) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _owner(obj: Item) -> str:
    references = obj["metadata"].get("ownerReferences") or ()
    return next((str(r["name"]) for r in references if r["kind"] == "Job"), "")


def _status(obj: Item) -> Item:
    status: Item = obj.get("status") or {}
    return status


def _is(conditions: dict[str, Any], kind: str) -> bool:
    return bool(kind in conditions and conditions[kind]["status"] == "True")


def _runtime(workload: Item) -> int | None:
    template = workload["spec"]["podSets"][0]["template"]
    return _length(template, RUNTIME)


def _ready_after(pod: Item) -> int:
    return _length(pod, READY_AFTER) or 0


def _length(obj: Item, name: str) -> int | None:
    text = (obj.get("metadata") or {}).get("annotations", {}).get(name)
    if text is None or not re.fullmatch(r"[\d.]+(ms|s|m|h)", text):
        return None
    return durations.milliseconds(text)
