"""What admission checks add to podsets."""

from __future__ import annotations

from scheduler.lifetime.jobs.pod_set_updates import with_updates
from scheduler.tick import advance
from tests.builders import job, node, small_cluster, world_of

POD_SET = {
    "name": "main",
    "nodeSelector": {"pool": "a"},
    "tolerations": [],
    "template": {"metadata": {"labels": {"app": "x"}}, "spec": {}},
}


def test_updates_of_a_podset_are_added_and_those_of_others_are_not() -> None:
    given = [
        {
            "name": "main",
            "labels": {"app": "x", "b": "1"},
            "tolerations": [{"key": "t"}],
        },
        {"name": "other", "nodeSelector": {"zone": "z"}},
    ]
    found, problems = with_updates(POD_SET, given)
    assert (found["labels"], problems) == ({"b": "1"}, [])
    assert (found["nodeSelector"], found["tolerations"]) == (
        {"pool": "a"},
        [{"key": "t"}],
    )


def test_what_is_there_already_stands_and_the_contradiction_is_named() -> None:
    given = [{"name": "main", "nodeSelector": {"pool": "b"}, "labels": {"app": "y"}}]
    found, problems = with_updates(POD_SET, given)
    assert found["nodeSelector"] == {"pool": "a"}
    assert problems == [
        "labels.app: 'y' contradicts 'x'",
        "nodeSelector.pool: 'b' contradicts 'a'",
    ]


def test_a_rules_updates_reach_the_pods_of_given_pods_too() -> None:
    updates = [{"name": "main", "labels": {"who": "check"}}]
    rule = {"check": "c", "podSetUpdates": updates}
    flavor, main, local = small_cluster()
    main["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "c"}]}
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "c"},
        "spec": {"controllerName": "example.com/any"},
    }
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
    world = world_of(
        flavor,
        check,
        main,
        local,
        node("n"),
        job("made", queue="main"),
        pod,
        simulation={"admissionChecks": [rule]},
    )
    advance(world, 5_000)
    pods = [world.get(key) for key in world.keys("Pod")]
    assert [one.labels["who"] for one in pods] == ["check", "check"]
