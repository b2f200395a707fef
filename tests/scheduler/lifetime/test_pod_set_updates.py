"""What admission checks add to podsets."""

from __future__ import annotations

from scheduler.engine.lifetime.jobs.starting import contradictions, with_updates
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from tests.builders import Manifest, job, node, small_cluster, world_of

POD_SET = {
    "name": "main",
    "nodeSelector": {"pool": "a"},
    "tolerations": [],
    "template": {"metadata": {"labels": {"app": "x"}}, "spec": {}},
}


def checked_world(updates: list[Manifest], *more: Manifest) -> World:
    """Return a world in which every Workload gets these updates from its check."""
    flavor, main, local = small_cluster()
    main["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "c"}]}
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "c"},
        "spec": {"controllerName": "example.com/any"},
    }
    rule = {"check": "c", "podSetUpdates": updates}
    rules = {"admissionChecks": [rule]}
    return world_of(flavor, check, main, local, node("n"), *more, simulation=rules)


def test_updates_of_a_podset_are_added_and_those_of_others_are_not() -> None:
    given = [
        {
            "name": "main",
            "labels": {"app": "x", "b": "1"},
            "tolerations": [{"key": "t"}],
        },
        {"name": "other", "nodeSelector": {"zone": "z"}},
    ]
    found = with_updates(POD_SET, given)
    assert (found["labels"], contradictions(found, given)) == ({"b": "1"}, [])
    assert (found["nodeSelector"], found["tolerations"]) == (
        {"pool": "a"},
        [{"key": "t"}],
    )


def test_what_is_there_already_stands_and_the_contradiction_is_named() -> None:
    given = [{"name": "main", "nodeSelector": {"pool": "b"}, "labels": {"app": "y"}}]
    found = with_updates(POD_SET, given)
    assert found["nodeSelector"] == {"pool": "a"}
    assert contradictions(found, given) == [
        "labels.app: 'y' contradicts 'x'",
        "nodeSelector.pool: 'b' contradicts 'a'",
    ]


def test_a_contradiction_between_checks_names_the_value_of_the_first() -> None:
    given = [{"name": "main", "labels": {"b": value}} for value in ("1", "2")]
    found = with_updates(POD_SET, given)
    assert found["labels"] == {"b": "1"}
    assert contradictions(found, given) == ["labels.b: '2' contradicts '1'"]


def test_a_rules_updates_reach_the_pods_of_given_pods_too() -> None:
    updates = [{"name": "main", "labels": {"who": "check"}}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "alone",
            "namespace": "default",
            "labels": {"kueue.x-k8s.io/queue-name": "main"},
        },
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
        },
    }
    world = checked_world(updates, job("made", queue="main"), pod)
    advance(world, 5_000)
    pods = [world.get(key) for key in world.keys("Pod")]
    assert [one.labels["who"] for one in pods] == ["check", "check"]


def test_a_start_reports_its_contradiction_and_a_pod_made_again_does_not() -> None:
    made = job("made", queue="main")
    made["spec"]["template"]["metadata"] = {"labels": {"who": "job"}}
    world = checked_world([{"name": "main", "labels": {"who": "check"}}], made)
    advance(world, 5_000)
    (problem,) = world.problems()
    assert "labels.who: 'check' contradicts 'job', which stands" in problem.text
    (pod,) = world.keys("Pod")
    world.delete(pod)
    advance(world, 10_000)
    assert world.keys("Pod") != [pod]
    assert world.problems() == []
