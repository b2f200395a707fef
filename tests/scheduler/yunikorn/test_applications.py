"""How applications are taken in and refused: groups, queues, and pods that fail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import State
from scheduler.model.objects import Key
from tests.builders import job, node, queue_tree, world_of
from tests.scheduler.yunikorn.clusters import pod, run, subjects, world

DOMAIN = "yunikorn.apache.org/"
REFUSED = queue_tree({"name": "q"}, {"name": "parent", "parent": True})


def _rejected(made: World) -> dict[str, str]:
    assert made.yunikorn is not None
    known = made.yunikorn.partition.rejected
    return {name: one.message for name, one in known.items()}


def _status(made: World, name: str) -> dict[str, Any]:
    return dict(made.get(Key("Pod", "default", name)).status)


@pytest.mark.parametrize("queue", ["root.none", "root.parent"])
def test_a_pod_of_a_refused_application_fails(queue: str) -> None:
    made = world(queues=REFUSED)
    made.put(pod("p", queue, labels={"applicationId": "a"}))
    run(made, 2)
    assert _status(made, "p") == {
        "phase": "Failed",
        "reason": "ApplicationRejected",
        "message": " failed to place application a",
    }


def test_a_refused_application_is_known_with_its_reason_after_a_restart() -> None:
    made = world(queues=REFUSED)
    made.put(pod("p", "root.none", labels={"applicationId": "a"}))
    run(made, 2)
    why = "application rejected: no placement rule matched"
    again = World.decode(made.encode())
    assert _rejected(again) == {"a": f"failed to place application a: {why}"}


def test_a_user_without_groups_is_a_group() -> None:
    limit = {"limit": "", "groups": ["nobody"], "maxresources": {"vcore": "1"}}
    made = world(queues=queue_tree({"name": "q", "limits": [limit]}))
    for number in range(2):
        made.put(pod(f"p{number}", "root.q"))
    run(made, 2)
    assert made.yunikorn is not None
    queue = made.yunikorn.partition.queue("root.q")
    assert queue is not None
    assert queue.allocated["vcore"] == 1000


def _gang(name: str, *, members: int = 3) -> Any:
    groups = [
        {
            "name": "g",
            "minMember": members,
            "minResource": {"cpu": "4", "memory": "1Gi"},
        }
    ]
    declared = {
        "yunikorn.apache.org/task-groups": json.dumps(groups),
        "yunikorn.apache.org/task-group-name": "g",
    }
    return pod(name, "root.q", labels={"applicationId": "gang"}, annotations=declared)


def _app(made: World) -> Any:
    assert made.yunikorn is not None
    return made.yunikorn.partition.apps["gang"]


def _with_gang(*, members: int = 3) -> World:
    """Return a world of 8 cores, two placeholders of 4 fill them."""
    made = world(queues=queue_tree({"name": "q"}))
    made.put(_gang("p", members=members))
    run(made, 2)
    return made


def _again(made: World) -> World:
    again = World.decode(made.encode())
    assert again.yunikorn is not None
    again.yunikorn.finish_restore()
    return again


@pytest.mark.parametrize("of", [lambda made: made, _again])
def test_no_pod_is_asked_for_while_its_gang_reserves(of: Any) -> None:
    made = of(_with_gang())
    made.put(pod("other", "root.q", labels={"applicationId": "gang"}))
    run(made, 5)
    app = _app(made)
    held = {ask.key for ask in app.requests if ask.held}
    assert held == {"default/p", "default/other"}


@pytest.mark.parametrize("of", [lambda made: made, _again])
def test_placeholders_go_with_the_pod_that_declared_them(of: Any) -> None:
    made = of(_with_gang())
    made.delete(Key("Pod", "default", "p"))
    run(made, 1)
    app = _app(made)
    assert app.state is State.COMPLETING
    assert (app.gang.used, app.gang.replaced) == ({"g": 2}, {})


def test_placeholders_that_were_replaced_are_counted_after_a_restart() -> None:
    made = _again(_with_gang(members=2))
    run(made, 5)
    gang = _app(_again(made)).gang
    assert (gang.used, gang.replaced) == ({"g": 1}, {"g": 1})


def _refused_job(**spec: Any) -> World:
    refused = job("j")
    refused["spec"].update(spec)
    labels = {"queue": "root.none"}
    refused["spec"]["template"].setdefault("metadata", {})["labels"] = labels
    queues = {"queues": REFUSED}
    return world_of(node("n", cpu=4), refused, stack="yunikorn", yunikorn=queues)


def _phases(made: World) -> list[str]:
    keys = [key for key in made.objects if key.kind == "Pod"]
    return [str(made.get(key).status.get("phase")) for key in keys]


def test_a_job_whose_pods_are_refused_fails_at_its_back_off_limit() -> None:
    made = _refused_job(backoffLimit=2)
    run(made, 100)
    conditions = made.get(Key("Job", "default", "j")).status["conditions"]
    assert "Failed" in [one["type"] for one in conditions]


def test_a_job_whose_pods_are_refused_tries_again_after_a_back_off() -> None:
    made = _refused_job()
    run(made, 35)  # at once, after 10 and after 30 seconds
    assert _phases(made) == ["Failed"] * 3
    assert made.get(Key("Job", "default", "j")).status["failed"] == 3


def test_pods_of_a_hard_gang_that_finds_no_places_fail() -> None:
    made = world(queues=queue_tree({"name": "q"}))
    first = _gang("p")
    hard = "placeholderTimeoutInSeconds=5 gangSchedulingStyle=Hard"
    first.annotations["yunikorn.apache.org/schedulingPolicyParameters"] = hard
    made.put(first)
    run(made, 10)
    assert _status(made, "p") == {
        "phase": "Failed",
        "reason": "ResourceReservationTimeout",
        "message": "Scheduling has timed out due to insufficient resources",
    }
    assert made.yunikorn is not None
    assert not made.yunikorn.partition.asks


@pytest.mark.parametrize(
    "group",
    [
        {"name": "", "minMember": 1, "minResource": {"cpu": "1"}},
        {"name": "g", "minMember": 0, "minResource": {"cpu": "1"}},
        {"name": "g", "minMember": -1, "minResource": {"cpu": "1"}},
        {"name": "g", "minMember": 1},
        {"name": "g", "minMember": 1, "minResource": {"cpu": "-1"}},
        {"name": "g", "minMember": 1, "minResource": {"cpu": "1", "vcore": "1"}},
        {"name": "g", "minMember": 1, "minResource": {"pods": "1"}},
    ],
)
def test_a_bad_task_group_is_said_and_its_pod_is_placed_without_a_gang(group) -> None:
    made = world(queues=queue_tree({"name": "q"}))
    text = json.dumps([group])
    made.put(pod("p", "root.q", annotations={f"{DOMAIN}task-groups": text}))
    assert subjects(run(made, 2), "Bind") == ["p"]
    assert any("task group" in problem.text for problem in made.problems())


@pytest.mark.parametrize(("own", "evicted"), [("false", ["old"]), ("true", ["new"])])
def test_a_pod_opts_out_of_preemption_by_its_own_annotation(own, evicted) -> None:
    guaranteed = {"guaranteed": {"vcore": "4"}}
    fast = {"preemption.delay": "1s"}
    tree = queue_tree(
        {"name": "a", "resources": guaranteed, "properties": fast}, {"name": "b"}
    )
    made = world(queues=tree, nodes={"n": "5"}, laws="released")
    notes = {f"{DOMAIN}allow-preemption": own}
    made.put(pod("driver", "root.b", cpu="1"))
    run(made, 2)
    made.put(pod("old", "root.b", cpu="2"))
    run(made, 2)
    made.put(pod("new", "root.b", cpu="2", annotations=notes))
    run(made, 2)
    made.put(pod("high", "root.a", cpu="2"))
    assert subjects(run(made, 20), "Preempt") == evicted


@pytest.mark.parametrize("of", [lambda made: made, _again])
def test_task_groups_of_one_name_add_up(of: Any) -> None:
    made = world(queues=queue_tree({"name": "q"}))
    groups = [
        {"name": "g", "minMember": 1, "minResource": {"cpu": "2"}},
        {"name": "g", "minMember": 2, "minResource": {"cpu": "8"}},
    ]
    notes = {f"{DOMAIN}task-groups": json.dumps(groups)}
    labels = {"applicationId": "gang"}
    made.put(pod("p", "root.q", labels=labels, annotations=notes))
    run(made, 2)
    app = _app(of(made))
    holders = [*app.requests, *app.allocations.values()]
    sizes = [ask.resource["vcore"] for ask in holders if ask.placeholder]
    assert sorted(sizes) == [2000, 8000, 8000]
    assert app.gang.groups["g"].count == 3


def test_an_application_that_is_over_can_still_be_asked_about() -> None:
    made = world(queues=queue_tree({"name": "q"}))
    made.put(pod("p", "root.q", runtime="5s", labels={"applicationId": "a"}))
    run(made, 60)
    again = _again(made)
    assert again.yunikorn is not None
    (one,) = again.yunikorn.partition.ended
    assert (one.app, one.queue, one.state) == ("a", "root.q", "Completed")


def test_an_edit_of_a_pod_does_not_start_an_application_that_may_not_run() -> None:
    made = world(queues=queue_tree({"name": "q", "maxapplications": 1}))
    for name in ("held", "mine"):
        made.put(pod(name, "root.q", labels={"applicationId": name}))
        run(made, 1)
    made.put(pod("mine", "root.q", cpu="500m", labels={"applicationId": "mine"}))
    run(made, 3)
    assert made.yunikorn is not None
    assert made.yunikorn.partition.apps["mine"].state is State.ACCEPTED


def test_an_edited_pod_stays_the_originator_of_its_application() -> None:
    made = world(queues=queue_tree({"name": "q", "resources": {"max": {"vcore": "1"}}}))
    labels = {"applicationId": "a"}
    for name in ("first", "second"):
        made.put(pod(name, "root.q", cpu="2", labels=labels))
        run(made, 1)
    made.put(pod("first", "root.q", cpu="3", labels=labels))
    run(made, 1)
    assert made.yunikorn is not None
    asks = made.yunikorn.partition.asks
    assert [asks[f"default/{name}"].originator for name in ("first", "second")] == [
        True,
        False,
    ]
