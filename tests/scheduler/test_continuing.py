"""A cluster that was read while it ran goes on from where it stood."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick, simulate
from scheduler.input.manifests.load import load
from scheduler.model.decisions import Admit, Finish, Preempt, Requeue
from scheduler.model.durations import stamp_text, stamp_us
from scheduler.model.latencies import Latencies
from scheduler.model.objects import Key
from tests.bench.bench_running_clusters import judge
from tests.builders import node, small_cluster

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
READ = "2026-03-01T10:05:00Z"  # when the cluster was read
ADMITTED = "2026-03-01T10:00:00Z"
READY = "2026-03-01T10:00:10Z"


def condition(name: str, at: str, status: str = "True") -> dict:
    return {"type": name, "status": status, "reason": name, "lastTransitionTime": at}


def template(cpu: int = 1) -> dict:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"spec": {"containers": [container]}}


def running_job(name: str = "j", *, pods: int = 2, runtime: str = "10m") -> dict:
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    annotations = {"quotalab.dev/runtime": runtime} if runtime else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "labels": labels,
            "annotations": annotations,
        },
        "spec": {"parallelism": pods, "completions": pods, "template": template()},
        "status": {"active": pods, "startTime": ADMITTED},
    }


def owner(kind: str, name: str) -> dict:
    version = {"Job": "batch/v1", "DaemonSet": "apps/v1"}[kind]
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
    }


def workload(name: str = "j", *, pods: int = 2, conditions: list[dict]) -> dict:
    part = {"name": "main", "count": pods, "template": template()}
    assigned = {
        "name": "main",
        "count": pods,
        "flavors": {"cpu": "default"},
        "resourceUsage": {"cpu": str(pods)},
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"job-{name}-given",
            "namespace": "default",
            "uid": f"uid-workload-{name}",
            "ownerReferences": [owner("Job", name)],
        },
        "spec": {"queueName": "main", "podSets": [part], "active": True},
        "status": {
            "admission": {"clusterQueue": "main", "podSetAssignments": [assigned]},
            "conditions": conditions,
        },
    }


def pod(name: str, *, of: dict, node: str = "n1", ready: str = READY, **meta) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "ownerReferences": [of],
            **meta,
        },
        "spec": {"nodeName": node, **template()["spec"]},
        "status": {"phase": "Running", "conditions": [condition("Ready", ready)]},
    }


def clock() -> dict:
    """Something that was touched when the cluster was read."""
    return {**node("n9"), "status": {"conditions": [condition("Ready", READ)]}}


def admitted(*more: dict) -> list[dict]:
    return [
        condition("QuotaReserved", ADMITTED),
        condition("Admitted", ADMITTED),
        *more,
    ]


def world_of(*manifests: dict, **simulation):
    text = "\n---\n".join(yaml.safe_dump(one) for one in manifests)
    if "latencies" in simulation:  # these alone, not over the usual ones
        given = msgspec.to_builtins(Latencies())
        simulation["latencies"] = {**given, **simulation["latencies"]}
    policy = {"simulation": simulation} if simulation else {}
    return assemble([("dump.yaml", text)], policy=policy).world


def running(*more: dict, **simulation):
    return world_of(
        *small_cluster(),
        node("n1"),
        node("n2"),
        clock(),
        running_job(),
        workload(conditions=admitted(condition("PodsReady", READY))),
        pod("j-0", of=owner("Job", "j")),
        pod("j-1", of=owner("Job", "j"), node="n2"),
        *more,
        **simulation,
    )


def names(world, kind: str) -> list[str]:
    return sorted(key.name for key in world.objects if key.kind == kind)


def test_time_is_the_latest_that_the_dump_says():
    assert running().policy.spec.simulation.start_time == READ


def test_a_start_time_that_is_given_wins():
    world = running(startTime="2026-03-01T10:06:00Z")
    assert world.policy.spec.simulation.start_time == "2026-03-01T10:06:00Z"


def test_nothing_is_made_twice_and_pods_stay_on_their_nodes():
    world = running()
    run_tick(world)
    assert names(world, "Workload") == ["job-j-given"]
    assert names(world, "Pod") == ["j-0", "j-1"]
    nodes = {
        k.name: o.spec["nodeName"] for k, o in world.objects.items() if k.kind == "Pod"
    }
    assert nodes == {"j-0": "n1", "j-1": "n2"}


def test_a_pod_that_its_workload_owns_is_its_pod_whatever_its_attempt():
    own = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "controller": True,
    }
    of = {**own, "name": "job-j-given"}
    world = world_of(
        *small_cluster(),
        node("n1"),
        clock(),
        running_job(pods=1),
        workload(pods=1, conditions=admitted(condition("PodsReady", READY))),
        pod("job-j-given-main-1", of=of),  # of the attempt after the first
    )
    run_tick(world)
    assert names(world, "Pod") == ["job-j-given-main-1"]


def test_work_ends_when_it_would_have_ended():
    outcome = simulate(running(latencies={}), until_ms=10**7)
    (finish,) = [one for one in outcome.decisions if isinstance(one, Finish)]
    # Ten minutes from 10:00:10, read at 10:05:00.
    assert finish.at_ms == (5 * 60 + 10) * 1000


def test_a_pod_that_the_job_lacks_is_made():
    world = world_of(
        *small_cluster(),
        node("n1"),
        clock(),
        running_job(),
        workload(conditions=admitted()),
        pod("j-0", of=owner("Job", "j")),
        latencies={},
    )
    run_tick(world)
    assert len(names(world, "Pod")) == 2


def test_a_pod_of_a_job_that_succeeded_is_not_made_again():
    over = pod("j-1", of=owner("Job", "j"))
    over["status"] = {
        "phase": "Succeeded",
        "conditions": [condition("Ready", READ, "False")],
    }
    world = world_of(
        *small_cluster(),
        node("n1"),
        clock(),
        running_job(),
        workload(conditions=admitted(condition("PodsReady", READY))),
        pod("j-0", of=owner("Job", "j")),
        over,
        latencies={},
    )
    outcome = simulate(world, until_ms=10**7)
    assert names(world, "Pod") == ["j-1"]  # as it was left behind
    (finish,) = [one for one in outcome.decisions if isinstance(one, Finish)]
    assert finish.at_ms == (5 * 60 + 10) * 1000


def steps_under_way(*objects: dict, now: str, **latencies: str):
    """Return a run of one that was admitted at 10:00:00, read at `now`."""
    world = world_of(
        *small_cluster(),
        node("n1"),
        {**node("n9"), "status": {"conditions": [condition("Ready", now)]}},
        running_job(pods=1),
        workload(pods=1, conditions=admitted()),
        *objects,
        latencies=latencies,
    )
    outcome = simulate(world, until_ms=10**7)
    (finish,) = [one for one in outcome.decisions if isinstance(one, Finish)]
    return finish.at_ms


def test_a_pod_that_was_bound_gets_ready_when_it_would_have():
    bound = pod("j-0", of=owner("Job", "j"))
    bound["status"] = {
        "phase": "Pending",
        "conditions": [condition("PodScheduled", ADMITTED)],
    }
    ends = steps_under_way(bound, now="2026-03-01T10:00:05Z", podStart="20s")
    assert ends == 15_000 + 600_000


def test_a_job_that_was_admitted_starts_when_it_would_have():
    ends = steps_under_way(now="2026-03-01T10:00:05Z", jobStart="20s")
    assert ends == 15_000 + 600_000


def test_the_end_of_work_that_was_over_is_seen_when_it_would_have_been():
    stands = pod("j-0", of=owner("Job", "j"))
    ends = steps_under_way(stands, now="2026-03-01T10:10:15Z", completion="9s")
    assert ends == 4_000  # over at 10:10:10


def test_an_evicted_workload_holds_its_quota_until_its_pods_are_gone():
    world = world_of(
        *small_cluster(),
        node("n1"),
        clock(),
        running_job(),
        workload(
            conditions=admitted({**condition("Evicted", READ), "reason": "Preempted"})
        ),
        pod("j-0", of=owner("Job", "j"), deletionTimestamp="2026-03-01T10:05:02Z"),
        latencies={"termination": "30s", "release": "1s"},
    )
    key = Key("Workload", "default", "job-j-given")
    simulate(world, until_ms=2_900)
    assert "admission" in world.get(key).status
    outcome = simulate(world, until_ms=3_100)
    assert any(isinstance(one, Admit) for one in outcome.decisions)  # it comes again


def test_a_job_that_has_ended_gets_no_workload():
    done = running_job("old")
    done["status"] = {"conditions": [condition("Complete", ADMITTED)], "succeeded": 2}
    world = running(done)
    run_tick(world)
    assert names(world, "Workload") == ["job-j-given"]


def test_the_pod_of_a_daemon_set_runs_on():
    daemon = pod("log-n1", of=owner("DaemonSet", "log"))
    outcome = simulate(running(daemon, latencies={}), until_ms=10**8)
    ended = [one.subject.name for one in outcome.decisions if isinstance(one, Finish)]
    assert ended == ["job-j-given"]


def test_a_run_time_that_nothing_says_is_that_of_what_finished_before():
    past = []
    for number, seconds in enumerate((30, 400, 500)):
        start, end = (
            "2026-03-01T09:00:00Z",
            f"09:{seconds // 60:02d}:{seconds % 60:02d}",
        )
        history = [condition("Admitted", start)]
        history.append(condition("Finished", f"2026-03-01T{end}Z"))
        past.append(workload(f"j-{number}", conditions=history))
    world = world_of(
        *small_cluster(cpu=20),
        clock(),
        *past,
        running_job("j-9", runtime=""),
        workload("j-9", conditions=admitted()),
    )
    annotations = world.objects[Key("Workload", "default", "job-j-9-given")].annotations
    assert annotations["quotalab.dev/runtime"] == "500s"  # it ran for 300 s already
    source = annotations["quotalab.dev/runtime-source"]
    assert source == "2 of 3 finished of family j, those that ran longer"


def test_a_kind_that_nobody_knows_is_kept_as_given_and_reported():
    probe = {
        "apiVersion": "example.com/v1",
        "kind": "Probe",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"every": "5s"},
    }
    loaded = load([("dump.yaml", yaml.safe_dump(probe))])
    (finding,) = loaded.findings
    assert finding.level == "unsupported"
    assert "a kind of example.com" in finding.problem
    assert loaded.objects[0].manifest == probe


SNAPSHOTS = sorted(RECORDINGS.glob("*/snapshot-*.json.gz"))


@pytest.mark.skipif(not SNAPSHOTS, reason="the recordings are not on this machine")
@pytest.mark.parametrize("name", ["classical-cohort-quiet/snapshot-100.json.gz"])
def test_a_recorded_cluster_goes_on_with_its_workloads_and_pods(name):
    with gzip.open(RECORDINGS / name, "rt") as file:
        text = file.read()
    config = (RECORDINGS / name).parent / "config.yaml"
    sources = [("dump.json", text), ("config.yaml", config.read_text())]
    world = assemble(sources).world
    given = [Key(i["kind"], i["metadata"].get("namespace", ""), i["metadata"]["name"])
             for i in json.loads(text)["items"]]  # fmt: skip
    jobs = {key for key in given if key.kind == "Job"}
    run_tick(world)
    workloads = {key for key in given if key.kind == "Workload"}
    ours = {key for key in world.objects if key.kind == "Workload"}
    assert workloads <= ours
    assert len(ours) <= len(jobs)
    decided = world.take().decisions
    assert not any(isinstance(one, Preempt) for one in decided)


def test_a_cluster_in_full_swing_goes_on_with_nothing_out_of_place():
    row = judge(Path(__file__).parent / "running" / "snapshot-100.json.gz")
    assert row.lost == 0
    assert row.pods > 40
    assert row.elsewhere == 0
    assert row.as_admitted == row.queues == 3
    assert row.unexplained == []


def in_full_swing():
    folder = Path(__file__).parent / "running"
    with gzip.open(folder / "snapshot-100.json.gz", "rt") as file:
        sources = [("dump.json", file.read())]
    sources.append(("config.yaml", (folder / "config.yaml").read_text()))
    return assemble(sources).world


def exported(world) -> str:
    policy = world.policy.document()
    simulation = {"latencies": None, **policy["spec"].get("simulation", {})}
    policy = {**policy, "spec": {**policy["spec"], "simulation": simulation}}
    objects = [{**obj.manifest, "status": obj.status} for obj in world.objects.values()]
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [policy, *objects]})


@settings(max_examples=4, deadline=None)
@given(ticks=st.integers(0, 20))
def test_to_export_with_status_and_to_load_again_is_the_identity(ticks):
    world = in_full_swing()
    for _ in range(ticks):
        run_tick(world)
    again = assemble([("export.json", exported(world))]).world
    assert {key: (obj.manifest, obj.status) for key, obj in again.objects.items()} == {
        key: (obj.manifest, obj.status) for key, obj in world.objects.items()
    }


def test_the_zero_time_of_go_in_a_condition_is_no_time():
    """A control plane that never set a time writes the first instant of the year 1."""
    never = "0001-01-01T00:00:00Z"
    waiting = workload(conditions=[condition("QuotaReserved", never, "False")])
    unset = pod("j-0", of=owner("Job", "j"), ready=never)
    world = world_of(waiting, unset)
    run_tick(world)
    assert world.context.now_ms > 0
    assert stamp_us(stamp_text(stamp_us(never))) == stamp_us(never)


#: What a pod's phase may become.
FORWARD = {
    "Pending": {"Pending", "Running", "Succeeded", "Failed"},
    "Running": {"Running", "Succeeded", "Failed"},
    "Succeeded": {"Succeeded"},
    "Failed": {"Failed"},
}


#: Conditions that stay true once they are, and what may end them.
LASTING = {
    "Pod": {"PodScheduled": (), "Initialized": (), "Ready": ("ended",)},
    "Job": {"Complete": (), "Failed": ()},
    "Workload": {
        "Finished": (),
        "QuotaReserved": ("Evicted",),
        "Admitted": ("Evicted",),
        "PodsReady": ("Evicted", "Finished"),
    },
}


def reached(kind: str, status: dict) -> set[str]:
    """Return the lasting conditions that are true, and what may end others."""
    true = {
        one["type"] for one in status.get("conditions") or () if one["status"] == "True"
    }
    if status.get("phase") in ("Succeeded", "Failed"):
        true.add("ended")
    return true if kind in LASTING else set()


def lost(kind: str, before: set[str], after: set[str]) -> set[str]:
    """Return the conditions that were true and are not, with nothing that ends them."""
    return {
        name
        for name, ends in LASTING.get(kind, {}).items()
        if name in before - after and not after & set(ends)
    }


def owners_of(one: dict) -> frozenset[str]:
    """Return the jobs that own a pod or a Workload, by uid; itself where nobody does."""
    owners = one["metadata"].get("ownerReferences") or [one["metadata"]]
    return frozenset(str(owner.get("uid")) for owner in owners)


def went_back(text: str, ticks: int, *config: tuple[str, str]) -> list[str]:
    """Return what an object of a dump had reached and no longer has, tick by tick."""
    world = assemble([("dump.json", text), *config]).world
    given = {
        Key(
            one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]
        ): one
        for one in json.loads(text)["items"]
    }
    stood = {
        key: one["status"].get("phase", "Pending")
        for key, one in given.items()
        if key.kind == "Pod" and "deletionTimestamp" not in one["metadata"]
    }
    true = {
        key: reached(key.kind, one.get("status") or {}) for key, one in given.items()
    }
    found = []
    for tick in range(ticks):
        decisions = run_tick(world)
        evicted = {d.subject for d in decisions if isinstance(d, Requeue | Preempt)}
        recovering = {owners_of(given[key]) for key in evicted if key in given}
        world.take()
        same = {
            key: obj
            for key, one in given.items()
            if (obj := world.objects.get(key)) is not None
            and obj.metadata.get("uid") == one["metadata"].get("uid")
        }
        for key, obj in same.items():
            after = reached(key.kind, obj.status)
            ends = after | {"Evicted"} if key in evicted else after
            if key.kind == "Workload" and owners_of(given[key]) in recovering:
                ends = ends | {"PodsReady"}  # one of its pods went
            found += [
                f"{key} at tick {tick}: {name} is no longer true"
                for name in sorted(lost(key.kind, true[key], ends))
            ]
            true[key] = after
        for key, before in stood.items():
            if (obj := same.get(key)) is None:
                continue
            stood[key] = after = obj.status.get("phase", "Pending")
            if after not in FORWARD[before]:
                found.append(f"{key.path} at tick {tick}: {before}, then {after}")
    return found


EVERY = [Path(__file__).parent / "running" / "snapshot-100.json.gz", *SNAPSHOTS]


@pytest.mark.parametrize(
    "path", EVERY, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_what_an_object_of_a_dump_has_reached_is_not_run_again(path):
    with gzip.open(path, "rt") as file:
        text = file.read()
    config = path.parent / "config.yaml"
    assert went_back(text, 5, ("config.yaml", config.read_text())) == []


@pytest.mark.parametrize("ready", [[], [condition("Ready", READ, "False")]])
def test_a_pod_that_runs_and_is_not_ready_runs_on(ready):
    given = pod("lone", of=owner("Job", "x"))
    del given["metadata"]["ownerReferences"]
    given["status"]["conditions"] = ready
    world = running(given)
    run_tick(world)
    world.take()
    assert world.get(Key("Pod", "default", "lone")).status["phase"] == "Running"


def on_a_lost_node(*more: dict):
    lost = pod("lone", of=owner("Job", "x"), node="gone")
    del lost["metadata"]["ownerReferences"], lost["status"]
    lost["metadata"]["annotations"] = {"quotalab.dev/runtime": "30s"}
    return [lost, node("n1"), *more]


def test_a_pod_on_a_node_that_does_not_exist_is_named_and_collected():
    text = "\n---\n".join(yaml.safe_dump(one) for one in on_a_lost_node())
    policy = {"stack": "kube"}
    made = assemble([("dump.yaml", text)], policy=policy)
    said = [str(one) for one in made.loaded.findings]
    assert any("spec.nodeName: Node gone doesn't exist" in one for one in said)
    simulate(made.world, until_ms=600_000)
    assert Key("Pod", "default", "lone") not in made.world.objects


def test_a_pod_that_is_ready_on_a_node_that_does_not_exist_is_not_said_to_wait():
    lost_pod = pod("lone", of=owner("Job", "x"), node="gone")
    del lost_pod["metadata"]["ownerReferences"]
    text = yaml.safe_dump_all([lost_pod, node("n1")])
    made = assemble([("dump.yaml", text)], policy={"stack": "kube"})
    [said] = [one.problem for one in made.loaded.findings if "gone" in one.problem]
    assert said.endswith("so it runs on, and takes room of no node")
    run_tick(made.world)
    made.world.take()
    assert made.world.get(Key("Pod", "default", "lone")).status["phase"] == "Running"


def test_a_pod_starts_when_the_node_comes_that_it_names():
    late = node("gone")
    late["metadata"]["annotations"] = {"quotalab.dev/arrival": "30s"}
    text = "\n---\n".join(yaml.safe_dump(one) for one in on_a_lost_node(late))
    world = assemble([("dump.yaml", text)], policy={"stack": "kube"}).world
    [end] = [
        d.at_ms
        for d in simulate(world, until_ms=600_000).decisions
        if isinstance(d, Finish)
    ]
    assert end >= 60_000
