"""Jobs, and what they use, are reconciled as a control plane was seen to do it.

The records in tests/truth hold the whole; here is one law at a time.
"""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.pod import default_container
from scheduler.model.reasons import condition
from tests.builders import job, local_queue, node, small_cluster, world_of
from tests.scheduler.lifetime.test_pod_controllers import controller

JOB = Key("Job", "default", "j")
QUEUE = Key("ClusterQueue", "", "main")
FLAVOR = Key("ResourceFlavor", "", "default")
PARTIAL = "kueue.x-k8s.io/job-min-parallelism"


def workloads(world: World) -> list[Object]:
    return [world.get(key) for key in world.keys("Workload")]


def used(world: World) -> str:
    [flavor] = world.get(QUEUE).status["flavorsReservation"]
    return flavor["resources"][0]["total"]


def run(world: World, seconds: int) -> World:
    simulate(world, until_ms=seconds * 1000)
    return world


def edited(world: World, key: Key, **spec: object) -> None:
    manifest = copy.deepcopy(world.objects[key].manifest)
    manifest["spec"] |= spec
    world.put(Object(key=key, manifest=manifest))


@given(pods=st.integers(1, 4), completions=st.integers(1, 9), nodes=st.booleans())
def test_the_last_round_holds_quota_of_what_is_left_to_do(pods, completions, nodes):
    made = job(
        "j", queue="main", parallelism=pods, completions=completions, runtime="3s"
    )
    world = world_of(*small_cluster(), *([node("n", cpu=8)] if nodes else []), made)
    at_once, rounds = min(pods, completions), -(-completions // min(pods, completions))
    for number in range(rounds):
        run(world, 3 * number + 1)
        left = min(at_once, completions - number * at_once)
        assert used(world) == str(left)
        assert world.get(JOB).status["active"] == left


def test_a_job_that_was_stopped_holds_quota_for_what_is_left_of_it():
    made = job("j", queue="main", parallelism=2, completions=3, runtime="3s")
    world = run(world_of(*small_cluster(), made), 4)
    [workload] = workloads(world)
    assert workload.status["reclaimablePods"] == [{"name": "main", "count": 1}]
    edited(world, workload.key, active=False)
    run(world, 5)
    edited(world, workload.key, active=True)
    simulate(world, until_ms=world.context.now_ms + 1000)
    left = [{"name": "main", "count": 1}]
    assert workloads(world)[0].status["reclaimablePods"] == left
    assert used(world) == "1"


def test_a_running_job_of_another_size_is_stopped_and_gets_another_workload():
    made = job("j", queue="main", parallelism=2, runtime="60s")
    world = run(world_of(*small_cluster(), node("n", cpu=8), made), 2)
    [before] = workloads(world)
    edited(world, JOB, parallelism=3, completions=3)
    run(world, 4)
    [after] = workloads(world)
    assert (after.uid != before.uid, used(world)) == (True, "3")
    assert len(world.keys("Pod")) == 3


def test_a_job_that_is_put_again_as_it_was_runs_on():
    made = job("j", queue="main", parallelism=2, runtime="60s")
    world = run(world_of(*small_cluster(), made), 2)
    [before] = workloads(world)
    edited(world, JOB)
    [after] = workloads(run(world, 4))
    assert after.uid == before.uid


def test_a_job_admitted_in_part_has_the_pods_it_was_admitted_with_while_it_runs():
    made = job("j", queue="main", parallelism=6, runtime="60s")
    made["metadata"]["annotations"][PARTIAL] = "1"
    world = run(world_of(*small_cluster(cpu="4"), made), 2)
    assert world.get(JOB).spec["parallelism"] == 4
    [workload] = workloads(world)
    edited(world, workload.key, active=False)
    assert run(world, 4).get(JOB).spec["parallelism"] == 6


def test_a_lost_pod_counts_as_failed_and_comes_after_the_back_off():
    made = job("j", queue="main", runtime="60s")
    slow = {"simulation": {"latencies": {"termination": "100ms"}}}
    world = run(world_of(*small_cluster(), node("n", cpu=8), made, **slow), 2)
    [pod] = world.keys("Pod")
    world.delete(pod)
    status = run(world, 4).get(JOB).status
    assert (status["failed"], status["active"]) == (1, 0)
    status = run(world, 15).get(JOB).status
    assert (status["failed"], status["active"]) == (1, 1)


def test_what_is_in_use_stays_until_it_is_free_and_works_on():
    made = job("j", queue="main", runtime="5s")
    later = job("k", queue="main", runtime="5s", arrival="3s")
    world = run(world_of(*small_cluster(), made, later), 1)
    world.delete(FLAVOR)
    run(world, 4)
    assert world.get(FLAVOR).metadata["deletionTimestamp"]
    assert used(world) == "2"
    world.delete(QUEUE)
    again = World.decode(world.encode())
    for one in (world, again):
        run(one, 10)
        assert not {FLAVOR, QUEUE} & set(one.objects)
    assert again.hash() == world.hash()


def test_a_queue_that_is_going_admits_nobody():
    made = job("j", queue="main", runtime="20s")
    later = job("k", queue="main", runtime="5s", arrival="3s")
    world = run(world_of(*small_cluster(), made, later), 1)
    world.delete(QUEUE)
    run(world, 5)
    [active] = world.get(QUEUE).status["conditions"]
    assert (active["status"], active["reason"]) == ("False", "Terminating")
    assert used(world) == "1"


def test_who_waits_for_a_queue_that_is_gone_counts_as_pending():
    world = run(
        world_of(local_queue("main", cluster_queue="x"), job("j", queue="main")), 1
    )
    assert (
        world.get(Key("LocalQueue", "default", "main")).status["pendingWorkloads"] == 1
    )


PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"


def prebuilt(count: int, cpu: str = "1") -> dict:
    """Return a Workload of no job, whose pods are those of a Job of the builders."""
    template = job("j", cpu=cpu)["spec"]["template"]
    for container in template["spec"]["containers"]:
        default_container(container)
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {
            "queueName": "main",
            "podSets": [{"name": "main", "count": count, "template": template}],
        },
    }


