"""A recording is read, measured and run again."""

from __future__ import annotations

import copy
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.cli import incident
from scheduler.cli.files import read_paths
from scheduler.cli.recording_folder import Event
from scheduler.engine.tick import simulate
from scheduler.model.decisions import Admit, Decision, Finish, Wait
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue, flavor, job, local_queue, node, world_of
from tests.recorded import __main__ as command
from tests.recorded.folder import read_folder, read_snapshot
from tests.recorded.latencies import CycleClock, WriteClock, cycle_ends
from tests.recorded.recording import read_attempts
from tests.recorded.rerun import compare
from tests.recorded.steps import (
    PodTimes,
    Stopwatch,
    WorkloadSteps,
    Writes,
    measure,
)
from tests.recorded.worlds import brought_to, go_on, number_attempts, received

A, B = ("default", "a"), ("default", "b")
START = "2026-01-01T00:00:00.5Z"


def stamp(seconds: float) -> str:
    return f"2026-01-01T00:00:{seconds + 0.5:06.3f}Z"


def owned(kind: str, name: str, spec: dict[str, Any], status: Any, **more: Any) -> Any:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "first", "uid": "u"}
    metadata = {"name": name, "namespace": "default", "uid": name, **more}
    metadata["ownerReferences"] = [owner]
    return {"kind": kind, "metadata": metadata, "spec": spec, "status": status}


def workload(*true: str) -> Any:
    annotations = {"quotalab.dev/runtime": "5s"}
    template = {"metadata": {"annotations": annotations}}
    conditions = [{"type": kind, "status": "True"} for kind in true]
    spec = {"podSets": [{"name": "main", "template": template}]}
    return owned("Workload", "job-first", spec, {"conditions": conditions})


def pod(node_name: str = "", phase: str = "Pending", ready: bool = False) -> Any:
    conditions = [{"type": "Ready", "status": "True"}] if ready else []
    status = {"phase": phase, "conditions": conditions}
    return owned("Pod", "first-0", {"nodeName": node_name} if node_name else {}, status)


