"""The index of admitted workloads gives the candidates that a policy names, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.engine.kueue.cache.candidates import (
    ANY,
    LOWER_OR_NEWER,
    NEVER,
    AdmittedIndex,
    below_priority,
    merged,
)
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.model.objects import Key

CPU, GPU, DISK = ("f", "cpu"), ("f", "gpu"), ("g", "disk")
LOWER = "LowerPriority"
QUEUES = [LocalQueue(Key("LocalQueue", "default", name)) for name in "abc"]
WORKS = st.lists(
    st.tuples(
        st.integers(0, 3),  # priority
        st.integers(0, 3),  # queued at
        st.integers(0, 3),  # quota since
        st.sampled_from([(CPU,), (GPU,), (CPU, GPU), (DISK,)]),
        st.booleans(),  # evicted
        st.sampled_from(QUEUES),
    ),
    max_size=9,
)
PREEMPTOR = st.tuples(st.integers(0, 3), st.integers(0, 3))
POLICIES = st.sampled_from([ANY, LOWER_OR_NEWER, LOWER, NEVER])


def works_of(rows) -> list[WorkloadInfo]:
    works = []
    for number, (priority, queued, since, held, evicted, queue) in enumerate(rows):
        work = WorkloadInfo(
            Key("Workload", "default", f"w{number}"), f"u{number}", queue
        )
        work.priority, work.queue_order_us = priority, queued
        work.flavor_resources = frozenset(held)
        work.conditions["QuotaReserved"] = Condition(True, "", "", since)
        work.conditions["Evicted"] = Condition(evicted, "", "", 0)
        works.append(work)
    return works


def usage(queue: LocalQueue) -> float:
    return float(QUEUES.index(queue))


def allows(policy: str, work: WorkloadInfo, priority: int, queued: int) -> bool:
    """Return whether a preemptor of this priority, queued then, may take a workload."""
    newer = work.priority == priority and work.queue_order_us > queued
    lower = work.priority < priority
    return {
        ANY: True,
        NEVER: False,
        LOWER: lower,
        LOWER_OR_NEWER: lower or newer,
    }[policy]


def order(work: WorkloadInfo) -> tuple[int, int, str]:
    """Return the lowest priority first, and of those who got quota last."""
    return work.priority, -work.conditions["QuotaReserved"].since_us, work.uid


@given(WORKS, PREEMPTOR, POLICIES, st.booleans(), st.booleans(), st.integers(0, 4))
def test_candidates_are_those_that_hold_what_is_needed_and_the_policy_allows(
    rows, preemptor, policy, evicted, by_usage, bound
):
    index = AdmittedIndex(usage if by_usage else None)
    works = works_of(rows)
    for work in works:
        index.put(work)
    (asks,) = works_of([(*preemptor, 0, (), False, QUEUES[0])])
    needed = {CPU, DISK}
    ranges = index.candidate_ranges(needed, policy, asks, evicted=evicted)
    expected = [
        work
        for work in works
        if work.evicted is evicted
        and work.flavor_resources & needed
        and allows(policy, work, *preemptor)
    ]
    expected.sort(key=lambda w: (-usage(w.local_queue) if by_usage else 0.0, *order(w)))
    assert [rank[4] for rank in merged(ranges)] == expected
    below = below_priority(ranges, bound)
    cut = [work for work in expected if work.priority < bound]
    assert [rank[4] for rank in merged(below)] == cut


@given(WORKS)
def test_an_index_whose_workloads_left_is_as_it_was_before(rows):
    index = AdmittedIndex()
    works = works_of(rows)
    for work in works:
        index.put(work)
    assert list(index.unadmitted) == works
    for work in works:
        index.drop(work)
    kept = (index.workloads, index.unadmitted, index.running, index.evicted)
    assert not any(kept)


def test_an_equal_priority_that_is_newer_is_a_candidate_and_a_higher_one_never():
    rows = [(p, 9, 0, (CPU,), False, QUEUES[0]) for p in (2, 3, 4, 5)]
    works = works_of(rows)
    index = AdmittedIndex()
    for work in works:
        index.put(work)
    (preemptor,) = works_of([(3, 1, 0, (CPU,), False, QUEUES[0])])
    runs = index.candidate_ranges([CPU], LOWER_OR_NEWER, preemptor, evicted=False)
    assert [rank[0] for rank in merged(runs)] == [2, 3]