def naming(parallelism: int = 2) -> dict:
    made = job("j", queue="main", parallelism=parallelism, runtime="5s")
    made["metadata"]["labels"][PREBUILT] = "w"
    return made


def test_a_job_adopts_the_workload_that_it_names_when_that_comes():
    world = run(world_of(*small_cluster(), naming()), 2)
    assert not world.keys("Workload")
    assert world.get(JOB).spec["suspend"] is True
    key = Key("Workload", "default", "w")
    world.put(Object(key=key, manifest=prebuilt(2)))
    run(world, 20)
    assert [one.key.name for one in workloads(world)] == ["w"]
    [owner] = world.get(key).metadata["ownerReferences"]
    assert (owner["name"], owner["controller"]) == ("j", True)
    assert world.get(JOB).status["succeeded"] == 2


def test_a_prebuilt_workload_without_the_defaults_of_its_job_is_out_of_sync():
    given = prebuilt(2)
    [container] = given["spec"]["podSets"][0]["template"]["spec"]["containers"]
    del container["terminationMessagePath"]
    world = run(world_of(*small_cluster(), naming(), given), 2)
    found = condition(workloads(world)[0].status, "Finished")
    assert (found["status"], found["reason"]) == ("True", "OutOfSync")


def test_a_job_goes_on_waiting_for_its_workload_after_a_restart():
    other = job("other", queue="main", runtime="3s")
    world = run(world_of(*small_cluster(), naming(), other), 3)
    world = World.decode(world.encode())
    world.put(Object(key=Key("Workload", "default", "w"), manifest=prebuilt(2)))
    run(world, 4)
    [admitted] = [one for one in workloads(world) if one.key.name == "w"]
    assert condition(admitted.status, "Admitted")["status"] == "True"
    assert not admitted.metadata.get("ownerReferences")
    run(world, 30)
    assert world.get(JOB).status["succeeded"] == 2


def test_a_prebuilt_workload_of_other_pods_is_out_of_sync():
    world = run(world_of(*small_cluster(), prebuilt(3), naming()), 2)
    found = condition(workloads(world)[0].status, "Finished")
    assert (found["status"], found["reason"]) == ("True", "OutOfSync")
    assert world.get(JOB).spec["suspend"] is True


