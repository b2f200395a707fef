"""What becomes of workloads in a random run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.kueue.check_state import CheckState
from tests.scheduler.kueue.random_runs import draws
from tests.scheduler.kueue.random_runs.draws import BOOST

if TYPE_CHECKING:
    from scheduler.engine.kueue.workload.info import WorkloadInfo
    from tests.scheduler.kueue.random_runs.run import Run

_GATED = "kueue.x-k8s.io/admission-gated-by"


def works(run: Run) -> list[WorkloadInfo]:
    known = run.stage.cluster.workloads
    return [known[key] for key in run.keys("Workload") if key in known]


def some(run: Run, *, reserved: bool | None = None) -> WorkloadInfo | None:
    found = [
        work
        for work in works(run)
        if not work.finished and reserved in (None, work.reserved)
    ]
    return run.draw.choice(found) if found else None


def finish(run: Run) -> None:
    work = some(run, reserved=True)
    if work is not None:
        how = run.draw.choice(((), (), ("Job failed", "Failed")))
        run.stage.finish(work.key, *how)


def delete(run: Run) -> None:
    there = works(run)
    if there:
        run.remove(run.draw.choice(there).key)


def ready(run: Run) -> None:
    work = some(run, reserved=True)
    if work is not None and work.has_condition("Admitted") and not work.evicted:
        run.stage.pods_ready(work.key, run.draw.chance(0.7))


def reclaim(run: Run) -> None:
    work = some(run, reserved=True)
    if work is not None:
        part = run.draw.choice(work.pod_sets)
        count = run.draw.randint(work.reclaimable.get(part.name, 0), part.count)
        pods = {**work.reclaimable, part.name: count}
        given = [{"name": name, "count": n} for name, n in pods.items()]
        run.restate(work.key, reclaimablePods=given)


def activate(run: Run) -> None:
    work = some(run)
    if work is not None:
        run.edit(work.key, active=not work.active or run.draw.chance(0.3))


def reprice(run: Run) -> None:
    work = some(run)
    if work is not None:
        run.edit(work.key, priority=run.draw.randint(-2, 6))


def move(run: Run) -> None:
    work = some(run, reserved=run.draw.choice((False, False, None)))
    if work is not None:
        run.edit(work.key, queueName=run.draw.choice((*draws.LOCAL_QUEUES, "none")))


def limit(run: Run) -> None:
    work = some(run)
    if work is not None:
        run.edit(work.key, maximumExecutionTimeSeconds=run.draw.choice((None, 4, 20)))


def boost(run: Run) -> None:
    work = some(run)
    if work is not None:
        given = {BOOST: run.draw.choice(("4", "-4", ""))}
        run.annotate(work.key, "annotations", given)


def gate(run: Run) -> None:
    work = some(run)
    if work is not None:
        given = {_GATED: run.draw.choice(("", "people"))}
        run.annotate(work.key, "annotations", given)


def open_gate(run: Run) -> None:
    gated = [
        work for work in works(run) if run.objects[work.key].spec.get("preemptionGates")
    ]
    if gated:
        at = "2026-01-01T00:00:01Z"
        position = run.draw.choice(("Open", "Open", "Closed"))
        given = [{"name": "g", "position": position, "lastTransitionTime": at}]
        run.restate(run.draw.choice(gated).key, preemptionGates=given)


def answer(run: Run) -> None:
    asked = [work for work in works(run) if work.checks]
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


def state_answers(run: Run) -> None:
    """Have the status of a Workload say what its checks answer, as a page edits it."""
    asked = [work for work in works(run) if work.checks]
    if asked:
        work = run.draw.choice(asked)
        said = run.stored(work.key).status["admissionChecks"]
        state = run.draw.choice(("Ready", "Retry", "Pending"))
        run.stage.answer_checks(
            work.key,
            [
                item | {"state": state} if run.draw.chance(0.5) else item
                for item in said
            ],
        )
