"""Nomination: what each head would get, all on one state of the tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from scheduler.kueue.cache.borrowers import Borrowers
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.flavorassigner.assigner import Assigner
from scheduler.kueue.flavorassigner.assignment import Assignment
from scheduler.kueue.flavorassigner.modes import Mode
from scheduler.kueue.flavorassigner.partial import reduce_counts
from scheduler.kueue.preemption.targets import Target
from scheduler.kueue.queue.requeue import Reason
from scheduler.kueue.scheduler.entries import Entry
from scheduler.kueue.scheduler.preempting import Preempting
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.tree import Queue
from scheduler.kueue.workload.info import Attempt, Work
from scheduler.reasons import (
    ABOVE_LIMITS,
    MISCONFIGURED,
    OUTSIDE_LIMIT_RANGES,
    WRONG_NAMESPACE,
)

Found = tuple[Assignment, list[Target]]


def nominate(
    cluster: Cluster,
    preempting: Preempting,
    entry: Entry,
    *,
    borrowers: Borrowers,
    trace: Trace | None = None,
) -> None:
    """Give the entry an assignment and targets, or say why it gets none.

    Source: KUEUE.md 7.1.
    """
    work, queue = entry.work, entry.queue
    if not cluster.matches(queue, work.namespace):
        entry.refuse(Reason.NAMESPACE_MISMATCH, MISCONFIGURED, WRONG_NAMESPACE)
        return
    problem = misfit(cluster, work, queue)
    if problem:
        entry.refuse(Reason.GENERIC, MISCONFIGURED, problem)
        return
    resume = _resume(work, entry, cluster.cycle)
    found = search(
        cluster, preempting, entry, resume=resume, borrowers=borrowers, trace=trace
    )
    entry.assignment, entry.targets = found
    note_attempt(cluster, entry)


def note_attempt(cluster: Cluster, entry: Entry) -> None:
    """Keep where the search stopped, for the workload's next attempt.

    Source: KUEUE.md 6.6.
    """
    assert entry.assignment is not None
    entry.work.attempt = Attempt(
        tried=entry.assignment.tried(),
        cycle=cluster.cycle,
        generation=entry.queue.generation,
        identity=entry.work.identity,
    )


def misfit(cluster: Cluster, work: Work, queue: Queue) -> str:
    """Return why a workload may never be admitted in a ClusterQueue, or "".

    Source: KUEUE.md 7.1.
    """
    if not cluster.matches(queue, work.namespace):
        return WRONG_NAMESPACE
    shapes = [part.shape for part in work.pod_sets]
    if any(shape.outside for shape in shapes):
        return f"{OUTSIDE_LIMIT_RANGES}: {_together(s.outside for s in shapes)}"
    if any(shape.above for shape in shapes):
        return f"{ABOVE_LIMITS}: {_together(s.above for s in shapes)}"
    return ""


def _together(errors: Iterable[Sequence[str]]) -> str:
    """Return the field errors of all podsets, several of them in brackets."""
    found = [
        f"spec.podSets[{index}].{error}"
        for index, each in enumerate(errors)
        for error in each
    ]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def _resume(work: Work, entry: Entry, cycle: int) -> Sequence[Mapping[str, int]]:
    """Return where the flavor search goes on. Source: KUEUE.md 6.6."""
    attempt = work.attempt
    if attempt is None or attempt.identity != work.identity:
        return ()
    if attempt.cycle < cycle - 1 and entry.queue.generation > attempt.generation:
        return ()
    return attempt.tried


def search(
    cluster: Cluster,
    preempting: Preempting,
    entry: Entry,
    *,
    resume: Sequence[Mapping[str, int]] = (),
    only: Sequence[Mapping[str, str]] | None = None,
    borrowers: Borrowers | None = None,
    absent: Collection[Work] = (),
    trace: Trace | None = None,
) -> Found:
    """Return the assignment of all pods, else of fewer, and whom to preempt for it.

    Source: KUEUE.md 6, 6.10.
    """
    assigner = Assigner(
        entry.work,
        entry.queue,
        flavors=cluster.flavors,
        search=preempting.port(borrowers=borrowers, absent=absent, trace=trace),
        refusals=cluster.refusals,
        fair=preempting.fair,
        resume=resume,
        only=only,
        trace=trace,
    )
    full = assigner.assign()
    if full.mode is Mode.FIT:
        return full, []
    targets = assigner.targets(full) if full.mode is Mode.PREEMPT else []
    if targets or not entry.work.shrinkable:
        return full, targets
    return _fewer(assigner, entry.work) or (full, [])


def _fewer(assigner: Assigner, work: Work) -> Found | None:
    def attempt(counts: tuple[int, ...]) -> Found | None:
        assignment = assigner.assign(counts)
        if assignment.mode is Mode.FIT:
            return assignment, []
        if assignment.mode is Mode.PREEMPT:
            targets = assigner.targets(assignment)
            return (assignment, targets) if targets else None
        return None

    return reduce_counts(work.pod_sets, attempt)