def test_a_job_is_deleted_after_its_time_with_all_that_it_owns():
    made = job("j", queue="main", runtime="5s")
    made["spec"]["ttlSecondsAfterFinished"] = 10
    world = run(world_of(*small_cluster(), node("n", cpu=8), made), 10)
    assert JOB in world.objects
    again = World.decode(world.encode())
    for one in (world, again):
        run(one, 20)
        assert not [*one.keys("Job"), *one.keys("Workload"), *one.keys("Pod")]


def test_pods_that_were_lost_may_take_as_long_as_those_that_start():
    waiting = {"kueue": {"waitForPodsReady": {"timeout": "20s"}}}
    world = world_of(*small_cluster(), **waiting)
    assert world.kueue.settings.waiting.recovery_ms == 20_000
    waiting = {"kueue": {"waitForPodsReady": {}}}
    assert world_of(**waiting).kueue.settings.waiting.timeout_ms == 1_800_000
    older = {"apiVersion": "config.kueue.x-k8s.io/v1beta1"}
    waiting = {"kueue": {**older, "waitForPodsReady": {"enable": True}}}
    settings = world_of(**waiting).kueue.settings.waiting
    assert (settings.timeout_ms, settings.block) == (300_000, True)


def test_the_status_of_an_admission_check_is_what_its_controller_wrote():
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "c"},
        "spec": {"controllerName": "example.com/x"},
    }
    world = run(world_of(*small_cluster(), check), 1)
    key = Key("AdmissionCheck", "", "c")
    status = {"conditions": [{"type": "Active", "status": "False", "reason": "No"}]}
    manifest = copy.deepcopy(world.objects[key].manifest)
    world.put(Object(key=key, manifest=manifest, status=status))
    assert world.get(key).status == status


def test_a_workload_of_which_one_check_is_ready_starts_nothing_until_the_other_is():
    checks = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "AdmissionCheck",
            "metadata": {"name": name},
            "spec": {"controllerName": "example.com/x"},
            "status": {"conditions": [{"type": "Active", "status": "True"}]},
        }
        for name in ("one", "two")
    ]
    queues = small_cluster()
    for one in queues:
        if one["kind"] == "ClusterQueue":
            strategy = {"admissionChecks": [{"name": "one"}, {"name": "two"}]}
            one["spec"]["admissionChecksStrategy"] = strategy
    by_hand = [
        {"check": name, "after": "24h", "answer": "Ready"} for name in ("one", "two")
    ]
    made = job("j", queue="main", runtime="1m")
    simulation = {"admissionChecks": by_hand}
    world = run(world_of(*queues, *checks, made, simulation=simulation), 2)
    [workload] = workloads(world)
    for until, second, active in ((5, "Pending", 0), (8, "Ready", 1)):
        answered(world, workload.key, {"one": "Ready", "two": second})
        run(world, until)
        assert world.get(JOB).status.get("active", 0) == active


def answered(world: World, key: Key, states: dict[str, str]) -> None:
    workload = world.get(key)
    status = copy.deepcopy(workload.status)
    status["admissionChecks"] = [
        {
            "name": name,
            "state": state,
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for name, state in states.items()
    ]
    manifest = copy.deepcopy(workload.manifest)
    world.put(Object(key=key, manifest=manifest, status=status))


CLASS = Key("WorkloadPriorityClass", "", "x")


def priority_class(value: int) -> dict:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "x"},
        "value": value,
    }


