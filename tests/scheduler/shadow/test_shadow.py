"""Real decisions beside the engine's, in histories of a few events."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.cli.shadow import main
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.recorded.shadow.compare import Judge, Verdict
from scheduler.recorded.shadow.decisions import History, cycles
from tests.builders import cluster_queue, flavor, local_queue

Manifest = dict[str, Any]
EPOCH_US = 1_780_000_000_000_000
EVICTION = (
    "Preempted to accommodate a workload (UID: {uid}, JobUID: UNKNOWN) due to "
    "prioritization in the ClusterQueue"
)


def queues(**queue: Any) -> list[Manifest]:
    return [
        {"kind": "Namespace", "metadata": {"name": "default"}},
        flavor(),
        cluster_queue("a", **queue),
        local_queue("main", cluster_queue="a"),
    ]


def workload(
    name: str, *, cpu: str = "2", priority: int = 0, second: int = 0
) -> Manifest:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    pods = {
        "name": "main",
        "count": 1,
        "template": {"spec": {"containers": [container]}},
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": f"2026-05-28T20:26:{second:02}Z",
        },
        "spec": {"queueName": "main", "priority": priority, "podSets": [pods]},
    }


def condition(kind: str, status: bool, reason: str, message: str = "") -> Manifest:
    return {
        "type": kind,
        "status": "True" if status else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-05-28T20:27:00Z",
    }


def admitted(
    manifest: Manifest, *, cpu: str = "2", flavor: str = "default"
) -> Manifest:
    part = {
        "name": "main",
        "count": 1,
        "flavors": {"cpu": flavor},
        "resourceUsage": {"cpu": cpu},
    }
    status = {
        "admission": {"clusterQueue": "a", "podSetAssignments": [part]},
        "conditions": [
            condition("QuotaReserved", True, "QuotaReserved"),
            condition("Admitted", True, "Admitted"),
        ],
    }
    return {**copy.deepcopy(manifest), "status": status}


def preempted(manifest: Manifest, *, by: str) -> Manifest:
    found = copy.deepcopy(manifest)
    message = EVICTION.format(uid=f"uid-{by}")
    found["status"]["conditions"] += [
        condition("Evicted", True, "Preempted", message),
        condition("Preempted", True, "InClusterQueue", message),
    ]
    return found


def waiting(manifest: Manifest, reason: str) -> Manifest:
    status = {"conditions": [condition("QuotaReserved", False, reason)]}
    return {**copy.deepcopy(manifest), "status": status}


def verdicts(*seen: tuple[int, Manifest], **queue: Any) -> list[Verdict]:
    """Judge a history of (ms, Workload as it then was)."""
    return judge_of(*seen, **queue).judge().verdicts


def judge_of(*seen: tuple[int, Manifest], **queue: Any) -> Judge:
    known: set[str] = set()
    events = []
    for at, manifest in seen:
        name = manifest["metadata"]["name"]
        events.append((at, "MODIFIED" if name in known else "ADDED", manifest))
        known.add(name)
    history = History(queues(**queue), events)
    return Judge(history, Settings(), EPOCH_US)


def test_an_admission_that_fits_agrees() -> None:
    one = workload("one")
    [verdict] = verdicts((0, one), (100, admitted(one)))
    assert verdict.agrees


def test_an_admission_above_the_quota_differs() -> None:
    one = workload("one", cpu="9")
    [verdict] = verdicts((0, one), (100, admitted(one, cpu="9")))
    assert (verdict.agrees, verdict.difference) == (False, "not decided")


def test_an_admission_to_another_flavor_differs() -> None:
    one = workload("one")
    [verdict] = verdicts((0, one), (100, admitted(one, flavor="spot")))
    assert verdict.difference == "another flavor"


def test_who_comes_later_may_not_pass_the_head_of_a_strict_queue() -> None:
    first, second = workload("first"), workload("second", second=1)
    [verdict] = verdicts(
        (0, first), (1, second), (100, admitted(second)), strategy="StrictFIFO"
    )
    assert verdict.difference == "another decision first"


def test_who_comes_later_may_pass_one_that_was_put_aside() -> None:
    first, second = workload("first"), workload("second", second=1)
    tried = waiting(first, "WaitingForQuota")
    [verdict] = verdicts((0, first), (1, tried), (2, second), (100, admitted(second)))
    assert str(verdict.reading) == "the state just before, those tried in vain aside"


def test_what_came_after_a_cycle_began_agrees_with_an_earlier_state() -> None:
    first, urgent = workload("first"), workload("urgent", priority=9)
    [verdict] = verdicts(
        (0, first), (10, urgent), (20, admitted(first)), strategy="StrictFIFO"
    )
    assert str(verdict.reading) == "an earlier state"


def test_the_victims_of_one_preemptor_are_one_decision() -> None:
    low = [admitted(workload(f"low-{i}")) for i in range(2)]
    high = workload("high", cpu="4", priority=9, second=9)
    found = verdicts(
        *((i, one) for i, one in enumerate(low)),
        (1000, high),
        *((1100 + i, preempted(one, by="high")) for i, one in enumerate(low)),
        within="LowerPriority",
    )
    assert [(v.real.kind, v.agrees) for v in found] == [
        ("admission", True),
        ("admission", True),
        ("preemption", True),
    ]


def test_another_victim_than_ours_differs() -> None:
    old = admitted(workload("old"))
    new = admitted(workload("new", second=5))
    high = workload("high", priority=9, second=9)
    *_, verdict = verdicts(
        (0, old),
        (1, new),
        (9000, high),
        (9100, preempted(old, by="high")),
        within="LowerPriority",
    )
    assert (verdict.real.kind, verdict.agrees) == ("preemption", False)


def test_what_was_admitted_and_evicted_between_two_events_was_admitted_first() -> None:
    low = workload("low", cpu="4")
    high = workload("high", cpu="4", priority=9, second=9)
    found = verdicts(
        (0, low),
        (1000, high),
        (1100, preempted(admitted(low, cpu="4"), by="high")),
        within="LowerPriority",
    )
    assert [verdict.real.kind for verdict in found] == ["admission", "preemption"]
    assert found[1].agrees


def first_cycle(*workloads: Manifest, config: Manifest | None = None) -> set[str]:
    """Return whom the first cycle admits, with a quota of 2 CPU."""
    history = History([*queues(cpu="2"), *workloads], [])
    settings = read_configuration(config or {})
    decided = next(cycles(history.existing(), settings, EPOCH_US, 1))
    return {key.name for key in decided.admitted}


def test_a_workload_that_waits_for_its_victims_heads_its_queue() -> None:
    first = waiting(workload("first", second=5), "WaitingForPreemptedWorkloads")
    rival = workload("rival", priority=5, second=6)
    assert first_cycle(first, rival) == {"first"}


def test_one_that_waits_for_quota_heads_nothing() -> None:
    first = waiting(workload("first", second=5), "WaitingForQuota")
    rival = workload("rival", priority=5, second=6)
    assert first_cycle(first, rival) == {"rival"}


@pytest.mark.parametrize(("active", "admits"), [(True, set()), (False, {"next"})])
def test_one_that_was_deactivated_blocks_no_admission(
    active: bool, admits: set[str]
) -> None:
    unready = admitted(workload("unready", cpu="0"), cpu="0")
    unready["spec"]["active"] = active
    blocking = {"waitForPodsReady": {"timeout": "5m", "blockAdmission": True}}
    assert first_cycle(unready, workload("next"), config=blocking) == admits


def test_the_command_closes_with_how_many_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = workload("one")
    (tmp_path / "README.md").write_text("t=0 (2026-05-28T20:26:40Z)")
    with gzip.open(tmp_path / "snapshot-0.json.gz", "wt") as snapshot:
        json.dump({"kind": "List", "items": [*queues(), one]}, snapshot)
    event = {
        "at": "2026-05-28T20:27:00Z",
        "type": "MODIFIED",
        "object": admitted(one),
    }
    with gzip.open(tmp_path / "watch.jsonl.gz", "wt") as watch:
        watch.write(json.dumps(event) + "\n")
    assert main([str(tmp_path), "--details"]) == 0
    assert capsys.readouterr().out == (
        "1 agree on the state just before\n1 decisions, 1 agree\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recording of one Workload that was admitted, all of it there."""
    (tmp_path / "README.md").write_text("t=0 (2026-05-28T20:26:40Z)")
    (tmp_path / "config.yaml").write_text("kind: Configuration\n")
    write(tmp_path, [*queues(), workload("one")])
    return tmp_path


