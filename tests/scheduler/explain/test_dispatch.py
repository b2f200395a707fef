"""Why MultiKueue has a workload where it is: what each worker cluster says."""

from __future__ import annotations

from io import StringIO

import pytest

from scheduler.analysis.explain.shapes import ClusterRow, Explanation
from scheduler.analysis.explain.workloads import explain
from scheduler.cli.explain import main as command
from scheduler.engine.world import World
from tests.builders import job
from tests.scheduler.multikueue.builders import (
    a_job,
    in_cluster,
    linked,
    losing,
    run,
    worker,
    workload,
)

INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def asked(world: World, until: int, name: str = "x") -> Explanation:
    """Return the explanation of a job's Workload at a second."""
    run(world, until)
    return explain(world, workload(world, name).key)


def states(answer: Explanation) -> list[tuple[str, str]]:
    """Return cluster and state of each row."""
    return [(row.cluster, row.state) for row in answer.clusters]


def row_of(answer: Explanation, cluster: str) -> ClusterRow:
    """Return the row of a cluster."""
    return next(row for row in answer.clusters if row.cluster == cluster)


def test_a_worker_without_quota_says_so_in_the_words_of_the_copys_condition() -> None:
    answer = asked(linked(a_job(cpu=8)), 10)
    assert states(answer) == [("a", "pending"), ("b", "pending")]
    row = row_of(answer, "a")
    assert row.reason == "ExceedsMaxQuota"
    assert "insufficient quota for cpu in flavor default" in row.message
    assert row.copy.replace("a:", "") == answer.workload
    assert any(
        text.startswith("Worker cluster a was asked, and its copy waits: couldn't")
        for text in answer.sentences
    )


def test_a_worker_that_lacks_the_queue_says_so() -> None:
    lacking = [m for m in worker("c") if m["kind"] != "LocalQueue"]
    world = linked(*lacking, a_job(), workers={}, asks=("c",))
    row = row_of(asked(world, 10), "c")
    assert (row.state, row.message) == ("pending", "LocalQueue main doesn't exist")


def test_a_worker_that_lost_has_no_copy_any_more() -> None:
    answer = asked(linked(a_job()), 10)
    assert states(answer) == [("a", "admitted"), ("b", "dropped")]


def test_a_lost_worker_says_since_when_and_until_when_it_is_waited_for() -> None:
    world = linked(a_job(runtime="never"), losing("a", "5s"))
    row = row_of(asked(world, 10), "a")
    assert (row.state, row.reason) == ("lost", "ClientConnectionFailed")
    assert row.until_ms == 5_000 + 15 * 60_000


def test_clusters_that_are_not_nominated_yet_name_the_next_round() -> None:
    world = linked(
        a_job(cpu=8),
        kueue={
            "dispatcherName": INCREMENTAL,
            "incrementalDispatcherConfig": {"stepSize": 1},
        },
    )
    answer = asked(world, 10)
    assert states(answer) == [("a", "pending"), ("b", "unasked")]
    assert (
        "Worker cluster b was not asked yet: the next round is at 300 s."
        in answer.sentences
    )


def test_clusters_of_the_config_that_are_not_here_are_named() -> None:
    orphan = [m for m in worker("bare") if m["kind"] == "MultiKueueCluster"]
    asks = ("a", "bare", "gone")
    world = linked(*orphan, a_job(cpu=8), workers={"a": {}}, asks=asks)
    answer = asked(world, 10)
    assert states(answer) == [("a", "pending"), ("bare", "absent"), ("gone", "missing")]
    assert answer.sentences[-1] == "Worker cluster gone has no MultiKueueCluster."


def test_a_workload_of_the_workers_own_is_in_the_way() -> None:
    world = linked(a_job(cpu=8), *in_cluster("b", job("x", queue="none")))
    assert row_of(asked(world, 10), "b").state == "taken"


def test_what_waits_for_the_managers_quota_was_not_dispatched() -> None:
    answer = asked(linked(a_job(cpu=200)), 10)
    assert answer.clusters == []


def test_the_command_says_it_of_one_workload_at_an_instant() -> None:
    out = StringIO()
    scenario = "sandbox/scenarios/two-clusters-one-lost"
    assert command([scenario, "--at", "8m", "--about", "train"], out) == 0
    assert "Worker cluster east is not reached" in out.getvalue()
    assert "taken from it at 1200 s" in out.getvalue()


def test_the_command_refuses_a_workload_that_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["sandbox/scenarios/two-clusters-one-lost", "--about", "nobody"]
    assert command(words) == 2
    assert "nobody is not in this world" in capsys.readouterr().err
