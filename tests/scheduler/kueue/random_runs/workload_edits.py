"""What becomes of workloads in a random run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.kueue.workload.check_state import CheckState
from tests.scheduler.kueue.random_runs import draws, workloads
from tests.scheduler.kueue.random_runs.draws import BOOST

if TYPE_CHECKING:
    from scheduler.kueue.workload.info import WorkloadInfo
    from tests.scheduler.kueue.random_runs.run import Run

_FOR = "kueue.x-k8s.io/workload-slice-replacement-for"
_GATED = "kueue.x-k8s.io/admission-gated-by"


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
        for work in _works(run)
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
    work = _some(run)
    if work is None:
        return
    obj = run.stored(work.key)
    given = dict(obj.status)
    admission = dict(given.get("admission") or {})
    if admission and run.draw.chance(0.5):
        parts = admission["podSetAssignments"]
        bare = [{k: v for k, v in part.items() if k != "count"} for part in parts]
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


def _works(run: Run) -> list[WorkloadInfo]:
    known = run.stage.cluster.workloads
    return [known[key] for key in run.keys("Workload") if key in known]


def _some(run: Run, *, reserved: bool | None = None) -> WorkloadInfo | None:
    works = [
        work
        for work in _works(run)
        if not work.finished and reserved in (None, work.reserved)
    ]
    return run.draw.choice(works) if works else None


def finish(run: Run) -> None:
    work = _some(run, reserved=True)
    if work is not None:
        run.stage.finish(work.key)


def delete(run: Run) -> None:
    works = _works(run)
    if works:
        run.remove(run.draw.choice(works).key)


def ready(run: Run) -> None:
    work = _some(run, reserved=True)
    if work is not None and work.has_condition("Admitted") and not work.evicted:
        run.stage.pods_ready(work.key, run.draw.chance(0.7))


def reclaim(run: Run) -> None:
    work = _some(run, reserved=True)
    if work is not None:
        part = run.draw.choice(work.pod_sets)
        count = run.draw.randint(work.reclaimable.get(part.name, 0), part.count)
        pods = {**work.reclaimable, part.name: count}
        given = [{"name": name, "count": n} for name, n in pods.items()]
        run.restate(work.key, reclaimablePods=given)


def activate(run: Run) -> None:
    work = _some(run)
    if work is not None:
        run.edit(work.key, active=not work.active or run.draw.chance(0.3))


def reprice(run: Run) -> None:
    work = _some(run)
    if work is not None:
        run.edit(work.key, priority=run.draw.randint(-2, 6))


def move(run: Run) -> None:
    work = _some(run, reserved=False)
    if work is not None:
        run.edit(work.key, queueName=run.draw.choice((*draws.LOCAL_QUEUES, "none")))


def limit(run: Run) -> None:
    work = _some(run)
    if work is not None:
        run.edit(work.key, maximumExecutionTimeSeconds=run.draw.choice((None, 4, 20)))


def boost(run: Run) -> None:
    work = _some(run)
    if work is not None:
        given = {BOOST: run.draw.choice(("4", "-4", ""))}
        run.annotate(work.key, "annotations", given)


def gate(run: Run) -> None:
    work = _some(run)
    if work is not None:
        given = {_GATED: run.draw.choice(("", "people"))}
        run.annotate(work.key, "annotations", given)


def open_gate(run: Run) -> None:
    gated = [
        work
        for work in _works(run)
        if run.objects[work.key].spec.get("preemptionGates")
    ]
    if gated:
        at = "2026-01-01T00:00:01Z"
        position = run.draw.choice(("Open", "Open", "Closed"))
        given = [{"name": "g", "position": position, "lastTransitionTime": at}]
        run.restate(run.draw.choice(gated).key, preemptionGates=given)


def answer(run: Run) -> None:
    asked = [work for work in _works(run) if work.checks]
    if not asked:
        return
    work = run.draw.choice(asked)
    name = run.draw.choice(sorted(work.checks))
    state = run.draw.choice(("Ready", "Ready", "Retry", "Rejected", "Pending"))
    run.stage.answer_check(
        work.key,
        name,
        CheckState(
            state=state,
            message=run.draw.choice(("", "by hand")),
            since_us=run.stage.context.now_us,
            requeue_after_s=run.draw.choice((None, 2, 30))
            if state == "Retry"
            else None,
            retry_count=run.draw.choice((None, 2)),
        ),
    )
