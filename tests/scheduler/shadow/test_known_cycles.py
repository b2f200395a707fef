"""What is known of a state is what the engine decides from it anew."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.model.kueue.configuration import Settings, Waiting
from scheduler.model.objects import Object
from scheduler.recorded.shadow.decisions import cycles, key_of
from scheduler.recorded.shadow.known import KnownCycles
from tests.builders import cluster_queue, flavor, local_queue
from tests.scheduler.shadow.test_shadow import EPOCH_US, condition, workload

Manifest = dict[str, Any]
WAITS = (
    None,
    Waiting(timeout_ms=6_000, recovery_ms=4_000, base_s=1),
    Waiting(timeout_ms=6_000, block=True, base_s=1),
)


def at(second: int) -> str:
    return f"2026-05-28T20:26:{second + 40:02}Z"


def became(
    kind: str, second: int, *, status: bool = True, reason: str = "R"
) -> Manifest:
    return {**condition(kind, status, reason), "lastTransitionTime": at(second)}


def a_workload(draw: random.Random, number: int) -> Manifest:
    """Return one that waits, holds quota or is evicted, each since a drawn second."""
    cpu, since = draw.choice(["1", "2", "3"]), draw.randrange(12)
    made = workload(f"w{number}", cpu=cpu, priority=draw.randrange(2))
    made["metadata"]["creationTimestamp"] = at(draw.randrange(12))
    queue = draw.choice(["a", "b"])
    made["spec"]["queueName"] = f"in-{queue}"
    made["status"] = status = {}
    if draw.random() < 0.4:
        if draw.random() < 0.4:
            status["requeueState"] = {"count": 1, "requeueAt": at(draw.randrange(12))}
            status["conditions"] = [
                became("QuotaReserved", since, status=False, reason="Pending"),
                became("Evicted", since, reason="PodsReadyTimeout"),
            ]
        return made
    status["admission"] = {
        "clusterQueue": queue,
        "podSetAssignments": [
            {
                "name": "main",
                "count": 1,
                "flavors": {"cpu": "default"},
                "resourceUsage": {"cpu": cpu},
            }
        ],
    }
    status["conditions"] = [became("QuotaReserved", since), became("Admitted", since)]
    if draw.random() < 0.2:
        status["conditions"].append(became("Evicted", since, reason="Preempted"))
    return made


def with_ready_pods(draw: random.Random, manifest: Manifest) -> Manifest:
    """Return the same, which says of its pods whether they are ready."""
    given = manifest["status"].get("conditions") or []
    reason = draw.choice(["Started", "WaitForStart", "WaitForRecovery"])
    ready = became(
        "PodsReady",
        draw.randrange(12),
        status=reason == "Started",
        reason=reason,
    )
    status = {**manifest["status"], "conditions": [*given, ready]}
    metadata = {**manifest["metadata"], "resourceVersion": str(draw.random())}
    return {**manifest, "metadata": metadata, "status": status}


def readings(draw: random.Random) -> list[tuple[list[Object], int]]:
    """Return states of one history, many of which differ in what Kueue does not read."""
    reclaim = draw.choice(["Any", "Never", "LowerPriority"])
    within = draw.choice(["LowerPriority", "LowerOrNewerEqualPriority"])
    standing = [flavor(), {"kind": "Namespace", "metadata": {"name": "default"}}]
    for name in ("a", "b"):
        standing += [
            cluster_queue(name, cohort="all", cpu=3, within=within, reclaim=reclaim),
            local_queue(f"in-{name}", cluster_queue=name),
        ]
    works = [a_workload(draw, n) for n in range(draw.randrange(2, 7))]
    choices = [[one, *(with_ready_pods(draw, one) for _ in range(2))] for one in works]
    found = []
    for _ in range(12):
        manifests = [*standing, *(draw.choice(same) for same in choices)]
        if draw.random() < 0.3:
            del manifests[-1]
        objects = [
            Object(key=key_of(one), manifest=one, status=one.get("status") or {})
            for one in manifests
        ]
        now_ms = draw.randrange(0, 13_000, draw.choice([100, 1_000]))
        found.append((objects, EPOCH_US + now_ms * 1_000))
    return found


def drawn(draw: random.Random) -> Settings:
    return Settings(fair=draw.random() < 0.5, waiting=draw.choice(WAITS))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_each_reading_decides_what_it_decides_alone(seed: int) -> None:
    draw = random.Random(seed)
    configured = drawn(draw)
    known = KnownCycles(configured)
    for objects, at_us in readings(draw):
        alone = list(cycles(objects, configured, at_us, 4))
        first = list(islice(known.cycles(objects, at_us, 4), draw.randrange(3)))
        assert first == alone[: len(first)]
        assert list(known.cycles(objects, at_us, 4)) == alone


def test_a_state_that_differs_in_what_is_not_read_is_not_worked_out_again() -> None:
    draw = random.Random(1)
    known = KnownCycles(Settings())
    [(objects, at_us), *_] = readings(draw)
    [*_, last] = objects
    manifest = with_ready_pods(draw, last.manifest)
    other = Object(key=last.key, manifest=manifest, status=manifest["status"])
    for state in (objects, [*objects[:-1], other]):
        list(known.cycles(state, at_us, 4))
    assert len(known._decided) == 1


def test_pods_that_are_ready_make_another_state_where_admission_waits_for_them() -> (
    None
):
    configured = Settings(waiting=Waiting(timeout_ms=60_000, block=True, base_s=1))
    draws = (a_workload(random.Random(seed), 1) for seed in range(20))
    holds = next(one for one in draws if "admission" in one["status"])
    standing = [
        flavor(),
        {"kind": "Namespace", "metadata": {"name": "default"}},
        cluster_queue("a", cpu=9),
        local_queue("in-a", cluster_queue="a"),
    ]
    holds["spec"]["queueName"] = "in-a"
    holds["status"]["admission"]["clusterQueue"] = "a"
    waits = workload("w2", cpu="1")
    waits["spec"]["queueName"], waits["status"] = "in-a", {}
    known, found = KnownCycles(configured), []
    for status in (False, True):
        ready = became("PodsReady", 5, status=status)
        conditions = [became("QuotaReserved", 1), became("Admitted", 1), ready]
        held = {**holds, "status": {**holds["status"], "conditions": conditions}}
        objects = [
            Object(key=key_of(one), manifest=one, status=one.get("status") or {})
            for one in (*standing, held, waits)
        ]
        alone = list(cycles(objects, configured, EPOCH_US + 13_000_000, 4))
        assert list(known.cycles(objects, EPOCH_US + 13_000_000, 4)) == alone
        found.append(alone)
    assert found[0] != found[1]
