"""Nomination: what each head would get, all on one state of the tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from scheduler.engine.kueue.cache.candidates import Borrowers, SearchesNow
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.flavorassigner.assigner import FlavorAssigner, reduce_counts
from scheduler.engine.kueue.flavorassigner.assignment import Assignment, Mode
from scheduler.engine.kueue.preemption.targets import Target
from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.engine.kueue.scheduler.preempting import ActivePreemption
from scheduler.engine.kueue.scheduler.second_pass import Entry, EntryStatus
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import failed
from scheduler.engine.kueue.workload.status_records import LastAssignment
from scheduler.model.reasons import (
    ABOVE_LIMITS,
    BELOW_LAST_ACCEPTABLE,
    FAILED_CHECKS,
    MISCONFIGURED,
    OUTSIDE_LIMIT_RANGES,
    PENDING_EVALUATION,
    PREFERRED_ADMITTED,
    WAITING_FOR_PREEMPTED,
    WRONG_NAMESPACE,
    pending_migration,
)

Found = tuple[Assignment, list[Target]]


def nominate(
    cluster: Cluster,
    preempting: ActivePreemption,
    entry: Entry,
    *,
    borrowers: Borrowers,
    known: SearchesNow,
    trace: Trace | None = None,
) -> None:
    """Give the entry an assignment and targets, or say why it gets none.

    Source: docs/semantics/kueue.md#nomination.
    """
    work, queue = entry.work, entry.queue
    if work.checks and failed(work.checks):
        entry.refuse(RequeueReason.GENERIC, PENDING_EVALUATION, FAILED_CHECKS)
        return
    if not cluster.matches(queue, work.namespace):
        entry.refuse(RequeueReason.NAMESPACE_MISMATCH, MISCONFIGURED, WRONG_NAMESPACE)
        return
    problem = limits_error(work)
    if problem:
        entry.refuse(RequeueReason.GENERIC, MISCONFIGURED, problem)
        return
    resume = _start_flavors(cluster, entry)
    again = work.last_assignment is not None and _hangs_on_quota(entry)
    quiet = trace is None and preempting.proposing is None
    answers = known.of(queue.root) if again and quiet else None
    places = tuple(tuple(part.items()) for part in resume)
    asked = (work, queue, work.scheduling_hash, work.queue_order_us, places)
    if answers is not None and asked in answers:
        (entry.assignment, pod_sets), tally = answers[asked]
        if pod_sets is work.pod_sets:
            preempting.spent.add(tally)
            store_last_assignment(cluster, entry)
            return
    before = replace(preempting.spent)
    entry.assignment, entry.targets = assign_flavors(
        cluster,
        preempting,
        entry,
        resume=resume,
        borrowers=borrowers,
        known=known,
        trace=trace,
    )
    if answers is not None and not (entry.targets or entry.assignment.mode is Mode.FIT):
        found = entry.assignment, work.pod_sets
        answers[asked] = found, preempting.spent.since(before)
    store_last_assignment(cluster, entry)


def _hangs_on_quota(entry: Entry) -> bool:
    """Return whether a nomination in vain stays so while its tree stays as it is.

    Places on nodes, and a slice that is replaced, are no part of the tree.
    """
    work = entry.work
    asks_topology = entry.queue.uses_topology or work.pod_sets.ask_topology
    return not (asks_topology or work.replaces or work.reclaimable)


def store_last_assignment(cluster: Cluster, entry: Entry) -> None:
    """Keep where the search stopped, for the workload's next attempt.

    Source: docs/semantics/kueue.md#continuing-a-flavor-search.
    """
    assert entry.assignment is not None
    entry.work.last_assignment = LastAssignment(
        tried_flavors=entry.assignment.tried(),
        cycle=cluster.cycle,
        generation=entry.queue.generation,
        scheduling_hash=entry.work.scheduling_hash,
    )


def validation_error(cluster: Cluster, work: WorkloadInfo, queue: ClusterQueue) -> str:
    """Return why a workload may never be admitted in a ClusterQueue, or "".

    Source: docs/semantics/kueue.md#nomination.
    """
    if not cluster.matches(queue, work.namespace):
        return WRONG_NAMESPACE
    return limits_error(work)


def limits_error(work: WorkloadInfo) -> str:
    """Return which limits of its namespace a workload's podsets break, or ""."""
    for part in work.pod_sets:
        if part.shape.outside or part.shape.above:
            shapes = [part.shape for part in work.pod_sets]
            if any(shape.outside for shape in shapes):
                return f"{OUTSIDE_LIMIT_RANGES}: {_together(s.outside for s in shapes)}"
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


