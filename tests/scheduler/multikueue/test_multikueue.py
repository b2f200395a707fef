"""MultiKueue: workers as linked worlds, dispatch, what becomes of copies."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scheduler.analysis.explain.changes import fork_kueue
from scheduler.analysis.measures import Measures
from scheduler.assembly import InputError
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Admit, Evict, Finish
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.policy import read_policy
from scheduler.words.effects import Effect
from tests.builders import assembled, job, node, workload_priority
from tests.invariants import check
from tests.scheduler.multikueue.builders import (
    FOUND,
    LOST,
    a_job,
    change,
    check_of,
    in_cluster,
    linked,
    losing,
    manager,
    run,
    state_of,
    where,
    worker,
    workload,
)
from tests.scheduler.multikueue.reading import broken

INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def keys(world: World, kind: str) -> list[Key]:
    """Return the keys of a kind in all clusters."""
    return sorted(key for key in world.objects if key.kind == kind)


def test_the_first_worker_that_admits_a_copy_runs_the_job() -> None:
    world = linked(a_job())
    run(world, 30)
    assert state_of(world) == ("Ready", 'The workload was admitted on "a"')
    assert (where(world), workload(world).status["clusterName"]) == (["a"], "a")


def test_a_job_ends_at_the_manager_as_it_did_at_the_worker() -> None:
    world = linked(a_job())
    ends = [d for d in run(world, 90) if isinstance(d, Finish)]
    assert [d.at_ms for d in ends] == [60_000, 60_000]
    assert len({(d.reason, d.message) for d in ends}) == 1
    assert where(world) == []
    assert world.get(Key("Job", "default", "x")).status["succeeded"] == 1


def test_a_job_goes_where_there_is_room() -> None:
    world = linked(a_job(cpu=4), workers={"a": {"cpu": 2}, "b": {}})
    run(world, 30)
    assert where(world) == ["b"]


def test_a_job_waits_in_every_worker_until_one_has_room() -> None:
    earlier = (a_job(name, cpu=4) for name in ("first", "second"))
    world = linked(*earlier, a_job(cpu=4, arrival="1s"))
    run(world, 30)
    assert where(world) == ["a", "b"]
    assert state_of(world) == ("Pending", "")
    assert workload(world).status["nominatedClusterNames"] == ["a", "b"]
    run(world, 61)
    assert where(world) == ["a"]


def test_pods_are_made_at_the_worker_alone() -> None:
    world = linked(
        a_job(parallelism=2),
        node("n1"),
        *in_cluster("a", node("n1")),
        workers={"a": {}},
    )
    run(world, 30)
    pods = keys(world, "Pod")
    assert [cluster_of(key) for key in pods] == ["a", "a"]
    assert {world.get(key).spec["nodeName"] for key in pods} == {"n1"}


def test_the_clusters_of_a_config_are_tried_in_rounds() -> None:
    world = linked(
        a_job(cpu=3),
        workers={"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {}},
        kueue={
            "dispatcherName": INCREMENTAL,
            "incrementalDispatcherConfig": {"stepSize": 1},
        },
    )
    run(world, 299)
    assert where(world) == ["a"]
    run(world, 300)
    assert where(world) == ["a", "b"]
    found = run(world, 601)
    assert [d.at_ms for d in found if isinstance(d, Admit)] == [600_000, 600_000]
    assert where(world) == ["c"]


def test_a_job_whose_worker_is_lost_waits_and_goes_elsewhere() -> None:
    world = linked(a_job(runtime="1h"), losing("a", "10m"))
    run(world, 1499)
    assert (where(world), state_of(world)[0]) == (["a"], "Ready")
    found = run(world, 1500)
    (evicted,) = [d for d in found if isinstance(d, Evict)]
    assert evicted.message == (
        'Evicted due to AdmissionCheck in Retry state: "mk" (Admitting remote lost)'
    )
    assert state_of(world) == ("Ready", 'The workload was admitted on "b"')
    assert where(world) == ["a", "b"]  # the lost one goes on by itself


def test_a_worker_that_comes_back_in_time_goes_on() -> None:
    world = linked(a_job(runtime="1h"), losing("a", "10m"), losing("a", "20m", FOUND))
    found = run(world, 7200)
    assert not [d for d in found if isinstance(d, Evict)]
    assert [d.at_ms for d in found if isinstance(d, Finish)] == [3_600_000] * 2


def test_a_worker_that_comes_back_late_loses_its_copy() -> None:
    world = linked(a_job(runtime="1h"), losing("a", "10m"), losing("a", "30m", FOUND))
    run(world, 1799)
    assert where(world) == ["a", "b"]
    run(world, 1800)
    assert where(world) == ["b"]


def test_the_patience_with_a_lost_worker_is_configured() -> None:
    world = linked(
        a_job(runtime="1h"), losing("a", "10m"), kueue={"workerLostTimeout": "1m"}
    )
    found = run(world, 700)
    assert [d.at_ms for d in found if isinstance(d, Evict)] == [660_000]


def test_what_a_lost_worker_finished_is_seen_when_it_is_back() -> None:
    world = linked(a_job(runtime="12m"), losing("a", "10m"), losing("a", "20m", FOUND))
    found = run(world, 3600)
    assert [(d.at_ms, d.subject.name[:2]) for d in found if isinstance(d, Finish)] == [
        (720_000, "a:"),
        (1_200_000, "jo"),
    ]


def test_checkpoints_count_up_to_the_loss_and_go_on_in_the_next_cluster() -> None:
    world = linked(
        a_job(runtime="30m", **{"checkpoint-every": "1m"}), losing("a", "10m30s")
    )
    found = run(world, 7200)
    begun = 1530  # ten of the thirty minutes are kept, and fifteen were waited
    assert [d.at_ms for d in found if isinstance(d, Finish)] == [
        1_800_000,  # the copy that nobody looks at any more
        (begun + 20 * 60) * 1000,
        (begun + 20 * 60) * 1000,
    ]


def test_a_copy_that_is_evicted_is_dispatched_anew() -> None:
    urgent = in_cluster("a", job("local", queue="main", cpu=4, arrival="30s"))
    urgent[0]["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    world = linked(
        a_job(cpu=4),
        *urgent,
        *in_cluster("a", workload_priority("high", 100)),
        workers={"a": {"within": "LowerPriority"}, "b": {}},
    )
    found = run(world, 31)
    mine = [d for d in found if isinstance(d, Evict) and not cluster_of(d.subject)]
    assert [d.message for d in mine] == [
        'Evicted due to AdmissionCheck in Retry state: "mk" (Workload evicted on '
        'worker cluster: "a", resetting for re-admission. Previously: "Ready")'
    ]
    assert state_of(world)[1] == 'The workload was admitted on "b"'


def test_a_workload_that_is_preempted_at_the_manager_is_called_back() -> None:
    high = a_job("high", cpu=4, arrival="30s", priority_class="high")
    world = linked(a_job(cpu=4, runtime="1h"), high, workload_priority("high", 9))
    queue = world.get(Key("ClusterQueue", "", "main")).manifest
    queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = 4
    queue["spec"]["preemption"]["withinClusterQueue"] = "LowerPriority"
    world.put(Object(key=Key("ClusterQueue", "", "main"), manifest=queue))
    run(world, 31)
    assert (where(world), where(world, "high")) == ([], ["a"])
    assert "clusterName" not in workload(world).status


def test_a_copy_that_is_deleted_at_its_worker_is_made_again() -> None:
    world = linked(a_job(runtime="1h"))
    run(world, 10)
    world.delete(Key("Job", "default", "a:x"))
    found = run(world, 20)
    (evicted,) = [d for d in found if isinstance(d, Evict)]
    assert "(Admitting remote no longer exists)" in evicted.message
    assert where(world) == ["a"]


def test_a_job_of_the_workers_own_is_not_replaced_by_a_copy() -> None:
    world = linked(a_job(), *in_cluster("a", job("x", queue="main", cpu=1)))
    own = world.objects[Key("Job", "default", "a:x")].uid
    run(world, 30)
    assert world.objects[Key("Job", "default", "a:x")].uid == own
    assert state_of(world) == ("Ready", 'The workload was admitted on "b"')


def test_another_priority_is_forwarded() -> None:
    name = workload_of(a_job(runtime="1h"))
    world = linked(
        a_job(runtime="1h"),
        change(
            "c",
            "30s",
            {"spec": {"priority": 7}},
            kind="Workload",
            namespace="default",
            name=name,
        ),
    )
    run(world, 31)
    assert workload(world, cluster="a").spec["priority"] == 7
    assert state_of(world)[0] == "Ready"


def workload_of(manifest: dict) -> str:
    """Return the name that the Workload of a job gets."""
    world = linked(manifest)
    run(world, 0)
    return workload(world, manifest["metadata"]["name"]).key.name


def test_a_job_of_another_controller_is_rejected() -> None:
    manifest = a_job()
    manifest["spec"]["managedBy"] = "example.com/own"
    world = linked(manifest)
    run(world, 1)
    assert workload(world).spec["active"] is False
    evicted = next(
        c for c in workload(world).status["conditions"] if c["type"] == "Evicted"
    )
    assert (
        "The owner is not managed by Kueue: Expecting spec.managedBy"
        in (evicted["message"])
    )


def test_a_queue_whose_clusters_are_all_lost_is_inactive() -> None:
    world = linked(losing("a", "1s"), losing("b", "2s"))
    run(world, 1)
    status = world.get(Key("AdmissionCheck", "", "mk")).status["conditions"][0]
    assert (status["status"], status["message"]) == ("True", "Inactive clusters: [a]")
    run(world, 2)
    status = world.get(Key("AdmissionCheck", "", "mk")).status["conditions"][0]
    assert (status["reason"], status["message"]) == (
        "NoUsableClusters",
        "Inactive clusters: [a b]",
    )
    queue = world.get(Key("ClusterQueue", "", "main")).status["conditions"][0]
    assert (queue["status"], queue["reason"]) == ("False", "AdmissionCheckInactive")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        (None, "missing parameters reference"),
        (
            {"kind": "MultiKueueConfig", "name": "none"},
            'MultiKueueConfig.kueue.x-k8s.io "none" not found',
        ),
        (
            {"kind": "Other", "name": "mk"},
            'wrong kind "Other", expecting "MultiKueueConfig": bad parameters reference',
        ),
    ],
)
def test_a_check_without_its_config_says_why_it_is_not_active(parameters, why) -> None:
    world = linked()
    known = world.get(Key("AdmissionCheck", "", "mk"))
    spec = {"controllerName": known.spec["controllerName"]}
    if parameters is not None:
        spec["parameters"] = {"apiGroup": "kueue.x-k8s.io", **parameters}
    world.put(Object(key=known.key, manifest={**known.manifest, "spec": spec}))
    run(world, 1)
    (active,) = world.get(known.key).status["conditions"]
    assert (active["status"], active["reason"]) == ("False", "BadConfig")
    assert active["message"] == f"Cannot load the AdmissionChecks parameters: {why}"


def test_a_rule_of_the_policy_answers_instead_of_the_workers() -> None:
    rule = {"check": "mk", "answer": "Ready", "after": "5s"}
    world = linked(a_job(), admissionChecks=[rule])
    found = run(world, 6)
    assert [d.at_ms for d in found if isinstance(d, Admit)] == [5000]
    assert where(world) == []


def test_a_run_time_that_is_drawn_is_the_same_in_every_cluster() -> None:
    alone = linked(a_job(runtime="exp(10m)"), workers={"a": {}})
    other = linked(a_job(runtime="exp(10m)"), workers={"b": {}})
    ends = [
        [d.at_ms for d in run(world, 36_000) if isinstance(d, Finish)]
        for world in (alone, other)
    ]
    assert ends[0] == ends[1] != []


def test_a_worker_keeps_its_own_objects_under_its_name() -> None:
    world = linked(*in_cluster("a", node("n1")), node("n1"))
    both = [Key("Node", "", "a:n1"), Key("Node", "", "n1")]
    assert (keys(world, "Node"), world.keys("Node")) == (both, both[1:])
    world.delete(Key("Node", "", "a:n1"))
    assert keys(world, "Node") == both[1:]


def test_a_dispatched_job_counts_once_in_the_measures() -> None:
    world = linked(a_job(), *in_cluster("b", job("local", queue="main", runtime="5s")))
    measures = Measures(world)
    simulate(world, until_ms=100_000, hear=measures.observe)
    summary = measures.summary()
    assert (summary.finished, summary.evictions) == (1, 0)


def test_a_cluster_that_is_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="expected the name of a MultiKueueCluster"):
        linked(*in_cluster("A:b", node("n1")))


def test_a_policy_that_changes_changes_the_workers_too() -> None:
    world = linked(a_job(runtime="1h"), a_job("y", cpu=4, runtime="1h"))
    run(world, 30)
    document = world.policy.document()
    document["spec"]["simulation"]["podStartMs"] = 5
    world.set_policy(read_policy(document))
    assert world.copy().hash() == world.hash()
    before = where(world), where(world, "y")
    run(world, 40)
    assert (where(world), where(world, "y")) == before


#: Shrinking a whole run takes minutes; a failing one is small enough to read.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
ARRIVALS = st.lists(
    st.tuples(
        st.integers(0, 200),  # seconds
        st.integers(1, 4),  # cpu
        st.sampled_from(["40s", "3m", "20m"]),
        st.sampled_from(["", "high"]),
    ),
    min_size=1,
    max_size=8,
)
LOSSES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 400), st.booleans()), max_size=5
)


def random_world(arrivals, losses, seed: int, incremental: bool) -> World:
    """Return a manager that preempts, three workers, losses and local jobs."""
    manifests = [workload_priority("high", 10)]
    for index, (at, cpu, runtime, priority) in enumerate(arrivals):
        given = {"cpu": cpu, "runtime": runtime, "arrival": f"{at}s"}
        if index % 3 == 2:
            local = job(f"local-{index}", queue="main", **given)
            manifests += in_cluster("b", local)
        else:
            manifests.append(a_job(f"j{index}", priority_class=priority, **given))
    for index, (cluster, at, lost) in enumerate(losses):
        stamp = f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z"
        condition = {**(LOST if lost else FOUND), "lastTransitionTime": stamp}
        one = losing(cluster, f"{at}s", condition)
        one["metadata"]["name"] = f"loss-{index}"
        manifests.append(one)
    config = {"workerLostTimeout": "2m"}
    if incremental:
        config["dispatcherName"] = INCREMENTAL
        config["incrementalDispatcherConfig"] = {"stepSize": 2}
    return linked(
        *manifests,
        workers={
            "a": {"within": "LowerPriority"},
            "b": {"cpu": 6},
            "c": {"cpu": 3, "within": "LowerPriority"},
        },
        seed=seed,
        kueue=config,
    )


@settings(max_examples=20, deadline=None, phases=QUICK)
@given(ARRIVALS, LOSSES, st.integers(0, 3), st.booleans())
def test_every_rest_is_as_a_slow_reading_of_the_text_says(
    arrivals, losses, seed, incremental
) -> None:
    world = random_world(arrivals, _alternating(losses), seed, incremental)
    for second in range(0, 700, 20):
        simulate(world, until_ms=second * 1000)
        world.context.now_ms = max(world.context.now_ms, second * 1000)
        assert list(broken(world, lost_ms=120_000 + 20_000)) == []
    check(world)


@settings(max_examples=12, deadline=None, phases=QUICK)
@given(ARRIVALS, LOSSES, st.integers(0, 3), st.booleans(), st.integers(0, 40))
def test_a_copy_of_linked_worlds_goes_on_as_they_do(
    arrivals, losses, seed, incremental, at
) -> None:
    lost = _alternating(losses)
    worlds = [random_world(arrivals, lost, seed, incremental) for _ in range(2)]
    for world in worlds:
        simulate(world, until_ms=at * 10_000)
    assert worlds[0].hash() == worlds[1].hash()
    worlds[1] = worlds[1].copy()
    made = [simulate(world, until_ms=700_000).decisions for world in worlds]
    assert made[0] == made[1]
    assert worlds[0].hash() == worlds[1].hash()


def _alternating(losses):
    """Return losses whose stamps are those of the last real transition."""
    down: set[str] = set()
    found = []
    for cluster, at, lost in sorted(losses, key=lambda one: one[1]):
        if lost != (cluster in down) and at not in [one[1] for one in found]:
            found.append((cluster, at, lost))
            (down.add if lost else down.discard)(cluster)
    return found


def test_a_forked_kueue_has_the_queues_and_usage_of_the_manager_alone() -> None:
    world = linked(a_job("x", cpu=3), a_job("y", cpu=3))
    run(world, 3)
    forked, own = fork_kueue(world).cluster, world.kueue.cluster
    assert forked.forest.queues.keys() == own.forest.queues.keys()
    assert forked.workloads.keys() == own.workloads.keys()


def test_a_fork_of_a_worker_is_the_same_worker() -> None:
    world = linked(a_job("x", cpu=3))
    run(world, 3)
    worker = world.workers()["a"]
    assert fork(worker).hash() == worker.copy().hash() == worker.hash()
    assert fork(worker).cluster == worker.copy().cluster == "a"


def test_an_elastic_job_that_a_worker_would_run_is_named_on_import() -> None:
    grow = a_job("grow")
    grow["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true"
    everything = [*manager(), *check_of("a"), *worker("a"), a_job("x"), grow]
    findings = assembled(*everything).loaded.findings
    (found,) = [f for f in findings if "elastic" in f.problem]
    assert "of one cluster alone" in found.problem
    assert found.effect == Effect.STARTS_ANEW
