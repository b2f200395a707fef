"""Worlds whose run is kept word by word: scenarios of the library, and some that are denser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.world import World
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
    world_of,
)
from tests.scheduler.autoscaling.test_delayed_topology import READY, checked, coming
from tests.scheduler.kueue.concurrent.test_concurrent_admission import (
    a_world,
    change,
    cpu,
    queue,
)
from tests.scheduler.lifetime.test_elastic_jobs import elastic, scaled
from tests.scheduler.multikueue.builders import a_job, linked, losing
from tests.scheduler.test_latencies import crowd
from tests.scheduler.test_topology import HOST, asking, host, racks

SCENARIOS = Path(__file__).parents[4] / "sandbox" / "scenarios"
NAMES = [
    "active-off-and-on",
    "check-rejects",
    "classical-last-attempt",
    "dynamic-reclaim",
    "elastic-job",
    "execution-limit",
    "fair-strategies-in-order",
    "fair-weight-zero",
    "flavor-fungibility",
    "hierarchy-lending",
    "label-keys-to-copy",
    "limit-range",
    "node-failure",
    "partial-admission",
    "pods-quota",
    "pods-ready-backoff",
    "preemption-checkpoints",
    "provisioning-request",
    "rack-local-training",
    "steps-take-time",
    "stop-policy",
    "strict-fifo",
    "thread-usage-half-life",
    "two-clusters-one-lost",
]
SLOW = {
    "schedulingCycle": "uniform(100ms,300ms)",
    "admission": "uniform(50ms,150ms)",
    "reactivation": "uniform(500ms,1500ms)",
    "workloadCreation": "200ms",
    "podStart": "uniform(1s,3s)",
    "termination": "2s",
    "completion": "400ms",
}
WAITING = {"timeout": "20s", "requeuingStrategy": {"backoffBaseSeconds": 3}}


def scenario(name: str) -> World:
    return assemble(read_sources([SCENARIOS / name])).world


def train(name: str, level: str, arrival: str, **given: Any) -> dict[str, Any]:
    made = asking(level, **given)
    made["metadata"]["name"] = name
    made["metadata"]["annotations"]["quotalab.dev/arrival"] = arrival
    made["metadata"]["annotations"]["quotalab.dev/runtime"] = "40s"
    return made


def variants(mode: str = "", last: str = "", **policy: Any) -> World:
    """Jobs of two priorities that are tried in three flavors, one of which goes."""
    fewer = queue(mode, spot=3, late=4)["spec"]
    long = "a-job-with-a-name-that-is-as-long-as-names-of-jobs-may-ever-be"
    return a_world(
        cpu("a", runtime="90s"), cpu(long, runtime="50s", arrival="1s"),
        cpu("c", runtime="600s", arrival="2s"), cpu("d", runtime="30s", arrival="3s"),
        cpu("high", priority_class="high", runtime="400s", arrival="10s"),
        cpu("higher", priority_class="high", runtime="20s", arrival="12s"),
        change("ClusterQueue", "200s", {"spec": {"resourceGroups": fewer["resourceGroups"]}}),
        of=queue(mode, last, reserved=2, spot=3, late=2), **policy,
    )  # fmt: skip


def answered(**rule: Any) -> World:
    """Jobs whose places are found when a check is ready, if it is not asked again."""
    updates = [
        {"name": "main", "nodeSelector": {"pool": "main"},
         "tolerations": [{"key": "new", "operator": "Exists"}]},
        {"name": "other", "nodeSelector": {"pool": "none"}},
    ]  # fmt: skip
    given = {**READY, "after": "uniform(5s,15s)", "podSetUpdates": updates, **rule}
    tainted = host("b1", "rb")
    tainted["spec"] = {"taints": [{"key": "new", "value": "1", "effect": "NoSchedule"}]}
    other = {
        **flavor("other"),
        "spec": {"nodeLabels": {"pool": "none"}, "topologyName": "racks"},
    }
    return checked(
        other,
        host("far", "rz", cpu=1), *coming("9s", "a1", "a2"), tainted, *coming("40s", "a3"),
        *(train(f"t{n}", "rack", f"{n}s", parallelism=1 + n % 3, cpu=2) for n in range(6)),
        job("plain", queue="main", cpu=1, arrival="3s", runtime="10s"), rule=given,
    )  # fmt: skip


def failing() -> World:
    """Jobs in racks, nodes of which fail."""
    fails = [
        {
            "apiVersion": "quotalab.dev/v1", "kind": "Change",
            "metadata": {"name": f"{node}-{at}", "annotations": {"quotalab.dev/arrival": at}},
            "spec": {
                "target": {"kind": "Node", "name": node},
                "node": said,
            },
        }
        for node, at, said in (
            ("a1", "15s", "fail"), ("b2", "25s", "fail"), ("a1", "120s", "recover"),
        )
    ]  # fmt: skip
    return racks(
        *(train(f"t{n}", "rack", f"{n}s", parallelism=2, cpu=2) for n in range(3)),
        *(train(f"h{n}", HOST, f"{n + 5}s", parallelism=2, cpu=1) for n in range(3)),
        host("c1", "rc"), *fails,
    )  # fmt: skip


def resized() -> World:
    grown = [scaled(at, n) for at, n in (("5s", 3), ("9s", 5), ("30s", 2), ("60s", 4))]
    gate = {"featureGates": {"ElasticJobsViaWorkloadSlices": True}}
    return a_world(
        elastic(2, runtime="100s"), cpu("other", runtime="60s", arrival="7s"), *grown,
        of=queue(main=5), kueue=gate,
    )  # fmt: skip


def one_at_a_time(**more: Any) -> World:
    """Jobs of two queues whose admissions wait for the pods of those before."""
    waits = {**WAITING, "timeout": "4s", "blockAdmission": True}
    quota = {"cohort": "c", "within": "LowerPriority", "reclaim": "Any"}
    return world_of(
        flavor(), workload_priority("high", 100),
        *(cluster_queue(name, cpu=3, **quota) for name in "abc"),
        *(local_queue(name, cluster_queue=name) for name in "abc"),
        *(
            job(f"j{n}", queue="abc"[n % 3], cpu=(1, 2, 9)[n % 4 % 3], arrival=f"{n // 3}s",
                priority_class="high" if n % 5 == 4 else "", runtime=f"{3 + n % 5}s")
            for n in range(15)
        ),
        simulation={"latencies": {"readiness": "uniform(500ms,6s)", **more}},
        kueue={"waitForPodsReady": waits},
    )  # fmt: skip


def dispatched(**kueue: Any) -> World:
    return linked(
        *(a_job(f"x{n}", cpu=2, arrival=f"{n}s") for n in range(5)),
        losing("a", "20s"), kueue=kueue,
    )  # fmt: skip


WORLDS: dict[str, Callable[[], World]] = {
    "variants": variants,
    "variants that stay": lambda: variants("RetainFirstAdmission"),
    "variants to the second": lambda: variants(last="spot"),
    "variants that wait for pods": lambda: variants(
        kueue={
            "featureGates": {"ConcurrentAdmission": True},
            "waitForPodsReady": WAITING,
        }
    ),
    "answers": answered,
    "answers by chance": lambda: answered(
        probability=0.5, otherwise="Retry", requeueAfterSeconds=7
    ),
    "one at a time": one_at_a_time,
    "one at a time with cycles that take time": lambda: one_at_a_time(**SLOW),
    "nodes that fail": failing,
    "slices": resized,
    "clusters": dispatched,
    "clusters one by one": lambda: dispatched(
        dispatcherName="kueue.x-k8s.io/multikueue-dispatcher-incremental",
        incrementalDispatcherConfig={"stepSize": 1},
    ),
    "steps that take time": lambda: crowd(SLOW, 3, nodes=True),
    "steps without nodes": lambda: crowd(SLOW, 4, nodes=False),
    **{name: lambda name=name: scenario(name) for name in NAMES},
}
