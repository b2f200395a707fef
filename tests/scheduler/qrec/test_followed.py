"""A recording as input: who came when, how long it ran, and an instant that goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler.assembly import prepare
from scheduler.cli.files import read_paths
from scheduler.engine.tick import simulate
from scheduler.model.errors import SchedulerError
from scheduler.recorded.followed import incident, run_times
from scheduler.recorded.qrec.reading import Followed, Header, RecordedChange, stamp
from scheduler.recorded.twin.beginning import begin_recording
from tests.recorded.arrivals import arrivals_of
from tests.recorded.folder import snapshot

BEGIN = 1_800_000_000_000_000  # microseconds since the epoch
QUEUES = """
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}}
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]}}
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "a"}, "spec": {"clusterQueue": "cq"}}
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
"""


def queues() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUEUES.split("\n") if line]


def job(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "a",
            "uid": f"uid-{name}",
            "labels": {"kueue.x-k8s.io/queue-name": "q"},
        },
        "spec": {"parallelism": 1, "completions": 1, "template": template},
    }


def workload(name: str, at: int, *true: str) -> RecordedChange:
    conditions = [
        {
            "type": one,
            "status": "True",
            "reason": "Preempted" if one == "Evicted" else one,
            "message": "",
            "lastTransitionTime": stamp(BEGIN + at * 1_000_000)[:19] + "Z",
        }
        for one in true
    ]
    owner = {"kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}
    manifest = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"job-{name}",
            "namespace": "a",
            "uid": f"w-{name}",
            "ownerReferences": [{"apiVersion": "batch/v1", **owner}],
        },
        "spec": {"queueName": "q", "podSets": []},
        "status": {"conditions": conditions},
    }
    return RecordedChange(BEGIN + at * 1_000_000, "MODIFIED", manifest)


def followed(*events: RecordedChange) -> Followed:
    return Followed(start_us=BEGIN, standing=queues(), events=list(events))


def added(at: int, manifest: dict[str, Any]) -> RecordedChange:
    return RecordedChange(BEGIN + at * 1_000_000, "ADDED", manifest)


def test_a_row_says_when_quota_was_held_and_given_back() -> None:
    [row] = arrivals_of(
        followed(
            workload("j", 1),
            workload("j", 3, "QuotaReserved", "Admitted"),
            workload("j", 5, "QuotaReserved", "Admitted", "Evicted"),
            workload("j", 8, "Evicted"),
            workload("j", 9, "QuotaReserved", "Admitted"),
        )
    )
    assert (row.name, row.seen_at) == ("j", 1.0)
    assert [one.at for one in row.admissions] == [3.0, 9.0]
    [eviction] = row.evictions
    assert (eviction.at, eviction.quota_released_at) == (5.0, 8.0)
    assert eviction.reason == "Preempted"


def test_work_ran_from_its_last_admission_to_its_end() -> None:
    found = run_times(
        [
            workload("j", 1, "QuotaReserved", "Admitted"),
            workload("j", 4, "Evicted"),
            workload("j", 6, "QuotaReserved", "Admitted"),
            workload("j", 16, "QuotaReserved", "Admitted", "Finished"),
        ]
    )
    assert found == {("Job", "a", "j"): 10.0}


def test_an_instant_goes_on_with_what_really_came_and_as_long_as_it_really_ran(
    tmp_path: Any,
) -> None:
    recording = followed(
        added(1, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}),
        added(10, job("late")),
        workload("late", 12, "QuotaReserved", "Admitted"),
        workload("late", 42, "QuotaReserved", "Admitted", "Finished"),
    )
    for name, text in incident(recording, BEGIN + 5_000_000):
        (tmp_path / name).write_text(text)
    world = prepare(read_paths([tmp_path])).assemble(seed=1).world
    ran = simulate(world, until_ms=120_000)
    seen = {
        type(one).__name__: one.at_ms
        for one in reversed(ran.decisions)  # the first of each type stays
        if "late" in one.subject.name
    }
    assert seen["Arrive"] == 5_000
    assert 30_000 <= seen["Finish"] - seen["Admit"] < 40_000


MANAGER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "manager", "namespace": "kueue-system"},
    "spec": {
        "containers": [{"name": "m", "image": "registry.k8s.io/kueue/kueue:v0.17.3"}]
    },
}


def test_a_recording_decides_as_what_ran_there() -> None:
    recording = followed(added(1, job("a")))
    recording.standing.append(MANAGER)
    assert recording.releases() == {"kueue": "0.17.3"}
    recording.header = Header(releases={"kueue": "v0.18.2", "kubernetes": "1.34.1"})
    assert recording.releases() == {"kueue": "0.18.2", "kubernetes": "1.34.1"}
    [text] = [t for name, t in incident(recording, BEGIN) if name == "policy.json"]
    assert json.loads(text)["spec"]["release"] == recording.releases()
    world, _ = begin_recording(recording)
    assert dict(world.policy.spec.decides_as().given()) == recording.releases()


def test_a_release_that_is_not_known_is_not_taken() -> None:
    recording = followed(added(1, job("a")))
    recording.header = Header(releases={"kueue": "0.9.1"})
    assert recording.releases() == {}


def test_a_snapshot_is_what_stood_at_the_instant() -> None:
    recording = followed(added(1, job("a")), added(3, job("b")))
    _, text = snapshot(recording, BEGIN + 2_000_000)
    names = [item["metadata"]["name"] for item in json.loads(text)["items"]]
    assert "a" in names
    assert "b" not in names


def test_an_instant_of_yunikorn_has_its_queues(tmp_path: Any) -> None:
    def config_map(name: str, queue: str) -> dict[str, Any]:
        tree = f"queues: [{{name: root, queues: [{{name: {queue}}}]}}]"
        data = {"queues.yaml": f"partitions: [{{name: default, {tree}}}]"}
        metadata = {"name": name, "namespace": "yunikorn"}
        called = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        return {**called, "data": data}

    maps = [config_map("yunikorn-defaults", "a"), config_map("yunikorn-configs", "b")]
    recording = Followed(start_us=BEGIN, standing=maps)
    for name, text in incident(recording, BEGIN):
        (tmp_path / name).write_text(text)
    policy = prepare(read_paths([tmp_path])).assemble(seed=1).world.policy
    assert policy.spec.stack == "yunikorn"
    assert "'b'" in repr(policy.spec.yunikorn)


def test_an_instant_outside_of_the_recording_is_refused_with_its_bounds() -> None:
    with pytest.raises(SchedulerError, match=r"expected a time from 2027-01-15T08:00"):
        incident(followed(added(1, job("a"))), BEGIN - 1)
