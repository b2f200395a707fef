"""Taken down and up again at any instant, YuniKorn decides the same."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.world import World
from scheduler.model.objects import Object
from tests.scheduler.yunikorn.clusters import node, pod, run, world

GROUPS = [
    {
        "name": "workers",
        "minMember": 3,
        "minResource": {"cpu": "1", "memory": "1Gi"},
    }
]
_PODS = st.lists(
    st.tuples(
        st.sampled_from(["root.prod", "root.test", "root.default"]),
        st.sampled_from(["1", "2", "3"]),
        st.integers(0, 60),  # arrival, seconds
        st.integers(5, 90),  # run time
        st.booleans(),  # comes again when preempted
        st.sampled_from([None, -10, 0, 10]),
        st.sampled_from(["", "", "", "elsewhere", "daemon", "apart", "port"]),
    ),
    min_size=1,
    max_size=18,
)


def _fill(made: World, pods: list[tuple[Any, ...]]) -> None:
    for number, given_pod in enumerate(pods):
        queue, cpu, arrival, runtime, again, priority, kind = given_pod
        spec: dict[str, Any] = {} if priority is None else {"priority": priority}
        if kind == "elsewhere":
            spec.update(schedulerName="volcano", nodeName="n")
        obj = pod(
            f"p{number}",
            queue,
            cpu,
            runtime=f"{runtime}s",
            arrival=f"{arrival}s",
            recreate=again,
            **spec,
        )
        if kind == "daemon":
            _must_run_on(obj, "m")
        elif kind == "apart":
            obj.manifest["spec"]["affinity"] = _apart_from(queue)
        elif kind == "port":
            ports = [{"containerPort": 1, "hostPort": 1}]
            obj.manifest["spec"]["containers"][0]["ports"] = ports
        made.put(obj)


def _apart_from(queue: str) -> dict[str, Any]:
    term = {
        "labelSelector": {"matchLabels": {"queue": queue}},
        "topologyKey": "host",
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"podAntiAffinity": required}


def _must_run_on(obj: Object, name: str) -> None:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    obj.manifest["spec"]["affinity"] = {"nodeAffinity": required}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}
    obj.manifest["metadata"]["ownerReferences"] = [owner]


@settings(max_examples=25)
@given(
    pods=_PODS, at=st.integers(1, 80), laws=st.sampled_from(["documented", "released"])
)
def test_a_world_decoded_from_its_bytes_goes_on_the_same(
    pods: list[tuple[Any, ...]], at: int, laws: str
) -> None:
    made = world(laws=laws, nodes={})
    for name, cpu in {"n": "4", "m": "3"}.items():
        obj = node(name, cpu)
        obj.manifest["metadata"]["labels"] = {"host": name}
        made.put(obj)
    _fill(made, pods)
    run(made, at)
    again = made.copy()
    assert again.hash() == made.hash()
    assert _plain(run(again, 60)) == _plain(run(made, 60))
    assert again.hash() == made.hash()
    assert made.yunikorn is not None
    assert list(made.yunikorn.violations()) == []


def _plain(decisions: Any) -> bytes:
    return msgspec.json.encode([(type(d).__name__, d) for d in decisions])


@pytest.mark.parametrize("at", [1, 5, 9, 12, 20, 40])
def test_a_gang_goes_on_the_same(at: int) -> None:
    made = world(nodes={"n": "3", "m": "1"})
    notes = {
        "yunikorn.apache.org/task-groups": msgspec.json.encode(GROUPS).decode(),
        "yunikorn.apache.org/task-group-name": "workers",
        "yunikorn.apache.org/schedulingPolicyParameters": (
            "placeholderTimeoutInSeconds=30"
        ),
    }
    made.put(pod("other", "root.test", "2", runtime="8s"))
    for number in range(3):
        arrival = f"{number * 7}s"
        made.put(
            pod(
                f"w{number}",
                "root.prod",
                runtime="15s",
                arrival=arrival,
                annotations=notes,
            )
        )
    run(made, at)
    again = made.copy()
    assert again.hash() == made.hash()
    assert _plain(run(again, 60)) == _plain(run(made, 60))
    assert again.hash() == made.hash()
    assert made.yunikorn is not None
    assert list(made.yunikorn.violations()) == []


def test_a_gang_that_is_completing_still_counts_where_it_was_counted() -> None:
    made = world(nodes={"n": "2"})
    notes = {
        "yunikorn.apache.org/task-groups": msgspec.json.encode(GROUPS).decode(),
        "yunikorn.apache.org/task-group-name": "workers",
    }
    first = pod("first", "root.prod", annotations=notes)
    made.put(first)
    run(made, 3)
    made.delete(first.key)
    run(made, 1)
    again = made.copy()
    run(again, 1)
    run(made, 1)
    assert _allocating(again) == _allocating(made) != []


def _allocating(of: World) -> list[str]:
    assert of.yunikorn is not None
    return sorted(of.yunikorn.partition.root.allocating)
