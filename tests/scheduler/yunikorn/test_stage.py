"""YuniKorn inside a world: pods come, run, are preempted and come again."""

from __future__ import annotations

from scheduler.engine.yunikorn.messages import CLUSTER_IS_FULL
from scheduler.engine.yunikorn.shim.recorder import scheduled_condition
from scheduler.model.objects import Key
from tests.invariants import check
from tests.scheduler.yunikorn.clusters import node, pod, run, subjects, world


def test_pods_that_fit_are_bound_at_the_next_cycle() -> None:
    made = world()
    made.put(pod("a", "root.prod"))
    assert subjects(run(made, 1), "Bind") == ["a"]
    assert made.get(Key("Pod", "default", "a")).spec["nodeName"] == "n"


def test_a_pod_that_ends_gives_its_room_to_the_next() -> None:
    made = world(nodes={"n": "1"})
    made.put(pod("a", "root.prod", runtime="10s"))
    made.put(pod("b", "root.prod", runtime="10s"))
    decisions = run(made, 30)
    assert subjects(decisions, "Finish") == ["a", "b"]
    check(made)


def test_a_queue_below_its_guarantee_takes_from_one_above() -> None:
    made = world()
    for number in range(8):
        made.put(pod(f"t{number}", "root.test", recreate=True))
    run(made, 1)
    made.put(pod("p", "root.prod", "2"))
    decisions = run(made, 20)
    assert len(subjects(decisions, "Preempt")) == 2
    assert "p" in subjects(decisions, "Bind")
    check(made)


def test_preempted_replicas_come_back_and_wait() -> None:
    made = world()
    for number in range(8):
        made.put(pod(f"t{number}", "root.test", recreate=True))
    run(made, 1)
    made.put(pod("p", "root.prod", "2"))
    decisions = run(made, 600)
    assert len(subjects(decisions, "Preempt")) == 2
    waiting = [key for key in made.keys("Pod") if "-r" in key.name]
    assert [made.get(key).spec.get("nodeName") for key in waiting] == [None, None]
    check(made)


def test_a_pod_that_waits_says_why() -> None:
    made = world(nodes={"n": "1"})
    made.put(pod("large", "root.prod", "2"))
    run(made, 3)
    waiting = made.get(Key("Pod", "default", "large"))
    said = scheduled_condition(waiting)
    assert said is not None
    assert said["reason"] == "Unschedulable"
    assert "Not enough queue quota" in said["message"]
    (written,) = waiting.status["conditions"]
    assert written["message"] == CLUSTER_IS_FULL


def test_a_pod_that_its_queue_holds_back_is_not_called_unschedulable() -> None:
    small = {"name": "small", "resources": {"max": {"vcore": "2"}}}
    tree = [{"name": "root", "queues": [small]}]
    made = world(queues={"partitions": [{"name": "default", "queues": tree}]})
    for name in ("a", "b", "c"):
        made.put(pod(name, "root.small", "1"))
    run(made, 3)
    conditions = {
        name: [
            (one["status"], one.get("reason", ""))
            for one in made.get(Key("Pod", "default", name)).status.get(
                "conditions", ()
            )
            if one["type"] == "PodScheduled"
        ]
        for name in ("a", "b", "c")
    }
    assert conditions == {"a": [("True", "")], "b": [("True", "")], "c": []}


def test_a_pod_without_a_queue_goes_to_the_default_one() -> None:
    made = world()
    made.put(pod("a", ""))
    run(made, 1)
    assert made.yunikorn is not None
    leaf = made.yunikorn.partition.queue("root.default")
    assert leaf is not None
    assert leaf.allocated["vcore"] == 1000


def test_a_pod_of_an_unknown_queue_is_rejected_where_there_is_no_default() -> None:
    made = world(
        queues={"partitions": [{"name": "default", "queues": [{"name": "root"}]}]}
    )
    made.put(pod("a", "root.nowhere"))
    run(made, 1)
    assert subjects(made.take().decisions, "Fail") == ["a"]


def test_a_tainted_node_takes_only_those_that_tolerate_it() -> None:
    made = world(nodes={})
    taint = {"key": "gpu", "effect": "NoSchedule"}
    made.put(node("tainted", "8", taints=[taint]))
    made.put(node("plain", "1"))
    for name in ("a", "b"):
        made.put(pod(name, "root.prod"))
    made.put(pod("c", "root.prod", tolerations=[{"key": "gpu", "operator": "Exists"}]))
    run(made, 5)
    bound = {key.name: made.get(key).spec.get("nodeName") for key in made.keys("Pod")}
    assert sorted(bound.values(), key=str) == [None, "plain", "tainted"]
    assert bound["c"] == "tainted"


def test_pods_of_other_schedulers_take_room_and_are_left_alone() -> None:
    made = world(nodes={"n": "2"})
    made.put(pod("other", "", "2", schedulerName="volcano", nodeName="n"))
    made.put(pod("a", "root.prod"))
    assert subjects(run(made, 5), "Bind") == []
    check(made)


def test_a_lost_node_frees_what_ran_there() -> None:
    made = world(nodes={"n": "1", "m": "1"})
    made.put(pod("a", "root.prod", recreate=True))
    run(made, 1)
    where = made.get(Key("Pod", "default", "a")).spec["nodeName"]
    made.delete(Key("Node", "", where))
    decisions = run(made, 3)
    assert subjects(decisions, "Bind") == ["a-r1"]
    check(made)