def of_class(name: str, **more: object) -> dict:
    made = job(name, queue="main", runtime="60s", **more)
    made["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "x"
    return made


@given(value=st.integers(-1000, 1000), by_hand=st.integers(-1000, 1000))
def test_all_workloads_of_a_class_have_the_value_that_it_is_given(value, by_hand):
    other = job("other", queue="main", runtime="60s")
    jobs = [of_class("runs", cpu="2"), of_class("waits", cpu="2"), other]
    world = run(world_of(*small_cluster(), priority_class(5), *jobs), 2)
    edited(world, workloads(world)[-1].key, priority=by_hand)
    world.put(Object(key=CLASS, manifest=priority_class(value)))
    run(world, 4)
    found = {one.key.name.split("-")[1]: one for one in workloads(world)}
    assert {name: one.spec["priority"] for name, one in found.items()} == {
        "runs": value,
        "waits": value if value != 5 else by_hand,
        "other": 0,
    }


def test_a_workload_that_waits_keeps_a_priority_by_hand_but_not_a_queue():
    world = world_of(*small_cluster(cpu=1), job("j", queue="main", cpu="2"))
    run(world, 2)
    [workload] = workloads(world)
    edited(world, workload.key, priority=7)
    edited(world, workload.key, queueName="another")
    run(world, 4)
    [workload] = workloads(world)
    assert (workload.spec["priority"], workload.spec["queueName"]) == (7, "main")


def test_an_edited_job_leaves_its_workload_switched_off():
    second = local_queue("second", cluster_queue="main")
    waiting = job("j", queue="main", cpu="2")
    world = world_of(*small_cluster(cpu=1), second, waiting)
    run(world, 2)
    edited(world, workloads(world)[0].key, active=False)
    manifest = copy.deepcopy(world.objects[JOB].manifest)
    manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "second"
    world.put(Object(key=JOB, manifest=manifest))
    run(world, 4)
    [workload] = workloads(world)
    assert (workload.spec["active"], workload.spec["queueName"]) == (False, "second")


def test_a_job_that_names_no_class_that_exists_says_that_it_is_suspended():
    world = run(world_of(*small_cluster(), of_class("j")), 2)
    job_ = world.get(JOB)
    found = condition(job_.status, "Suspended")
    assert (job_.spec["suspend"], found["status"]) == (True, "True")


def test_a_job_that_nobody_manages_says_that_it_was_suspended_and_resumed():
    made = job("j", runtime="60s")
    made["spec"]["suspend"] = True
    world = run(world_of(node("n", cpu=8), made), 2)
    assert condition(world.get(JOB).status, "Suspended")["status"] == "True"
    edited(world, JOB, suspend=False)
    run(world, 4)
    found = condition(world.get(JOB).status, "Suspended")
    assert (found["status"], found["reason"]) == ("False", "JobResumed")


def test_a_lost_pod_of_a_stateful_set_is_made_again_with_its_number():
    made = controller("StatefulSet", queue="main", replicas=3)
    world = run(world_of(*small_cluster(), node("n", cpu=8), made), 3)
    first, second, third = sorted(world.keys("Pod"))
    world.delete(second)
    run(world, 9)
    assert sorted(world.keys("Pod")) == [first, second, third]


@given(limit=st.integers(0, 2), pods=st.integers(1, 2))
@settings(max_examples=6)
def test_a_job_fails_with_the_pod_that_is_lost_above_its_backoff_limit(limit, pods):
    made = job("j", queue="main", parallelism=pods, runtime="1h")
    made["spec"]["backoffLimit"] = limit
    steps = {"latencies": {"termination": "1s"}}
    world = world_of(*small_cluster(), node("n", cpu=8), made, simulation=steps)
    for lost in range(limit + 1):
        run(world, 100 * (lost + 1) - 90)
        assert not condition(world.get(JOB).status, "Failed")
        world.delete(world.keys("Pod")[0])
    run(world, 100 * (limit + 2))
    status = world.get(JOB).status
    assert status["failed"] == limit + pods
    for name in ("FailureTarget", "Failed"):
        assert condition(status, name)["reason"] == "BackoffLimitExceeded"
    assert condition(workloads(world)[0].status, "Finished")["reason"] == "Failed"


def test_a_job_that_nobody_manages_stops_while_a_person_suspends_it():
    world = run(world_of(node("n", cpu=8), job("j", runtime="60s")), 2)
    for suspended in (True, False):
        edited(world, JOB, suspend=suspended)
        run(world, 5)
        assert world.get(JOB).status["active"] == int(not suspended)
        assert len(world.keys("Pod")) == int(not suspended)


def test_a_job_of_no_pods_has_none_that_are_active():
    made = job("j", queue="main", parallelism=0, completions=1, runtime="60s")
    world = run(world_of(*small_cluster(), made), 2)
    assert world.get(JOB).status["active"] == 0
