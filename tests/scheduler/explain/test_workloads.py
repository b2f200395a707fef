"""Why a workload waits, said with the numbers of the cycle that decides."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.workloads import explain
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue as queue
from tests.builders import flavor, job, local_queue, world_of
from tests.scheduler.explain.worlds import (
    CLASSICAL,
    contended,
    lender_and_borrower,
    put_workload,
    run_to,
    waiting,
    workload,
)


def test_the_chain_goes_from_the_local_queue_to_the_root() -> None:
    world = lender_and_borrower(job("j", queue="borrower", cpu=9), until_ms=1_000)
    chain = explain(world, workload(world, "j")).chain
    assert [(node.kind, node.name) for node in chain] == [
        ("LocalQueue", "borrower"),
        ("ClusterQueue", "borrower"),
        ("Cohort", "all"),
    ]


def test_a_pod_outside_a_limit_range_is_told_so_and_not_to_wait_for_quota() -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "limits", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]},
    }
    world = lender_and_borrower(
        limits, job("large", queue="borrower", cpu=3), until_ms=1_000
    )
    said = explain(world, workload(world, "large")).sentences
    assert "requests must not be above the limitRange max" in said[0]
    assert said[1] == "LimitRange limits sets Container max cpu=2."
    assert "It does not wait for quota" in said[2]
    assert not any("until quota is released" in sentence for sentence in said)


def test_the_arithmetic_of_a_flavor_is_that_of_the_tree() -> None:
    world = lender_and_borrower(
        job("big", queue="borrower", cpu=6),
        job("late", queue="borrower", cpu=3, arrival="1s"),
        until_ms=2_000,
    )
    (row,) = explain(world, workload(world, "late")).flavors
    own = row.chain[0]
    assert (row.requested, row.available, row.shortfall) == ("3000", "2000", "1000")
    assert (own.nominal, own.used, own.borrowed) == ("4000", "6000", "2000")
    assert row.potential == "8000"


def test_more_than_could_ever_be_free_does_not_fit() -> None:
    world = lender_and_borrower(job("j", queue="borrower", cpu=9), until_ms=1_000)
    answer = explain(world, workload(world, "j"))
    assert answer.flavors[0].verdict == "noFit"
    assert answer.attempt.reason == "ExceedsMaxQuota"
    assert any("no more than 8 CPU could ever be" in s for s in answer.sentences)


def test_each_sentence_has_its_code() -> None:
    world = lender_and_borrower(job("j", queue="borrower", cpu=9), until_ms=1_000)
    answer = explain(world, workload(world, "j"))
    assert [sentence.text for sentence in answer.said] == answer.sentences
    codes = ["why.waitsAs", "why.notForQuota", "short.never"]
    assert [sentence.code for sentence in answer.said] == codes


def test_why_one_is_not_tried_has_its_code() -> None:
    world = lender_and_borrower(job("j", queue="borrower", cpu=2), until_ms=1_000)
    attempt = explain(world, workload(world, "j")).attempt
    assert attempt.said is not None
    assert (attempt.said.code, attempt.said.text) == (
        "notTried.holdsQuota",
        attempt.message,
    )


def test_who_is_ahead_is_named_in_order() -> None:
    world = lender_and_borrower(
        *(job(f"j{n}", queue="borrower", cpu=9) for n in range(3)),
        job("urgent", queue="borrower", cpu=8, priority_class="high"),
        until_ms=1_000,
    )
    key = workload(world, "urgent")
    place = explain(world, key).waiting
    assert place is None, "it holds quota"
    last = max(waiting(world), key=lambda k: world.objects[k].uid)
    place = explain(world, last).waiting
    assert place is not None
    assert (place.position, place.of, len(place.ahead)) == (3, 3, 2)


def test_a_flavor_that_cannot_run_the_pods_is_barred_with_the_reason() -> None:
    tainted = flavor("spot")
    tainted["spec"]["nodeTaints"] = [
        {"key": "spot", "value": "true", "effect": "NoSchedule"}
    ]
    world = world_of(
        tainted,
        queue("main", flavor="spot"),
        local_queue("main", cluster_queue="main"),
        job("j", queue="main", cpu=2),
    )
    run_to(world, 1_000)
    (row,) = explain(world, workload(world, "j")).flavors
    assert row.verdict == "barred"
    assert row.reason == "untolerated taint {spot true NoSchedule <nil>} in flavor spot"


def test_a_flavor_behind_one_that_was_good_enough_is_not_tried() -> None:
    main = queue("main", flavor="one", cpu=2)
    flavors = main["spec"]["resourceGroups"][0]["flavors"]
    flavors.append({"name": "two", "resources": flavors[0]["resources"]})
    world = world_of(
        flavor("one"), flavor("two"), main, local_queue("main", cluster_queue="main")
    )
    run_to(world, 1_000)
    key = put_workload(world, "fresh", queue="main", cpu="2")
    rows = explain(world, key).flavors
    assert [(row.flavor, row.verdict) for row in rows] == [
        ("one", "fit"),
        ("two", "notTried"),
    ]


def test_an_explanation_changes_nothing() -> None:
    world = contended(3, fair=True)
    run_to(world, 9_000)
    before = world.hash()
    for key in waiting(world):
        explain(world, key)
    assert world.hash() == before


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_promised_in_a_world_that_is_quiet(seed: int) -> None:
    """Whoever could be admitted was; but the head of a StrictFIFO blocks others."""
    world = contended(seed, fair=seed % 2 == 0)
    for until_ms in range(1_000, 30_000, 4_000):
        run_to(world, until_ms)
        for key in waiting(world):
            answer = explain(world, key)
            assert answer.waiting is not None
            behind = answer.waiting.strategy == "StrictFIFO"
            if not (behind and answer.waiting.position > 1):
                assert answer.attempt.status in ("refused", "skipped"), (until_ms, key)


def test_only_workloads_of_this_world_can_be_explained() -> None:
    world = lender_and_borrower()
    with pytest.raises(SchedulerError, match="is not in this world"):
        explain(world, Key("Workload", "default", "ghost"))
    with pytest.raises(SchedulerError, match="expected a Workload"):
        explain(world, Key("Job", "default", "j"))


def test_active_work_whose_retries_are_used_up_is_told_why_it_stays_out() -> None:
    waiting = {"timeout": "5s", "requeuingStrategy": {"backoffLimitCount": 0}}
    parts = [flavor(), queue("q"), local_queue("q", cluster_queue="q")]
    slow = job("slow", queue="q", ready_after="1h")
    world = world_of(*parts, slow, kueue={"waitForPodsReady": waiting})
    run_to(world, 10_000)
    [key] = world.kueue.cluster.workloads
    known = world.get(key)
    active = {**known.manifest, "spec": {**known.spec, "active": True}}
    world.put(Object(key=key, manifest=active))
    run_to(world, 60_000)
    told = explain(world, key)
    assert told.attempt is not None
    assert told.attempt.said.code == "notTried.keptOut"
    assert "DeactivatedDueToRequeuingLimitExceeded" in told.sentences[0]
    assert world.get(key).spec["active"]
    assert world.get(key).status.get("requeueState") is None


def test_what_kueue_deactivated_is_told_that_activating_it_does_not_help() -> None:
    limited = job("limited", queue="q", runtime="10m")
    limited["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "5"
    parts = [flavor(), queue("q"), local_queue("q", cluster_queue="q")]
    world = world_of(*parts, limited)
    run_to(world, 10_000)
    [key] = world.kueue.cluster.workloads
    told = explain(world, key)
    assert told.attempt.said.code == "notTried.overtime"
    assert "only a new Workload gets quota" in told.sentences[0]
    assert told.waiting is None


@pytest.mark.parametrize(
    ("release", "reason"),
    [({"kueue": "0.19.2"}, "Pending"), ({}, "WaitingForQuota")],
)
def test_who_would_wait_is_told_so_by_the_reason_of_the_release(
    release: dict[str, str], reason: str
) -> None:
    world = lender_and_borrower(
        job("big", queue="borrower", cpu=6),
        job("late", queue="borrower", cpu=3, arrival="1s"),
        until_ms=2_000,
        policy={**CLASSICAL, "release": release},
    )
    answer = explain(world, workload(world, "late"))
    assert answer.attempt.reason == reason
    assert answer.condition is not None
    assert answer.condition.reason == reason