EVENTS = [
    (1.0, "ADDED", workload()),
    (1.2, "MODIFIED", workload("QuotaReserved")),
    (1.5, "ADDED", pod()),
    (1.6, "MODIFIED", pod("n")),
    (3.6, "MODIFIED", pod("n", "Running", ready=True)),
    (4.0, "MODIFIED", workload("QuotaReserved", "PodsReady")),
    (9.6, "MODIFIED", workload("QuotaReserved", "PodsReady", "Finished")),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recording of one job that was admitted, ran and finished."""
    (tmp_path / "README.md").write_text(f"# One job\n\nrecorded from t=0 ({START})\n")
    (tmp_path / "manifests").mkdir()
    manifests = [
        flavor(),
        cluster_queue("q"),
        local_queue("q", cluster_queue="q"),
        node("n"),
        job("first", queue="q", runtime="5s"),
    ]
    text = yaml.safe_dump_all(manifests)
    (tmp_path / "manifests" / "all.yaml").write_text(text)
    row = {
        "name": "first",
        "namespace": "default",
        "uid": "w",
        "seenAt": 1.0,
        "creationTimestamp": "2026-01-01T00:00:01Z",
        "admissions": [{"at": 1.2}],
        "evictions": [],
    }
    (tmp_path / "arrivals.json").write_text(json.dumps([row]))
    lines = [
        json.dumps(
            {"at": stamp(at), "type": kind, "object": obj}, separators=(",", ":")
        )
        for at, kind, obj in EVENTS
    ]
    with gzip.open(tmp_path / "watch.jsonl.gz", "wt") as watch:
        watch.write("\n".join(lines))
    return tmp_path


def snapshot(folder: Path) -> None:
    """Write what stood at 4.4 s: the job ran, another had not come."""
    running = job("first", queue="q", runtime="5s")
    running["metadata"]["uid"] = "u"
    held = workload("QuotaReserved", "Admitted", "PodsReady")
    held |= {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    held["metadata"]["annotations"] = {"quotalab.dev/runtime": "5s"}
    requests = {"requests": {"cpu": "1"}}
    containers = [{"name": "c", "image": "i", "resources": requests}]
    [part] = held["spec"]["podSets"]
    part |= {"count": 1}
    part["template"]["spec"] = {"containers": containers}
    held["spec"]["queueName"] = "q"
    assigned = {"name": "main", "count": 1, "flavors": {"cpu": "default"}}
    assigned["resourceUsage"] = {"cpu": "1"}
    held["status"]["admission"] = {
        "clusterQueue": "q",
        "podSetAssignments": [assigned],
    }
    stands = pod("n", "Running", ready=True) | {"apiVersion": "v1"}
    stands["spec"]["containers"] = containers
    for obj in (held, stands):
        for condition in obj["status"]["conditions"]:
            condition["lastTransitionTime"] = stamp(3.5)
    queues = [flavor(), cluster_queue("q"), local_queue("q", cluster_queue="q")]
    items = [*queues, node("n"), running, held, stands]
    with gzip.open(folder / "snapshot-4.json.gz", "wt") as out:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)
    rows = json.loads((folder / "arrivals.json").read_text())
    second = {"name": "second", "seenAt": 6.0, "admissions": [{"at": 6.2}], "uid": "2"}
    rows.append(rows[0] | second)
    (folder / "arrivals.json").write_text(json.dumps(rows))
    later = yaml.safe_dump(job("second", queue="q", runtime="5s"))
    (folder / "manifests" / "later.yaml").write_text(later)


def test_a_rerun_goes_on_from_a_snapshot_with_the_arrivals_after_it(folder):
    snapshot(folder)
    out = io.StringIO()
    assert command.main([str(folder), "--from", "4", "--latencies", "none"], out) == 0
    said = out.getvalue()
    assert said.startswith("1 admissions, 1 in the recorded order, 0 evictions (0 rec")
    assert "median 0.2 s" in said


def test_what_ran_in_a_snapshot_ends_when_its_run_time_is_over(folder):
    snapshot(folder)
    recording = read_folder(folder)
    given = read_snapshot(folder, "4")
    world, jobs = go_on(recording, given, {"latencies": None}, 1)
    outcome = simulate(world, until_ms=60_000)
    finished = {
        jobs[d.subject]: d.at_ms for d in outcome.decisions if isinstance(d, Finish)
    }
    assert finished == {"default/first": 5000, "default/second": 7500}


def test_what_a_list_of_a_snapshot_missed_is_taken_from_the_watch(folder):
    recording = read_folder(folder)
    containers = [{"name": "c", "image": "i"}]
    for number, node_name in ((2, ""), (3, "n")):  # at 1.5 s and 1.6 s
        item = pod(node_name) | {"apiVersion": "v1"}
        item["spec"]["containers"] = containers
        item["metadata"]["resourceVersion"] = str(number)
        at, change = recording.events[number].at, recording.events[number].type
        recording.events[number] = Event(at, change, item)
    key = Key("Pod", "default", "first-0")
    stands = Object(key=key, manifest=pod())

    def bound_by(until_ms: int, version: str) -> bool:
        found = brought_to([stands], {key: version}, recording, until_ms)
        return any(one.spec.get("nodeName") == "n" for one in found)

    assert [bound_by(at, "2") for at in (1550, 1600)] == [False, True]
    assert not bound_by(1600, "4")  # the list is newer
    assert received(recording, {key: "3"}) == recording.start_us + 1_600_000


def test_attempts_after_a_snapshot_are_counted_as_the_recording_does(folder):
    snapshot(folder)
    recording = read_folder(folder)
    world, jobs = go_on(recording, read_snapshot(folder, "4"), {"latencies": None}, 1)
    (first,) = [key for key, name in jobs.items() if name == "default/first"]
    assert world.lifetime.run_of(first).attempt == 0  # it goes on with the first
    number_attempts(
        world, Stopwatch(attempts={A: WorkloadSteps()}), {first: "default/a"}
    )
    assert world.lifetime.run_of(first).attempt == 0  # none was started yet


def test_a_pod_that_succeeded_at_the_first_instant_has_stopped():
    pods = {"pod": PodTimes(number=0, added=0, succeeded=0)}

    assert WorkloadSteps(evicted=1, pods=pods).has_stopped()


def test_a_snapshot_that_is_not_there_is_named_with_those_that_are(folder, capsys):
    snapshot(folder)
    assert command.main([str(folder), "--from", "9"]) == 2
    said = capsys.readouterr().err
    assert "expected one of snapshot-4.json.gz, got 9" in said


@pytest.mark.parametrize("latencies", ["default", "recorded", "none"])
def test_a_rerun_closes_with_one_line(folder, latencies):
    out = io.StringIO()
    assert command.main([str(folder), "--latencies", latencies], out) == 0
    said = out.getvalue()
    assert said.startswith("1 admissions, 1 in the recorded order, 0 evictions (0 rec")
    assert said.endswith(" s\n")
    assert "first-admission error median 0." in said


def test_several_seeds_say_between_what_they_lie(folder):
    out = io.StringIO()
    arguments = [str(folder), "--latencies", "recorded", "--seeds", "2"]
    assert command.main(arguments, out) == 0
    *runs, last = out.getvalue().splitlines()
    assert len(runs) == 2
    assert last.startswith("2 seeds: 0 to 0 evictions (0 recorded), first-admission")


def test_repeats_say_what_two_runs_differ_by(folder):
    out = io.StringIO()
    arguments = [str(folder), "--latencies", "recorded", "--repeats", "3"]
    assert command.main(arguments, out) == 0
    _, last = out.getvalue().splitlines()
    assert last.startswith("3 runs with drawn steps: first admissions of two differ")


def test_two_reruns_are_equal(folder):
    once, twice = io.StringIO(), io.StringIO()
    for out in (once, twice):
        command.main([str(folder), "--latencies", "recorded"], out)
    assert once.getvalue() == twice.getvalue()


def test_steps_are_measured_from_the_watch_events(folder):
    samples = measure(read_folder(folder)).samples
    assert {step: took for step, [(_, took)] in samples.items()} == {
        "scheduling_cycle": 200,
        "job_start": 300,
        "binding": 100,
        "pod_start": 2100,
        "readiness": 400,
        "completion": 1000,
    }


@pytest.mark.parametrize("written", ["0d5s", "0m5s"])
def test_a_step_is_measured_by_a_run_time_as_people_write_it(folder, written):
    recording = read_folder(folder)
    for event in recording.events:
        if event.object["kind"] == "Workload":
            (pods,) = event.object["spec"]["podSets"]
            given = pods["template"]["metadata"]["annotations"]
            given["quotalab.dev/runtime"] = written
    assert [took for _, took in measure(recording).samples["completion"]] == [1000]


def test_a_folder_that_is_no_recording_is_named(tmp_path, capsys):
    assert command.main([str(tmp_path)]) == 2
    assert "README.md: expected a file of a recording" in capsys.readouterr().err


def test_an_instant_of_a_folder_is_written_with_its_configuration(folder, tmp_path):
    into = tmp_path / "instant"
    (folder / "config.yaml").write_text("kind: Configuration\n")
    (folder / "snapshot-0.json.gz").write_bytes(gzip.compress(b'{"items": []}'))
    assert incident.main([str(folder), "--into", str(into)], io.StringIO()) == 0
    written = {path.name for path in into.iterdir()}
    assert written == {"config.yaml", "incident.json", "policy.json"}


def test_a_folder_without_a_file_to_read_is_named(tmp_path):
    with pytest.raises(SchedulerError, match="expected files of manifests, found none"):
        read_paths([tmp_path])


def test_a_recording_that_was_cut_off_is_named(folder, capsys):
    watch = folder / "watch.jsonl.gz"
    watch.write_bytes(watch.read_bytes()[:-20])
    assert command.main([str(folder)]) == 2
    assert "watch.jsonl.gz: expected a whole gzip" in capsys.readouterr().err


def test_a_recording_without_events_is_named(folder, capsys):
    with gzip.open(folder / "watch.jsonl.gz", "wt"):
        pass
    assert command.main([str(folder)]) == 2
    assert "expected events of Jobs" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["watch.jsonl.gz", "arrivals.json"])
def test_a_file_that_is_missing_is_named(folder, capsys, name):
    (folder / name).unlink()
    assert command.main([str(folder)]) == 2
    assert f"{name}: expected a file of a recording" in capsys.readouterr().err


def test_what_a_recording_leaves_out_is_said_with_what_it_changes(folder, capsys):
    assert command.main([str(folder), "--latencies", "none"]) == 0
    begin, configured = capsys.readouterr().err.splitlines()
    assert "snapshot-0.json.gz: not there: pods that ran before" in begin
    assert "no Configuration of Kueue" in configured


@pytest.mark.parametrize("kind", ["Node", "ClusterQueue", "Job"])
def test_a_kind_that_a_rerun_misses_is_named(folder, capsys, kind):
    path = folder / "manifests" / "all.yaml"
    kept = [one for one in yaml.safe_load_all(path.read_text()) if one["kind"] != kind]
    path.write_text(yaml.safe_dump_all(kept))
    assert command.main([str(folder), "--latencies", "none"]) == 0
    found = capsys.readouterr().err
    assert f"no {kind} in it: " in found
    assert ("no first admission is in both" in found) is (kind != "Node")


def test_what_a_rerun_of_a_folder_does_not_replay_is_said(folder, capsys):
    ray = {"kind": "RayJob", "metadata": {"name": "r"}, "spec": {}}
    gone = {"kind": "Node", "metadata": {"name": "n"}, "spec": {}}
    with gzip.open(folder / "watch.jsonl.gz", "at") as watch:
        for change, obj in (("ADDED", ray), ("DELETED", gone)):
            line = {"at": stamp(10), "type": change, "object": obj}
            watch.write(f"\n{json.dumps(line)}")
    assert command.main([str(folder), "--latencies", "none"]) == 0
    found = capsys.readouterr().err
    assert f"{folder}: changes that a run does not replay: 1 Node" in found
    assert "work that does not arrive in a run, batch Jobs alone do: 1 RayJob" in found


def test_a_watch_that_begins_in_the_middle_is_named(folder, capsys):
    with gzip.open(folder / "snapshot-0.json.gz", "wt") as standing:
        json.dump({"kind": "List", "items": []}, standing)
    with gzip.open(folder / "watch.jsonl.gz", "rt") as watch:
        later = watch.read().splitlines()[1:]
    with gzip.open(folder / "watch.jsonl.gz", "wt") as watch:
        watch.write("\n".join(later))
    assert command.main([str(folder), "--latencies", "recorded"]) == 0
    assert "watch.jsonl.gz: 1 objects change" in capsys.readouterr().err


def test_attempts_are_read_from_the_metrics():
    name = "kueue_admission_attempt_duration_seconds"
    text = f'{name}_sum{{result="success"}} 2.5\n{name}_count{{result="success"}} 5\n'
    assert read_attempts(text) == {"success": (2.5, 5)}


def test_an_attempt_takes_what_it_took(folder):
    recording = read_folder(folder)
    watch = measure(recording)
    job = ("default", "first")
    assert watch.steps[job, "job_start", 1, 0] == 300
    assert watch.steps[job, "pod_start", 1, 0] == 2100


def test_verdicts_of_one_cycle_are_one_of_each_queue():
    decided = [(0, A), (40, B), (80, A), (900, B)]
    assert cycle_ends(decided) == [0, 80, 900]


def test_a_cycle_that_waits_for_pods_lasts_until_the_next_verdict():
    clock = CycleClock([(1000, A), (1700, A)], 500)
    assert clock.length(1000) == 700
    assert clock.length(1700) == 500  # nothing more was written


def test_verdicts_take_until_as_many_were_written():
    clock = WriteClock(Writes(verdicts=[1100, 1300, 9000]), ())
    assert clock.verdicts(1000, 1) == 100
    assert clock.verdicts(1000, 2) == 300
    assert clock.verdicts(1300, 1) == 200  # long after: the usual


def test_the_metrics_say_how_long_a_write_usually_takes():
    readings = [(5000, {"inadmissible": (1.0, 90), "success": (0.5, 3)})]
    clock = WriteClock(Writes(verdicts=[1000, 2000, 3000]), readings)
    assert clock.verdicts(3000, 2) == 1000


def test_an_admission_is_seen_when_that_of_its_job_was():
    clock = WriteClock(Writes(admissions={A: [1250]}), ())
    assert clock.admission(1000, A) == 250
    assert clock.admission(1000, B) == 200  # not in the recording: the usual


def test_an_admission_of_a_run_counts_when_it_would_be_seen(folder):
    recording = read_folder(folder)  # decided at 1.0 s, seen at 1.2 s
    key = Key("Workload", "default", "job-first")
    admit = Admit(at_ms=1000, subject=key, queue="q")
    ran = [
        compare(recording, [admit], {key: "default/first"}, 0, unseen)
        for unseen in ({}, {(str(key), 1000): 200})
    ]
    assert [round(run.quantile(0.5), 3) for run in ran] == [0.2, 0]


def test_a_pod_that_ended_is_reclaimed_when_its_workload_says_so():
    watch = Stopwatch()
    ended, said = pod("n", "Succeeded"), workload("QuotaReserved")
    said["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
    for at, obj in ((0, workload("QuotaReserved")), (100, ended), (700, said)):
        watch.see(at, Event(at="", type="MODIFIED", object=obj))
    assert watch.steps[("default", "first"), "reclaim", 1, 0] == 600


def test_pods_of_a_job_end_one_by_one_in_a_rerun():
    """Both run on one node, one after the other; together they never would."""
    big = job("big", queue="q", cpu=4, parallelism=2, runtime="5s")
    world = world_of(
        flavor(), cluster_queue("q", cpu=8), local_queue("q", cluster_queue="q"),
        node("n"), big,
    )  # fmt: skip
    simulate(world, until_ms=7000)
    [key] = world.keys("Workload")
    assert world.get(key).status["reclaimablePods"] == [{"name": "main", "count": 1}]
    finished = simulate(world, until_ms=20_000).decisions
    assert [d.at_ms for d in finished if isinstance(d, Finish)] == [10_000]


def test_a_cycle_that_is_written_keeps_the_next_one_waiting():
    world = world_of(
        flavor(), cluster_queue("q", cpu=4), local_queue("q", cluster_queue="q"),
        job("large", queue="q", cpu=9),
        job("small", queue="q", arrival="100ms"),
        simulation={"latencies": {"schedulingCycle": "1s"}},
    )  # fmt: skip
    assert world.kueue is not None
    world.kueue.pace.writing = Second()
    decided = simulate(world, until_ms=5000).decisions
    assert [d.at_ms for d in decided if isinstance(d, Wait | Admit)] == [0, 1000]


class Second:
    """Everything takes a second to write."""

    def length(self, decided: Sequence[Decision]) -> int:
        return 1000


def test_an_admission_that_waited_for_pods_is_measured_from_their_readiness():
    watch = Stopwatch()
    others = workload("QuotaReserved", "PodsReady")
    refused = workload()
    refused["metadata"]["ownerReferences"][0]["name"] = "second"
    reason = {"status": "False", "reason": "WaitingForPodsReady"}
    refused["status"]["conditions"] = [{"type": "QuotaReserved", **reason}]
    admitted = workload("QuotaReserved")
    admitted["metadata"]["ownerReferences"][0]["name"] = "second"
    ready = pod("n", "Running", ready=True)
    for at, obj in enumerate([workload("QuotaReserved"), ready, refused, others]):
        watch.see(1000 * at, Event(at="", type="MODIFIED", object=obj))
    watch.see(3200, Event(at="", type="MODIFIED", object=admitted))
    third, admitted_third = copy.deepcopy([refused, admitted])
    for obj in (third, admitted_third):
        obj["metadata"]["ownerReferences"][0]["name"] = "third"
    watch.see(3300, Event(at="", type="MODIFIED", object=third))
    watch.see(9900, Event(at="", type="MODIFIED", object=admitted_third))
    assert watch.samples["admission"] == [
        (3000, 200)
    ]  # what let the third in is unseen
