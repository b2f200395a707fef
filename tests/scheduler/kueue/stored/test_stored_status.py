"""The status of a Workload that is stored is read, and written as it was."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import (
    dump_state,
    load_state,
    queue_order_timestamp,
)
from scheduler.engine.kueue.workload.status_records import Condition, LastAssignment
from scheduler.model.kueue import check_answers as gates
from scheduler.model.kueue import check_state
from scheduler.model.kueue.check_answers import GateState
from scheduler.model.kueue.check_state import CheckState
from scheduler.model.objects import Key, Object
from tests.scheduler.kueue.rig import Rig

AT, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"
AT_US = 1_767_323_045_000_000

WHOLE: dict[str, Any] = {
    "admission": {
        "clusterQueue": "q",
        "podSetAssignments": [
            {
                "name": "main",
                "flavors": {"cpu": "f"},
                "resourceUsage": {"cpu": "2"},
                "count": 2,
            }
        ],
    },
    "conditions": [
        {
            "type": "QuotaReserved",
            "status": "True",
            "reason": "QuotaReserved",
            "message": "Quota reserved in ClusterQueue q",
            "lastTransitionTime": AT,
            "observedGeneration": 3,
        },
        {
            "type": "Admitted",
            "status": "False",
            "reason": "UnsatisfiedAdmissionChecks",
            "message": "",
            "lastTransitionTime": LATER,
        },
    ],
    "admissionChecks": [
        {
            "name": "c",
            "state": "Retry",
            "lastTransitionTime": LATER,
            "message": "not yet",
            "podSetUpdates": [{"name": "main", "labels": {"a": "b"}}],
            "requeueAfterSeconds": 0,
            "retryCount": 2,
        },
        {"name": "d", "state": "Ready", "lastTransitionTime": AT, "message": ""},
    ],
    "preemptionGates": [
        {"name": "g", "position": "Open", "lastTransitionTime": AT},
        {"name": "h", "position": "Closed"},
    ],
    "reclaimablePods": [{"name": "main", "count": 1}],
    "requeueState": {"count": 4, "requeueAt": LATER},
    "accumulatedPastExecutionTimeSeconds": 17,
    "unhealthyNodes": [{"name": "h1"}, {"name": "h2"}],
    "schedulingStats": {
        "evictions": [
            {"reason": "Deactivated", "underlyingCause": "Late", "count": 1},
            {"reason": "Preempted", "underlyingCause": "", "count": 3},
        ]
    },
}


def written(status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Read a Workload with this status and write it again, deciding nothing."""
    rig = Rig()
    rig.workload("w", "q", count=2, status=status, **spec)
    return rig.status("Workload", "w", "default")


def test_every_field_is_written_as_it_was_read():
    named = [{"name": "g"}, {"name": "h"}]
    assert written(WHOLE, preemptionGates=named) == WHOLE


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"conditions": WHOLE["conditions"][1:]},
        {"requeueState": {"count": 1}},
        {"requeueState": {"count": 0, "requeueAt": AT}},
    ],
)
def test_what_is_not_there_is_not_written(status):
    assert written(status) == status


def test_fields_that_are_left_out_have_their_defaults():
    rig = Rig()
    rig.workload("w", "q", status={
        "conditions": [{"type": "Admitted"}],
        "admissionChecks": [{"name": "c"}],
        "schedulingStats": {"evictions": [{"count": 2}]},
    })  # fmt: skip
    work = rig.work("w")
    assert rig.condition("w", "Admitted") == (False, "", "")
    assert work.conditions["Admitted"].since_us == 0
    assert work.checks == {"c": CheckState("Pending", "", 0)}
    assert work.evictions == {("", ""): 2}
    assert (work.requeue_count, work.requeue_at_us, work.accumulated_s) == (0, None, 0)


@pytest.mark.parametrize(
    ("check", "after"),
    [
        (CheckState("Pending", "m", 1, retry_count=3),
         CheckState("Pending", "m", 1, retry_count=3)),
        (CheckState("Retry", "m", 1, requeue_after_s=5),
         CheckState("Pending", "Reset to Pending after eviction. Previously: Retry", 9,
                    requeue_after_s=5, retry_count=1)),
        (CheckState("Retry", "m", 1, ({"name": "main"},), retry_count=2),
         CheckState("Pending", "Reset to Pending after eviction. Previously: Retry", 9,
                    retry_count=3)),
        (CheckState("Ready", "m", 1, retry_count=2),
         CheckState("Pending", "Reset to Pending after eviction. Previously: Ready", 9)),
    ],
)  # fmt: skip
def test_an_eviction_sets_checks_back_and_counts_retries(check, after):
    assert check_state.reset(check, 9) == after


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ({}, ""),
        ({"a": CheckState("Ready", "m", 0)}, ""),
        ({"a": CheckState("Retry", "", 0)}, 'AdmissionCheck in Retry state: "a"'),
        (
            {
                "b": CheckState("Retry", "late", 0),
                "c": CheckState("Rejected", "no", 0),
                "a": CheckState("Retry", "", 0),
            },
            'AdmissionChecks in Retry state: "a"; "b" (late)',
        ),
    ],
)
def test_the_checks_in_a_state_are_named_in_order_with_what_they_say(states, sentence):
    assert check_state.verdict(states, "Retry") == sentence


