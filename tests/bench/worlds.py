"""Large worlds for measuring."""

from __future__ import annotations

from typing import Any

import yaml

from tests.builders import (
    cluster_queue,
    flavor,
    local_queue,
    node,
    workload_priority,
)


def crowded(
    *,
    workloads: int = 10_000,
    nodes: int = 1_000,
    queues: int = 30,
    runtime_s: tuple[int, int] = (60, 13),
) -> list[tuple[str, str]]:
    """Return files: queues of one cohort, and work for more than they can run.

    Workloads arrive over the first minute and run for `runtime_s`: the least, and
    over how many seconds they differ.
    """
    manifests: list[dict[str, Any]] = [flavor()]
    for n in range(queues):
        manifests += [
            cluster_queue(
                f"cq{n}", cohort="team", cpu=380, within="LowerPriority", reclaim="Any"
            ),
            local_queue(f"lq{n}", cluster_queue=f"cq{n}"),
        ]
    manifests += [node(f"n{n:04d}", cpu=16) for n in range(nodes)]
    manifests += [workload(n, queues, runtime_s) for n in range(workloads)]
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return [("world.yaml", yaml.dump_all(manifests, Dumper=dumper))]


def workload(
    n: int, queues: int, runtime_s: tuple[int, int] = (60, 13)
) -> dict[str, Any]:
    """Return one Workload of one pod."""
    requests = {"requests": {"cpu": str(1 + n % 7)}}
    container = {"name": "main", "image": "example.com/main", "resources": requests}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"w{n:05d}",
            "namespace": "default",
            "annotations": {
                "quotalab.dev/arrival": f"{n * 7 % 60}s",
                "quotalab.dev/runtime": f"{runtime_s[0] + n % runtime_s[1]}s",
            },
        },
        "spec": {
            "queueName": f"lq{n * n % queues}",
            "priority": n * 5 % 3,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": spec}}],
        },
    }


TEAMS = ("a", "b", "c", "d")


def arrivals(team: str, count: int) -> dict[str, Any]:
    """Return jobs of a team, at random times and of random length."""
    requests = {"cpu": "2" if team in "ab" else "6"}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    labels = {
        "kueue.x-k8s.io/queue-name": team,
        "kueue.x-k8s.io/priority-class": "high" if team == "d" else "low",
    }
    return {
        "process": "poisson",
        "parameters": {"every": "6s", "count": count},
        "object": {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": f"job-{team}",
                "namespace": "default",
                "labels": labels,
                "annotations": {"quotalab.dev/runtime": "exp(40s)"},
            },
            "spec": {
                "template": {
                    "spec": {"restartPolicy": "Never", "containers": [container]}
                }
            },
        },
    }


def four_teams(*, jobs_each: int = 50) -> str:
    """Return a file: four teams of one cohort that ask for more than there is."""
    queues = [
        cluster_queue(team, cohort="all", cpu=16, within="LowerPriority", reclaim="Any")
        for team in TEAMS
    ]
    local_queues = [local_queue(team, cluster_queue=team) for team in TEAMS]
    classes = [workload_priority("high", 100), workload_priority("low", 1)]
    spec = {
        "title": {"en": "Four teams"},
        "summary": {"en": "More jobs than there is room for."},
        "horizon": "30m",
        "arrivals": [arrivals(team, jobs_each) for team in TEAMS],
    }
    head = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "teams"},
        "spec": spec,
    }
    return yaml.safe_dump_all([head, flavor(), *queues, *local_queues, *classes])
