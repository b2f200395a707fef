"""Queues, priorities and statuses of Jobs beside a second, slow reading of the text.

Source: docs/semantics/kueue-jobs.md, docs/semantics/kueue-lifecycle.md#status-of-a-job.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key
from tests.builders import job, local_queue, small_cluster, workload_priority, world_of
from tests.draws import fresh

Manifest = dict[str, Any]
LABEL = "kueue.x-k8s.io/"
QUEUE, PRIORITY = f"{LABEL}queue-name", f"{LABEL}priority-class"
WORLDS, JOBS, CPUS = 12, 6, 4
START = datetime(2026, 1, 1, tzinfo=UTC)


def priority_class(name: str, value: int, *, everywhere: bool) -> Manifest:
    more = {"globalDefault": True} if everywhere else {}
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**made, "metadata": {"name": name}, "value": value, **more}


def classes(draw: random.Random) -> list[Manifest]:
    found = [workload_priority(n, draw.randrange(9)) for n in ("gold", "default")]
    low, high = sorted(draw.sample(range(-9, 9), 2))
    found += [
        priority_class("low", low, everywhere=draw.random() < 0.4),
        priority_class("high", high, everywhere=draw.random() < 0.4),
    ]
    return [each for each in found if draw.random() < 0.7]


def a_job(draw: random.Random, number: int) -> Manifest:
    """Return a Job that comes `number` seconds into the run, or fails in it."""
    more = {"fails_after": f"{draw.randrange(3, 9)}s"} if draw.random() < 0.3 else {}
    made = job(
        f"j{number}",
        queue=draw.choice(["default", "default", ""]),
        parallelism=draw.randrange(1, 5),
        priority_class=draw.choice(["", "", "gold", "default", "missing"]),
        arrival=f"{number}s",
        runtime=f"{draw.randrange(10, 20)}s",
        **more,
    )
    named = draw.choice(["", "low", "high", "missing"])
    if named:
        made["spec"]["template"]["spec"]["priorityClassName"] = named
    return made


class Job:
    """What one Job is and comes to, by the text."""

    def __init__(self, made: Manifest, others: list[Manifest]) -> None:
        ours = [each for each in others if each["kind"] == "WorkloadPriorityClass"]
        of = {each["metadata"]["name"]: each for each in ours}
        labels, notes = made["metadata"]["labels"], made["metadata"]["annotations"]
        self.queue = labels.get(QUEUE) or ("default" if has_queue(others) else None)
        label = labels.get(PRIORITY) or ("default" if "default" in of else None)
        self.priority: int | None
        if label:
            self.priority = of[label]["value"] if label in of else None
        else:
            self.priority = of_pods(made["spec"]["template"]["spec"], others)
        self.size = made["spec"]["parallelism"]
        self.arrives = seconds(notes["quotalab.dev/arrival"])
        takes, fails = (
            notes.get(f"quotalab.dev/{n}") for n in ("runtime", "fails-after")
        )
        self.failed = fails is not None
        self.takes = seconds(fails or takes or "")
        self.starts: int | None = None
        self.managed = self.queue is not None and self.priority is not None
        self.queued = self.managed and has_queue(others)

    def status(self, now: int) -> Manifest:
        ends = None if self.starts is None else self.starts + self.takes
        over = ends is not None and ends <= now
        found: Manifest = {"suspend": self.starts is None}
        if self.starts is not None:
            found["startTime"] = stamp(self.starts)
            found["active"] = 0 if over else self.size
        if over and self.failed:
            found |= {"failed": self.size, "condition": "Failed"}
        elif over and ends is not None:
            found |= {"succeeded": self.size, "condition": "Complete"}
            found["completionTime"] = stamp(ends)
        return found


def has_queue(others: list[Manifest]) -> bool:
    return any(each["kind"] == "LocalQueue" for each in others)


def of_pods(spec: Manifest, others: list[Manifest]) -> int | None:
    """Return the priority that the pods' class gives; None where it is missing."""
    found = [each for each in others if each["kind"] == "PriorityClass"]
    named = spec.get("priorityClassName")
    if named:
        values = [e["value"] for e in found if e["metadata"]["name"] == named]
        return values[0] if values else None
    return min(
        (each["value"] for each in found if each.get("globalDefault")), default=0
    )


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def stamp(second: int) -> str:
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def run(jobs: list[Job], until: int) -> None:
    """Admit, at every second, who fits: higher priority first, then who came first."""
    for now in range(until + 1):
        here = [each for each in jobs if each.queued and each.arrives <= now]
        started = [each for each in here if each.starts is not None]
        free = CPUS - sum(e.size for e in started if (e.starts or 0) + e.takes > now)
        waiting = [each for each in here if each.starts is None]
        for each in sorted(waiting, key=lambda e: (-(e.priority or 0), e.arrives)):
            if each.size <= free:
                each.starts, free = now, free - each.size


def shown(world: World, name: str) -> Manifest:
    found = world.get(Key("Job", "default", name))
    status, spec = found.status, found.spec
    names = ("startTime", "active", "failed", "succeeded", "completionTime")
    seen: Manifest = {n: status[n] for n in names if n in status}
    seen["suspend"] = bool(spec.get("suspend"))
    for condition in status.get("conditions") or ():
        if condition["type"] != "Suspended":  # as spec.suspend, which is compared
            seen["condition"] = condition["type"]
    return seen


def test_jobs_are_queued_run_and_reported_as_the_second_reading_has_it() -> None:
    seed, draw = fresh(7)
    for number in range(WORLDS):
        others = classes(draw)
        if draw.random() < 0.8:
            others.append(local_queue("default", cluster_queue="main"))
        made = [a_job(draw, n) for n in range(JOBS)]
        jobs = {each["metadata"]["name"]: Job(each, others) for each in made}
        world = world_of(*small_cluster(cpu=CPUS), *others, *made)
        until = draw.randrange(JOBS, 60)
        run(list(jobs.values()), until)
        simulate(world, until_ms=until * 1000 + 500)
        known = {world.get(key).spec["priority"] for key in world.keys("Workload")}
        assert known == {e.priority for e in jobs.values() if e.managed}, (seed, number)
        for name, each in jobs.items():
            labels = world.get(Key("Job", "default", name)).labels
            assert labels.get(QUEUE) == each.queue, (seed, number, name)
            if each.managed:
                assert shown(world, name) == each.status(until), (seed, number, name)
