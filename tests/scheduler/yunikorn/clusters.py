"""Whole worlds under the YuniKorn stack, from Pods and Nodes."""

from __future__ import annotations

from typing import Any

from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy

QUEUES: dict[str, Any] = {
    "partitions": [
        {
            "name": "default",
            "queues": [
                {
                    "name": "root",
                    "queues": [
                        {
                            "name": "prod",
                            "resources": {"guaranteed": {"vcore": "4"}},
                            "properties": {"preemption.delay": "5s"},
                        },
                        {"name": "test", "resources": {"guaranteed": {"vcore": "2"}}},
                        {"name": "default"},
                    ],
                }
            ],
        }
    ]
}


def world(
    *,
    queues: dict[str, Any] | None = None,
    laws: str = "documented",
    nodes: dict[str, str] | None = None,
    seed: int = 1,
) -> World:
    """Return a world with nodes of so many cores."""
    section = {"laws": laws, "queues": QUEUES if queues is None else queues}
    made = World.create(
        read_policy({"spec": {"stack": "yunikorn", "yunikorn": section}}), seed
    )
    for name, cpu in ({"n": "8"} if nodes is None else nodes).items():
        made.put(node(name, cpu))
    return made


def node(name: str, cpu: str, **spec: Any) -> Object:
    """Return a Node."""
    return Object(
        key=Key("Node", "", name),
        manifest={
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "spec": spec,
        },
        status={"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}},
    )


def pod(
    name: str,
    queue: str,
    cpu: str = "1",
    *,
    runtime: str = "1h",
    arrival: str = "",
    recreate: bool = False,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Object:
    """Return a Pod of one container."""
    ours = {"quotalab.dev/runtime": runtime, **(annotations or {})}
    if arrival:
        ours["quotalab.dev/arrival"] = arrival
    if recreate:
        ours["quotalab.dev/recreate"] = "true"
    container = {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    return Object(
        key=Key("Pod", "default", name),
        manifest={
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "default",
                "labels": {"queue": queue, "applicationId": queue, **(labels or {})},
                "annotations": ours,
            },
            "spec": {"containers": [container], **spec},
        },
    )


def run(made: World, seconds: int) -> list[Decision]:
    """Run so many ticks; return what was decided."""
    found: list[Decision] = []
    for _ in range(seconds):
        found += run_tick(made)
    return found


def subjects(decisions: list[Decision], kind: str) -> list[str]:
    """Return the names of the subjects of one kind of decision."""
    return [d.subject.name for d in decisions if type(d).__name__ == kind]
