"""Why, asked about anything; and without a name what waits, and for what."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.explain import to_document
from scheduler.analysis.explain.answers import (
    MOST_ANSWERS,
    Answer,
    answers,
    lines_of,
    overview,
)
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.past import DecidedPast
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    small_cluster,
    workload_priority,
    world_of,
)


def run(*manifests: dict[str, Any], until_s: int = 30, **policy: Any) -> World:
    world = world_of(*manifests, **policy)
    simulate(world, until_ms=until_s * 1000)
    world.freshen()
    return world


def one(world: World, name: str) -> Answer:
    [found] = answers(world, name)
    return found


def fragments() -> World:
    """Two nodes with half of their CPU taken, and a job of one large pod."""
    jobs = [job(f"x{n}", queue="main", cpu=4, runtime="1h") for n in range(2)]
    nodes = [node(f"n{n}", cpu=8) for n in range(2)]
    late = job("big", queue="main", cpu=8, runtime="1h", arrival="5s")
    return run(*small_cluster(cpu=100), *nodes, *jobs, late)


def in_line(count: int) -> World:
    return run(
        *small_cluster(cpu=1),
        *(job(f"j{n}", queue="main", runtime="1h") for n in range(count)),
    )


# ---- what a Workload holds, what its queue admits, and pods that Kueue holds back


def test_an_admitted_workload_says_what_it_holds_and_what_its_queue_borrows():
    queues = [cluster_queue("a", cohort="c", cpu=2), cluster_queue("b", cohort="c")]
    mine = job("mine", queue="a", cpu=3, runtime="1h")
    world = run(flavor(), *queues, local_queue("a", cluster_queue="a"), mine)
    held = "It holds 3 CPU in flavor default, where a borrows 1 CPU from its cohort."
    assert one(world, "mine").sentences[-1] == held


def test_a_job_that_was_admitted_in_part_says_with_how_many_pods_it_runs():
    mine = job("mine", queue="main", parallelism=8, runtime="1h")
    mine["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "2"
    said = one(run(*small_cluster(cpu=3), mine), "mine").sentences
    assert "It runs with 3 of its 8 pods: it was admitted in part." in said


@pytest.mark.parametrize(
    ("queues", "about", "why"),
    [
        (
            [cluster_queue("main", flavor="lost")],
            "main",
            "ClusterQueue main is not active: references missing ResourceFlavor(s): lost",
        ),
        (
            [
                flavor(),
                local_queue("mine", cluster_queue="main")
                | {"spec": {"clusterQueue": "main", "stopPolicy": "Hold"}},
                cluster_queue("main"),
            ],
            "mine",
            "stopPolicy of LocalQueue mine is Hold",
        ),
    ],
)
def test_a_queue_that_admits_nothing_says_why(queues, about, why):
    assert one(run(*queues), about).sentences[0] == f"It admits nothing: {why}."


def test_a_cohort_names_who_starves_who_borrows_and_who_leaves_quota():
    names = {"a": 2, "b": 2, "c": 4}
    queues = [cluster_queue(name, cohort="all", cpu=cpu) for name, cpu in names.items()]
    lines = [local_queue(name, cluster_queue=name) for name in names]
    jobs = [job("j", queue="a", cpu=4, runtime="1h"), job("k", queue="b", cpu=6)]
    said = one(run(flavor(), *queues, *lines, *jobs), "Cohort/all").sentences
    assert said[-3:] == [
        "b uses 0 CPU of its nominal 2 CPU in flavor default, and 1 of its workloads wait.",
        "a borrows 2 CPU in flavor default, which may be taken back.",
        "c leaves 4 CPU of its nominal 4 CPU in flavor default to others.",
    ]


def test_a_kind_alone_is_all_of_that_kind():
    queues = [cluster_queue(name) for name in ("a", "b")]
    world = run(flavor(), *queues, local_queue("main", cluster_queue="a"), node("n"))
    for kind, names in (("clusterqueue", ["a", "b"]), ("Node", ["n"])):
        found = [answer.about for answer in answers(world, f"{kind}/")]
        assert [about.rpartition("/")[2] for about in found] == names


def test_of_many_of_a_kind_the_first_are_answered_and_that_there_are_more_is_said():
    world = run(*(node(f"n{n:02}") for n in range(MOST_ANSWERS + 1)))
    *found, last = answers(world, "Node/")
    assert [len(found), found[-1].about] == [MOST_ANSWERS, "Node//n19"]
    assert last.sentences == [
        "These are the first 20; there are more: ask for one of them by its name."
    ]


def test_who_was_stopped_waits_for_nothing_in_a_cohort():
    queue = cluster_queue("a", cohort="all", cpu=2)
    stopped = job("j", queue="a", cpu=1, runtime="1h")
    world = run(flavor(), queue, local_queue("a", cluster_queue="a"), stopped)
    [key] = world.keys("Workload")
    world.objects[key].manifest["spec"]["active"] = False
    world.put(world.objects[key])
    simulate(world, until_ms=60_000)
    said = one(world, "Cohort/all").sentences
    assert (
        said[-1] == "a leaves 2 CPU of its nominal 2 CPU in flavor default to others."
    )


def test_who_was_set_aside_as_one_alike_was_tried_waits_for_the_same():
    jobs = [job(f"j{n}", queue="main", cpu=4, arrival="5s") for n in range(3)]
    held = job("held", queue="main", cpu=4, runtime="1h")
    [cause] = overview(run(*small_cluster(), held, *jobs)).causes
    assert (cause.count, cause.why) == (3, "not enough quota is free: cpu in default")


def test_work_whose_queue_is_not_there_waits_for_that_queue():
    [cause] = overview(run(*small_cluster(), job("lost", queue="gone"))).causes
    assert cause.why == "LocalQueue gone doesn't exist"


def test_a_pod_that_kueue_holds_back_is_answered_by_its_workload():
    queued = {"kueue.x-k8s.io/queue-name": "main"}
    pods = [pod(name, cpu=3, labels=queued) for name in ("web-0", "web-1")]
    found = one(run(*small_cluster(), node("n", cpu=8), *pods), "web")
    assert found.pod.startswith("Workload/default/pod-")
    assert "Flavor default: 3 CPU asked, 1 CPU free; short by 2 CPU." in found.sentences


def test_a_job_that_names_no_queue_says_so_where_kueue_alone_would_start_it():
    [said] = one(run(*small_cluster(), job("mine")), "mine").sentences
    assert "It names no LocalQueue (label kueue.x-k8s.io/queue-name)" in said


# ---- an admitted Workload whose pods wait


def test_an_admitted_job_whose_pod_has_no_node_says_so_first_and_what_is_free():
    found = one(fragments(), "big")
    assert found.state == "admitted"
    assert "1 of its 1 pods is on no node" in found.sentences[0]
    assert "Insufficient cpu" in found.sentences[0]
    assert found.sentences[1] == (
        "Free: 8 CPU on 2 nodes together, at most 4 CPU on one; a pod that asks for 8 CPU "
        "fits on none."
    )


def test_its_pod_counts_among_what_waits():
    found = overview(fragments())
    assert (found.waiting, found.causes[0].why) == (
        1,
        "no node takes the pod: Insufficient cpu",
    )


# ---- what waits, the most common cause first


def test_what_keeps_a_workload_waiting_is_said_before_its_place_in_line():
    late = [job(name, queue="main", cpu=4, arrival=f"{n}s") for n, name in _LATE]
    held = job("held", queue="main", cpu=8, runtime="1h")
    found = one(run(*small_cluster(cpu=8), held, *late, until_s=3), "second")
    codes = [said.code for said in found.said]
    assert codes.index("short.short") < codes.index("why.behind")


_LATE = ((1, "first"), (2, "second"))


def test_causes_are_counted_the_most_common_first():
    found = overview(in_line(4))
    assert found.waiting == 3
    assert [cause.count for cause in found.causes] == sorted(
        (cause.count for cause in found.causes), reverse=True
    )
    assert sum(cause.count for cause in found.causes) == found.waiting


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_pods_without_a_workload_wait_like_anyone_else(stack):
    pods = [pod(f"p{n}", cpu=2, runtime="1h") for n in range(3)]
    policy: dict[str, Any] = {"stack": stack}
    if stack == "yunikorn":
        policy["yunikorn"] = {"queues": queue_tree({"name": "a"})}
        for each in pods:
            each["metadata"]["labels"] = {"queue": "root.a", "applicationId": "app-1"}
    world = run(node("n", cpu=4), *pods, **policy)
    assert overview(world).waiting == 1
    assert answers(world, "p")[0].sentences[0].startswith("1 of 3 pods is on no node")


def test_nothing_waits_where_all_run():
    world = run(*small_cluster(cpu=4), job("j", queue="main", runtime="1h"))
    found = overview(world)
    assert (found.waiting, found.causes) == (0, [])
    assert list(lines_of(to_document(found))) == ["0 wait"]


# ---- names as people have them


@pytest.mark.parametrize("name", ["j1", "default/j1", "job/j1", "Job/default/j1"])
def test_a_job_is_found_by_its_name_with_or_without_namespace_and_kind(name):
    assert one(in_line(2), name).about.startswith("Workload/default/job-j1-")


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("main", "ClusterQueue//main"),
        ("ClusterQueue/main", "ClusterQueue//main"),
        ("LocalQueue/main", "LocalQueue/default/main"),
    ],
)
def test_a_queue_says_who_waits_in_it_and_for_what(name, about):
    found = answers(in_line(3), name)[0]
    assert found.about == about
    assert found.sentences[0] == "2 wait for quota, 1 hold it."


def test_a_node_says_what_is_free_on_it_and_what_keeps_pods_away():
    tainted = node("n", cpu=4)
    tainted["spec"] = {
        "unschedulable": True,
        "taints": [{"key": "a", "effect": "NoSchedule"}],
    }
    found = one(run(tainted, stack="kube"), "n")
    assert "4 CPU free of 4 CPU." in found.sentences
    assert "It is cordoned: it takes no new pods." in found.sentences
    assert "Taint a:NoSchedule: it takes pods that tolerate it." in found.sentences


def test_an_application_is_found_by_its_id():
    pods = [pod(f"p{n}", cpu=2, runtime="1h") for n in range(3)]
    for each in pods:
        each["metadata"]["labels"] = {"queue": "root.a", "applicationId": "app-1"}
    world = run(
        node("n", cpu=4),
        *pods,
        stack="yunikorn",
        yunikorn={"queues": queue_tree({"name": "a"})},
    )
    found = one(world, "app-1")
    assert (found.about, found.state) == ("Application//app-1", "Running")
    assert any("2 pods placed, 1 waiting" in text for text in found.sentences), (
        found.sentences
    )


@pytest.mark.parametrize("name", ["root.a", "a", "Queue/root.a"])
def test_a_queue_of_yunikorn_says_who_waits_and_its_limits(name):
    waits = pod("p", cpu=2, runtime="1h")
    waits["metadata"]["labels"] = {"queue": "root.a", "applicationId": "app-1"}
    tree = queue_tree({"name": "a", "resources": {"max": {"vcore": "1"}}})
    world = run(node("n", cpu=4), waits, stack="yunikorn", yunikorn={"queues": tree})
    found = one(world, name)
    assert found.about == "Queue//root.a"
    assert found.sentences[:2] == [
        "1 application, 1 with pods that wait.",
        "Waiting: app-1.",
    ]
    assert "0 vcore used; max 1 vcore." in found.sentences


def test_what_does_not_exist_is_refused_by_its_name():
    with pytest.raises(SchedulerError, match="nobody is not in this world"):
        answers(in_line(1), "nobody")


# ---- the field that keeps a Workload from preempting


def _gate_world(
    preemption: dict[str, Any], *, holder: str = "lender", cpu: int = 4
) -> World:
    """A job of queue `main` that lacks what two of another queue, or its own, hold."""
    own = cluster_queue("main", cohort="co", cpu=2)
    own["spec"]["preemption"] = preemption
    lender = cluster_queue("lender", cohort="co", cpu=4)
    queue = "main" if holder == "main" else "lender"
    held = job("held", queue=queue, cpu=6, runtime="1h", priority_class="mid")
    late = job(
        "late", queue="main", cpu=cpu, runtime="1h", arrival="5s", priority_class="high"
    )
    return run(
        flavor(),
        own,
        lender,
        local_queue("main", cluster_queue="main"),
        local_queue("lender", cluster_queue="lender"),
        workload_priority("mid", 50),
        workload_priority("high", 100),
        held,
        late,
    )


@pytest.mark.parametrize(
    ("preemption", "holder", "said"),
    [
        (
            {"withinClusterQueue": "Never"},
            "main",
            "withinClusterQueue of main is Never",
        ),
        (
            {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never"},
            "lender",
            "reclaimWithinCohort of main is Never",
        ),
        (
            {
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {
                    "policy": "LowerPriority",
                    "maxPriorityThreshold": 10,
                },
            },
            "lender",
            "maxPriorityThreshold of main is 10",
        ),
    ],
)
def test_the_field_that_keeps_it_from_preempting_is_named_with_its_value(
    preemption, holder, said
):
    borrows = "borrowWithinCohort" in preemption
    world = _gate_world(preemption, holder=holder, cpu=4 if borrows else 2)
    sentences = one(world, "late").sentences
    assert any(said in sentence for sentence in sentences), sentences


def test_the_threshold_is_named_and_tried_as_a_change():
    world = _gate_world(
        {
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {
                "policy": "LowerPriority",
                "maxPriorityThreshold": 10,
            },
        }
    )
    [key] = [k for k in world.keys("Workload") if "late" in k.name]
    assert any(
        "borrowWithinCohort.maxPriorityThreshold of main is 10." in sentence
        for sentence in explain(world, key).sentences
    )
    tried = {v.kind: v for v in counterfactuals(world, key, horizon_ms=30_000).verdicts}
    found = tried["maxPriorityThreshold"]
    assert (found.now, found.value, found.verdict) == ("10", "50", "yes")


def test_a_pod_that_is_over_says_so_once():
    world = world_of(node("n1", cpu=4), pod("quick", cpu=1, runtime="5s"), stack="kube")
    decisions = simulate(world, until_ms=30_000).decisions
    world.freshen()
    [found] = answers(world, "quick", DecidedPast(decisions))
    assert [text.startswith("It ended at ") for text in found.sentences] == [True]


# ---- a job or a controller that has neither a Workload nor pods


def pods_at_most(count: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": str(count)}},
    }


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_a_job_whose_pods_a_quota_refuses_says_so_and_waits(stack):
    six = job("six", parallelism=6, runtime="1h")
    world = run(node("n1", cpu=8), pods_at_most(0), six, stack=stack)
    refused = "exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0"
    for known in (world, World.decode(world.encode())):
        found = one(known, "six")
        assert found.about == "Job/default/six"
        assert found.sentences == [
            f"No more of its pods are made: {refused}",
            "That is tried again in 16s.",
        ]
        whole = overview(known)
        assert [(cause.count, cause.names) for cause in whole.causes] == [
            (1, ["Job/default/six"])
        ]
        assert refused in whole.causes[0].why


def test_the_pods_that_a_quota_leaves_out_are_told_beside_those_that_have_a_node():
    six = job("six", parallelism=6, runtime="1h")
    found = one(run(node("n1", cpu=8), pods_at_most(4), six, stack="kube"), "six")
    assert found.sentences[0] == "All 4 pods have a node."
    assert "used: pods=4, limited: pods=4" in found.sentences[1]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"suspend": True}, "It is suspended (spec.suspend), so it has no pods."),
        ({"parallelism": 0}, "It asks for no pods: spec.parallelism is 0."),
    ],
)
def test_a_job_that_asks_for_no_pods_says_which_field_says_so(spec, said):
    idle = job("idle", runtime="1h")
    idle["spec"] |= spec
    assert one(run(node("n1", cpu=8), idle, stack="kube"), "idle").sentences == [said]


def test_a_job_that_has_ended_is_finished_and_not_gone():
    world = world_of(node("n1", cpu=4), job("quick", runtime="5s"), stack="kube")
    decisions = simulate(world, until_ms=30_000).decisions
    [found] = answers(world, "quick", DecidedPast(decisions))
    assert (found.state, len(found.sentences)) == ("finished", 1)
    assert found.sentences[0].startswith("It ended at ")


def test_an_admitted_job_says_which_of_its_pods_a_quota_refuses():
    six = job("six", queue="main", parallelism=6, runtime="1h")
    found = one(
        run(*small_cluster(cpu=8), node("n1", cpu=8), pods_at_most(4), six), "six"
    )
    assert found.state == "admitted"
    assert "used: pods=4, limited: pods=4" in found.sentences[0]


@pytest.mark.parametrize("queue", ["", "main"])
def test_a_job_in_back_off_says_how_many_pods_failed_and_when_another_is_made(queue):
    failing = job("bad", queue=queue, runtime="1h", **{"fails-after": "5s"})
    stack = {} if queue else {"stack": "kube"}
    cluster = small_cluster(cpu=8) if queue else ()
    world = run(*cluster, node("n1", cpu=8), failing, until_s=30, **stack)
    found = one(world, "bad")
    assert found.sentences[0] == "2 of its pods failed."
    assert found.sentences[1].startswith("Its back-off ends in ")
    [cause] = overview(world).causes
    assert (cause.why, cause.names) == (
        "in back-off after a pod that failed",
        ["Job/default/bad"],
    )
