"""Another policy for a world that runs: nothing is lost, what changed is decided anew."""

from __future__ import annotations

import copy
from typing import Any

from scheduler.engine.world import World
from scheduler.model.objects import Key
from scheduler.model.policy import read_policy
from tests.invariants import check
from tests.scheduler.yunikorn.clusters import QUEUES, pod, run, subjects, world


def _switch(made: World, laws: str = "documented", **queues: Any) -> None:
    section = {"laws": laws, "queues": queues.get("queues", QUEUES)}
    spec = {"stack": "yunikorn", "yunikorn": section}
    made.set_policy(read_policy({"spec": spec}))


def _edited(**changes: Any) -> dict[str, Any]:
    """Return the queues with some of the partition's keys changed."""
    queues = copy.deepcopy(QUEUES)
    queues["partitions"][0].update(changes)
    return queues


def _with_test_queue(entry: dict[str, Any] | None) -> dict[str, Any]:
    queues = copy.deepcopy(QUEUES)
    (root,) = queues["partitions"][0]["queues"]
    root["queues"] = [q for q in root["queues"] if q["name"] != "test"]
    if entry is not None:
        root["queues"].append({"name": "test", **entry})
    return queues


def _filled(queues: dict[str, Any] | None = None) -> World:
    made = world(queues=queues)
    for number in range(8):
        made.put(pod(f"t{number}", "root.test"))
    run(made, 1)
    return made


def test_other_laws_leave_running_pods_alone() -> None:
    made = _filled()
    _switch(made, "released")
    assert subjects(run(made, 30), "Evict") == []
    check(made)


def test_a_waiting_pod_is_decided_by_the_new_laws() -> None:
    made = _filled()
    _switch(made, "released")
    made.put(pod("p", "root.prod", "5"))  # ends above the guarantee
    assert subjects(run(made, 30), "Preempt") == []
    _switch(made, "documented")
    assert len(subjects(run(made, 30), "Preempt")) == 5


def _queue(made: World, path: str) -> Any:
    assert made.yunikorn is not None
    return made.yunikorn.partition.queue(path)


def test_a_queue_that_is_gone_drains_and_keeps_its_applications() -> None:
    made = _filled()
    _switch(made, queues=_with_test_queue(None))
    run(made, 1)
    again = World.decode(made.encode())
    for world_now in (made, again):
        drained = _queue(world_now, "root.test")
        assert drained.state == "Draining"
        assert drained.allocated["vcore"] == 8000
        check(world_now)


def test_a_queue_that_drains_keeps_its_max() -> None:
    made = _filled(_with_test_queue({"resources": {"max": {"vcore": "9"}}}))
    _switch(made, queues=_with_test_queue(None))
    run(made, 1)
    assert _queue(made, "root.test").max == {"vcore": 9000}


def test_a_queue_that_has_drained_is_gone() -> None:
    made = _filled()
    _switch(made, queues=_with_test_queue(None))
    for number in range(8):
        made.delete(Key("Pod", "default", f"t{number}"))
    run(made, 40)
    assert _queue(made, "root.test") is None


def test_a_queue_that_drains_and_is_named_again_is_active() -> None:
    made = _filled()
    _switch(made, queues=_with_test_queue(None))
    _switch(made, queues=_with_test_queue({}))
    assert _queue(made, "root.test").state == "Active"


def test_a_lowered_max_takes_pods_back_where_that_is_on() -> None:
    before = _with_test_queue({"resources": {"max": {"vcore": "8"}}})
    made = _filled(before)
    after = _with_test_queue(
        {
            "resources": {"max": {"vcore": "5"}},
            "properties": {"quota.preemption.delay": "10s"},
        }
    )
    after["partitions"][0]["preemption"] = {"quotapreemptionenabled": True}
    _switch(made, queues=after)
    decisions = run(made, 20)
    assert len(subjects(decisions, "Evict")) == 3
    check(made)


def test_another_node_order_holds_from_the_next_pod_on() -> None:
    made = world(nodes={"n": "4", "m": "4"})
    made.put(pod("a", "root.prod"))
    run(made, 1)
    _switch(made, queues=_edited(nodesortpolicy={"type": "binpacking"}))
    made.put(pod("b", "root.prod"))
    run(made, 1)
    nodes = {made.get(key).spec["nodeName"] for key in made.keys("Pod")}
    assert nodes == {"m"}
