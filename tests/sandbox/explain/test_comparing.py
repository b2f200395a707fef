"""Branches compared: who diffs how, what is decided otherwise, and what it sums to."""

from __future__ import annotations

import pytest
from django.db import connection

from sandbox import actions
from sandbox.base.errors import BusyError
from sandbox.explain.comparing import compare
from sandbox.explain.comparing.branches import pair_of
from sandbox.explain.comparing.shapes import Comparison
from sandbox.models import Sandbox
from tests.builders import cluster_queue, job, pod, small_cluster, workload_priority
from tests.builders import node as node_of
from tests.sandbox.conftest import row, text_of, tick
from tests.scheduler.kube.test_gangs import ON, group

pytestmark = pytest.mark.django_db

WIDE = cluster_queue("main", cpu=8, within="LowerPriority")
HIGH = workload_priority("high", 100)


def queue_of_jobs(within: str = "LowerPriority") -> list[dict]:
    """Return one queue of 4 CPUs; jobs of 4 CPUs and 10 s arrive every second."""
    jobs = [
        job(f"job-{n}", queue="main", cpu=4, runtime="10s", arrival=f"{n}s")
        for n in range(4)
    ]
    return [*small_cluster(cpu=4, within=within), HIGH, *jobs]


@pytest.fixture
def parted(make, person):
    """Return a function: a sandbox and a fork at tick 2 with an edit, to a tick."""

    def part(*edits: dict, to: int = 28) -> tuple[Sandbox, Sandbox]:
        one = make(*queue_of_jobs())
        actions.do_play(person, one.pk)
        tick(one, 2)
        other = actions.do_fork(person, one.pk)
        if edits:
            actions.do_import(person, other.pk, [("edit.yaml", text_of(*edits))])
        actions.do_play(person, other.pk)
        for sandbox in (one, other):
            tick(sandbox, to - 2)
        return row(one), row(other)

    return part


def of(comparison: Comparison, name: str) -> list[float | None]:
    return next(t.values for t in comparison.totals if t.measure == name)


def test_what_was_rewound_while_it_was_read_is_read_again(parted, person):
    one, other = parted()
    left = [lambda: actions.do_rewind(person, other.pk, tick=20)]

    def once(execute, sql, params, many, context):
        if "sandbox_sample" in sql and left:
            left.pop()()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(once):
        found = compare([one, other])
    assert not left
    assert found.to_tick == 20


def test_a_past_that_changes_at_each_reading_is_refused(parted, person):
    one, other = parted()
    ticks = [26, 24, 22, 20, 18, 16]

    def often(execute, sql, params, many, context):
        if "sandbox_sample" in sql and "SELECT" in sql and ticks and not busy:
            busy.append(1)
            actions.do_rewind(person, other.pk, tick=ticks.pop(0))
            busy.clear()
        return execute(sql, params, many, context)

    busy: list[int] = []
    with (
        connection.execute_wrapper(often),
        pytest.raises(BusyError, match="changes faster"),
    ):
        compare([one, other])


def test_an_untouched_fork_decides_the_same(parted):
    found = compare(parted())
    assert (found.from_tick, found.to_tick) == (2, 28)
    assert found.differences == [None]
    assert found.workloads == []


def test_more_quota_lets_workloads_start_earlier(parted):
    found = compare(parted(WIDE))
    [counts] = found.counts
    assert (counts.earlier, counts.other, counts.later, counts.never) == (3, 0, 0, 0)
    [difference] = found.differences
    assert difference.ours is None
    assert (difference.theirs.type, difference.t_ms) == ("Admit", 2_000)


def test_lives_are_those_of_the_verdict_of_a_pair_of_branches(parted):
    branches = parted(WIDE)
    rows = pair_of(*branches).seeds[0].verdict.workloads
    expected = [
        (row.subject, [row.fates], [row.without, row.changed])
        for row in rows
        if row.fates != ["equal"]
    ]
    found = compare(branches).workloads
    assert [(one.subject, one.fates, one.courses) for one in found] == expected


