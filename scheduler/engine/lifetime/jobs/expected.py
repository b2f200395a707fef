"""The Workloads that jobs are about to get, for who looks before the first tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.arriving import Jobs
from scheduler.engine.lifetime.jobs.state import OWNERS
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object

#: Of more jobs none is made: it would cost an import of many seconds more.
MOST_JOBS = 2_000


def expected_workloads(
    jobs: Jobs, comes_later: Callable[[Key], bool]
) -> Iterator[Object]:
    """Yield the Workload of each job that waits to be taken up, as it will be made.

    Nothing is put into the world. Left out are jobs that come later, that have or name
    a Workload or belong to another job, Deployments whose pods get them, and those of
    which none can be made, as the tick says. Of more than MOST_JOBS jobs nothing is yielded. Cost: as making them.
    """
    objects = jobs.host.objects
    waiting = [
        job
        for job in objects.values()
        if _waits(jobs, job) and not comes_later(job.key)
    ]
    if len(waiting) > MOST_JOBS:
        return
    owned = {
        owner_key(one, OWNERS) for one in objects.values() if one.key.kind == "Workload"
    }
    for job in waiting:
        if job.key not in owned:
            yield from _made(jobs, job)


def _waits(jobs: Jobs, job: Object) -> bool:
    return (
        job.key.kind in JOB_KINDS
        and not job.state.get("job")
        and owner_key(job, OWNERS) not in jobs.host.objects
        and jobs.manages(job)
        and not jobs.is_deployed(job)
        and jobs.prebuilt_of(job) is None
    )


def _made(jobs: Jobs, job: Object) -> Iterator[Object]:
    kind = jobs.kind_of(job)
    try:
        if kind.finish({**job.manifest, "status": job.status}) is not None:
            return
        made = kind.workloads(job.manifest, jobs.surroundings())
    except SchedulerError:
        return
    for manifest in made:
        key = Key("Workload", job.key.namespace, manifest["metadata"]["name"])
        yield Object(key=key, manifest=manifest)