def test_a_gate_that_no_status_names_is_closed():
    spec = {"preemptionGates": [{"name": "a"}, {"name": "b"}]}
    status = {
        "preemptionGates": [
            {"name": "a", "position": "Open", "lastTransitionTime": AT},
            {"name": "x"},
        ]
    }
    names, states = gates.read_gates(spec, status)
    assert names == ("a", "b")
    assert states == {"a": GateState("Open", AT_US), "x": GateState("Closed", 0)}
    assert gates.any_closed(names, states)
    assert not gates.any_closed(("a",), states)
    assert not gates.any_closed((), states)


def test_an_eviction_closes_every_gate_that_was_open():
    states = {"a": GateState("Open", 5), "b": GateState("Closed", 3)}
    assert gates.closed_again(states, 9) == {
        "a": GateState("Closed", 9),
        "b": GateState("Closed", 3),
    }


@pytest.mark.parametrize(
    ("reference", "replaced"),
    [("ns/old", Key("Workload", "ns", "old")), ("", None)],
)
def test_a_slice_names_the_one_that_it_replaces(reference, replaced):
    rig = Rig()
    name = "kueue.x-k8s.io/workload-slice-replacement-for"
    rig.workload("w", "q", annotations={name: reference})
    assert rig.work("w").replaces == replaced


def test_what_the_status_does_not_say_is_read_back_from_the_state():
    rig = Rig()
    rig.workload("w", "q")
    work = rig.work("w")
    work.pods_ready = True
    work.second_pass_us, work.second_pass_tries = 5, 2
    work.last_assignment = LastAssignment(({"cpu": 1}, {"cpu": -1}), 7, 3, "hash")
    state = dump_state(work)
    rig.workload("again", "q")
    again = rig.work("again")
    load_state(again, state)
    assert dump_state(again) == state
    assert again.last_assignment == work.last_assignment
    load_state(again, {})
    assert not again.pods_ready


EVICTED_AT = 9


@pytest.mark.parametrize(
    ("reason", "status", "by_eviction", "queued_at"),
    [
        ("PodsReadyTimeout", True, True, EVICTED_AT),
        ("PodsReadyTimeout", True, False, 4),
        ("PodsReadyTimeout", False, True, 4),
        ("AdmissionCheck", True, False, EVICTED_AT),
        ("AdmissionCheck", False, True, 4),
        ("Preempted", True, True, 4),
        (None, True, True, 4),
    ],
)
def test_who_was_evicted_for_late_pods_or_a_check_queues_from_then(
    reason, status, by_eviction, queued_at
):
    rig = Rig()
    rig.workload("w", "q")
    work = rig.work("w")
    work.created_us = 4
    if reason is not None:
        work.conditions["Evicted"] = Condition(status, reason, "", EVICTED_AT)
    assert queue_order_timestamp(work, by_eviction=by_eviction) == queued_at


@pytest.mark.parametrize(
    ("owners", "owned"),
    [
        ([{"kind": "Pod"}], True),
        ([{"kind": "Pod"}, {"kind": "Pod"}], False),
        ([{"kind": "Job"}], False),
        ([{}], False),
        (None, False),
    ],
)
def test_a_workload_is_of_a_pod_where_that_is_its_only_owner(owners, owned):
    assert of_metadata(ownerReferences=owners).owned_by_pod is owned


@pytest.mark.parametrize(
    ("field", "label", "seconds"),
    [(5, None, 5), (None, "7", 7), (5, "7", 5), (None, "x", None), (0, None, None)],
)
def test_the_longest_run_is_said_by_the_field_or_else_by_the_label(
    field, label, seconds
):
    name = "kueue.x-k8s.io/max-exec-time-seconds"
    labels = {} if label is None else {name: label}
    spec = {} if field is None else {"maximumExecutionTimeSeconds": field}
    assert of_metadata(spec, labels=labels).max_execution_s == seconds


def test_generation_and_uid_of_the_job_come_from_the_metadata():
    work = of_metadata(generation=3, labels={"kueue.x-k8s.io/job-uid": "j"})
    assert (work.generation, work.job_uid) == (3, "j")
    assert (of_metadata().generation, of_metadata().job_uid) == (0, "")


def of_metadata(spec: dict[str, Any] | None = None, **metadata: Any) -> WorkloadInfo:
    """Return the Workload of this metadata, without podsets."""
    rig = Rig()
    key = Key("Workload", "default", "w")
    manifest = {"kind": "Workload", "metadata": metadata, "spec": spec or {}}
    rig.stage.put(Object(key=key, manifest=manifest, status={}))
    return rig.work("w")


def test_an_eviction_without_an_underlying_cause_is_counted_as_one_of_none():
    stats = {"schedulingStats": {"evictions": [{"reason": "Preempted", "count": 2}]}}
    rig = Rig()
    rig.queue("q")
    rig.workload("w", "q", status=stats)
    assert rig.work("w").evictions == {("Preempted", ""): 2}