def test_the_gang_of_pods_is_the_unit_that_is_compared(make, person):
    members = [pod(f"m{n}", cpu="4", runtime="1h") for n in range(2)]
    for one in members:
        one["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    train = {"apiVersion": "scheduling.k8s.io/v1alpha2", **group(), "kind": "PodGroup"}
    policy = {"stack": "kube", "kubeScheduler": ON}
    one = make(node_of("n0"), train, *members, policy=policy)
    actions.do_play(person, one.pk)
    tick(one, 2)
    other = actions.do_fork(person, one.pk)
    actions.do_import(person, other.pk, [("n1.yaml", text_of(node_of("n1")))])
    actions.do_play(person, other.pk)
    for each in (one, other):
        tick(each, 4)
    [diff] = compare([row(one), row(other)]).workloads
    assert (diff.subject, diff.fates[0][0]) == (
        "PodGroup.scheduling.k8s.io/default/train",
        "only",
    )


def test_a_preemption_is_added_and_its_victim_starts_later(parted):
    urgent = job(
        "urgent", queue="main", cpu=4, runtime="5s", priority_class="high", arrival="4s"
    )
    found = compare(parted(urgent, to=24))
    [preemptions] = found.preemptions
    [added] = preemptions.added
    assert (added.tick, preemptions.removed, preemptions.same) == (4, [], 0)
    victim = next(f for f in found.workloads if f.subject == added.subject)
    assert "evictedMore" in victim.fates[0]
    assert [one.runs for one in victim.courses[1].stretches][:2] == [True, False]
    assert of(found, "workLostMs") == [0, 4_000]
    assert of(found, "workLost.cpu")[1] == pytest.approx(4 * 4 / 3600)


def test_totals_count_since_the_branches_parted(parted):
    found = compare(parted(WIDE))
    assert of(found, "started") == [2, 3]
    assert of(found, "finished") == [2, 4]
    # Of the two, what never starts has waited longest.
    assert of(found, "neverStarted") == [1, 0]
    assert of(found, "waitMaxMs") == [25_000, 9_000]


def test_curves_are_over_the_same_ticks_and_thinned_out(parted):
    found = compare(parted(WIDE), points=7)
    assert len(found.series.ticks) <= 7
    assert found.series.ticks[-1] == 28
    one, other = found.series.branches
    assert len(one.pending) == len(other.utilisation["cpu"]) == len(found.series.ticks)
    assert set(one.shares) == {"main"}


def test_three_branches_are_each_held_against_the_first(parted, person):
    one, other = parted(WIDE)
    third = actions.do_fork(person, one.pk, tick=10)
    actions.do_play(person, third.pk)
    tick(third, 5)
    found = compare([one, other, row(third)])
    assert (found.from_tick, found.to_tick) == (2, 15)
    assert [difference is None for difference in found.differences] == [False, True]


def test_a_comparison_may_end_before_the_branches_do(parted):
    assert compare(parted(WIDE), 5).to_tick == 5


def test_an_edit_that_was_undone_makes_no_difference(parted, person):
    one, other = parted(WIDE)
    actions.do_undo(person, other.pk)
    assert row(other).hash == row(one).hash
    found = compare([row(one), row(other)])
    assert found.differences == [None]
    ours, theirs = found.series.branches
    assert len(theirs.pending) == 26
    assert theirs == ours


def test_strangers_are_compared_from_the_beginning(make, person):
    sandboxes = []
    for _ in range(2):
        sandbox = make(*queue_of_jobs())
        actions.do_play(person, sandbox.pk)
        tick(sandbox, 12)
        sandboxes.append(row(sandbox))
    found = compare(sandboxes)
    assert found.from_tick == 0
    assert found.differences == [None]


@pytest.mark.parametrize("stack", ["kube"])
def test_pods_of_a_job_finish_with_it(make, person, stack):
    work = job("wide", cpu=1, parallelism=2, runtime="3s")
    alone = pod("alone", cpu=1, runtime="3s")
    sandbox = make(node_of("n", cpu=4), work, alone, policy={"stack": stack})
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 6)
    found = compare([row(sandbox), row(sandbox)])
    assert of(found, "waiting") == [0, 0]
    assert found.same_subjects


def test_other_stacks_have_other_subjects(make, person):
    found = compare(
        [
            make(*queue_of_jobs()),
            make(node_of("n"), pod("p"), policy={"stack": "kube"}),
        ]
    )
    assert not found.same_subjects
    assert found.workloads == []