def _start_flavors(cluster: Cluster, entry: Entry) -> Sequence[Mapping[str, int]]:
    """Return where the flavor search goes on.

    Source: docs/semantics/kueue.md#continuing-a-flavor-search.
    """
    attempt, fresh = entry.work.last_assignment, False
    if attempt is None:
        return ()
    if cluster.settings.gates.keeps_search:
        if attempt.scheduling_hash != entry.work.scheduling_hash:
            return ()
        fresh = attempt.cycle >= cluster.cycle - 1
    if not fresh and entry.queue.generation > attempt.generation:
        return ()
    return attempt.tried_flavors


def assign_flavors(
    cluster: Cluster,
    preempting: ActivePreemption,
    entry: Entry,
    *,
    resume: Sequence[Mapping[str, int]] = (),
    only: Sequence[Mapping[str, str]] | None = None,
    borrowers: Borrowers | None = None,
    known: SearchesNow | None = None,
    absent: Collection[WorkloadInfo] = (),
    trace: Trace | None = None,
) -> Found:
    """Return the assignment of all pods, else of fewer, and the workloads to preempt for it.

    Source: docs/semantics/kueue.md#flavor-assignment.
    """
    replaced = cluster.replaced_by(entry.work) if entry.work.replaces else None
    entry.replaced = None if replaced in absent else replaced
    assigner = FlavorAssigner(
        entry.work,
        entry.queue,
        flavors=cluster.flavors,
        search=preempting.target_search(
            borrowers=borrowers,
            known=known if entry.replaced is None else None,
            absent=absent,
            trace=trace,
        ),
        refusals=cluster.ineligibility,
        fair=preempting.fair,
        ignores_undeclared=cluster.settings.ignores_undeclared,
        selectors_per_flavor=cluster.settings.selectors_per_flavor,
        ranking=preempting.ranking,
        resume=resume,
        only=only,
        trace=trace,
        topologies=cluster.topologies,
        replaced=entry.replaced,
        proposing=preempting.proposing,
        delays=cluster.delays_topology(entry.queue)
        if entry.queue.spec.checks
        else None,
    )
    full = assigner.assign()
    if full.mode is Mode.FIT:
        return full, []
    targets = assigner.targets(full) if full.mode is Mode.PREEMPT else []
    fewer = cluster.settings.gates.partial_admission
    if targets or not (fewer and entry.work.can_be_admitted_partially):
        return full, targets
    return _fewer(assigner, entry.work) or (full, [])


def _fewer(assigner: FlavorAssigner, work: WorkloadInfo) -> Found | None:
    def attempt(counts: tuple[int, ...]) -> Found | None:
        assignment = assigner.assign(counts)
        if assignment.mode is Mode.FIT:
            return assignment, []
        if assignment.mode is Mode.PREEMPT:
            targets = assigner.targets(assignment)
            return (assignment, targets) if targets else None
        return None

    return reduce_counts(work.pod_sets, attempt)


# ------------------------------------------------------------------------
# A variant in a cycle: not where a better one runs, and not before a worse one ends.


def is_overtaken(cluster: Cluster, entry: Entry) -> bool:
    """Skip a variant while one of a more preferred flavor is admitted."""
    if _sibling(cluster, entry, preferred=True) is None:
        return False
    entry.skip(PREFERRED_ADMITTED)
    entry.reason = PENDING_EVALUATION
    return True


def moves_from(cluster: Cluster, entry: Entry) -> bool:
    """Have a variant that fits wait for the end of the one that runs, if one does.

    Where the policy does not let it move there, it is refused.
    """
    sibling = _sibling(cluster, entry, preferred=False)
    if sibling is None:
        return False
    assert entry.assignment is not None
    migration, flavors = entry.queue.spec.migration, entry.queue.spec.groups[0].flavors
    if migration is not None and not migration.reaches(entry.work.flavor, flavors):
        entry.refuse(RequeueReason.GENERIC, PENDING_EVALUATION, BELOW_LAST_ACCEPTABLE)
        return True
    entry.status, entry.migrated = EntryStatus.MIGRATING, sibling
    entry.requeue = RequeueReason.PENDING_MIGRATION
    entry.reason = WAITING_FOR_PREEMPTED
    entry.message = pending_migration(entry.assignment.message())
    entry.work.last_assignment = None
    return True


def _sibling(cluster: Cluster, entry: Entry, *, preferred: bool) -> WorkloadInfo | None:
    groups = entry.queue.spec.groups
    if cluster.families is None or not groups:
        return None
    flavors = groups[0].flavors
    return cluster.families.admitted_sibling(entry.work, flavors, preferred=preferred)