def write(folder: Path, standing: list[Manifest]) -> None:
    with gzip.open(folder / "snapshot-0.json.gz", "wt") as snapshot:
        json.dump({"kind": "List", "items": standing}, snapshot)
    now = admitted(workload("one"))
    event = {"at": "2026-05-28T20:27:00Z", "type": "MODIFIED", "object": now}
    with gzip.open(folder / "watch.jsonl.gz", "wt") as watch:
        watch.write(json.dumps(event) + "\n")


def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([str(folder)]) == 0
    return capsys.readouterr().err


def test_nothing_is_said_of_a_recording_that_is_whole(folder, capsys) -> None:
    assert said(folder, capsys) == ""


def test_defaults_are_named_where_no_configuration_was_recorded(folder, capsys) -> None:
    (folder / "config.yaml").unlink()
    assert "no Configuration of Kueue in it (config.yaml" in said(folder, capsys)


@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue", "ResourceFlavor"])
def test_a_kind_that_was_not_recorded_is_named(folder, capsys, kind) -> None:
    kept = [one for one in queues() if one["kind"] != kind]
    write(folder, [*kept, workload("one")])
    assert f"no {kind} in it: " in said(folder, capsys)


def test_cohorts_are_missed_where_shares_are_weighed(folder, capsys) -> None:
    fair = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    (folder / "config.yaml").write_text(f"{fair}fairSharing: {{}}\n")
    assert "no Cohort in it: " in said(folder, capsys)


def test_a_watch_that_begins_in_the_middle_is_named(folder, capsys) -> None:
    write(folder, queues())
    assert "1 objects change that neither" in said(folder, capsys)


def test_a_recording_without_a_decision_is_refused(folder, capsys) -> None:
    with gzip.open(folder / "watch.jsonl.gz", "wt"):
        pass
    assert main([str(folder)]) == 2
    assert "expected admissions or preemptions" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["watch.jsonl.gz", "snapshot-0.json.gz"])
def test_a_file_that_is_missing_is_named(folder, capsys, name) -> None:
    (folder / name).unlink()
    assert main([str(folder)]) == 2
    found = capsys.readouterr().err
    assert f"{name}: expected a file of a recording, found none" in found


def test_a_line_that_is_no_watch_event_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("t=0 (2026-05-28T20:26:40Z)")
    with gzip.open(tmp_path / "snapshot-0.json.gz", "wt") as snapshot:
        json.dump({"kind": "List", "items": []}, snapshot)
    with gzip.open(tmp_path / "watch.jsonl.gz", "wt") as watch:
        watch.write("{}\n")
    assert main([str(tmp_path)]) == 2
    assert "watch.jsonl.gz:1: expected a watch event" in capsys.readouterr().err
