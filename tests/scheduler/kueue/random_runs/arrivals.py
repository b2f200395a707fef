"""The Workloads that come in a random run: new ones, slices, and those of elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scheduler.kueue.random_runs import draws, workloads
from tests.scheduler.kueue.random_runs.workload_edits import some, works

if TYPE_CHECKING:
    from tests.scheduler.kueue.random_runs.run import Run

_FOR = "kueue.x-k8s.io/workload-slice-replacement-for"


def workload(run: Run) -> None:
    spec, labels, annotations = workloads.workload(run.draw)
    run.put(
        "Workload",
        f"w{run.made:03d}",
        spec,
        namespace=run.draw.choice(("default", "default", "default", "team")),
        labels=labels,
        annotations=annotations,
        owners=[{"kind": run.draw.choice(("Job", "Pod"))}],
    )


def slice_(run: Run) -> None:
    """Have an elastic job grow or shrink: another Workload is to replace its own."""
    successors = run.stage.cluster.successors
    elastic = [
        work
        for work in works(run)
        if work.elastic and work.reserved and work.key not in successors
    ]
    if not elastic:
        return
    old = run.draw.choice(elastic)
    obj = run.objects[old.key]
    parts = [
        {**part, "count": run.draw.choice((1, 2, 4, 6))} for part in obj.spec["podSets"]
    ]
    run.put(
        "Workload",
        f"w{run.made:03d}",
        {**obj.spec, "podSets": parts},
        namespace=old.namespace,
        labels=obj.labels,
        annotations={**obj.annotations, _FOR: old.name},
    )


def brought(run: Run) -> None:
    """Bring a Workload with the status of another, as an importer does."""
    work = some(run)
    if work is None:
        return
    obj = run.stored(work.key)
    given = dict(obj.status)
    admission = dict(given.get("admission") or {})
    if admission and run.draw.chance(0.5):
        parts = admission["podSetAssignments"]
        bare = [{k: v for k, v in part.items() if k != "count"} for part in parts]
        if run.draw.chance(0.2):
            bare[0]["name"] = "renamed"
        given["admission"] = {**admission, "podSetAssignments": bare}
    run.put(
        "Workload",
        f"w{run.made:03d}",
        {**obj.spec, "queueName": run.draw.choice(draws.LOCAL_QUEUES)},
        namespace=work.namespace,
        labels=obj.labels,
        annotations=obj.annotations,
        status=given,
    )


def waiting(run: Run) -> None:
    """Bring Workloads whose cycle waits for the pods of others, in any order."""
    for _ in range(run.draw.choice((1, 2))):
        spec, labels, annotations = workloads.workload(run.draw)
        waits = {
            "type": "QuotaReserved",
            "status": "False",
            "reason": "WaitingForPodsReady",
            "lastTransitionTime": f"2026-01-01T00:00:0{run.draw.randrange(9)}Z",
        }
        run.put(
            "Workload",
            f"w{run.made:03d}",
            spec,
            namespace="default",
            labels=labels,
            annotations=annotations,
            status={"conditions": [waits]},
        )
