"""A recount of usage and of LocalQueues: what is kept and is not so is said by name."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue import queries
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig


def counted() -> Rig:
    """A queue of a cohort with one workload that runs and one that waits."""
    rig = Rig()
    rig.queue("q", 2, cohort="c")
    rig.workload("runs", "q", 2)
    rig.workload("waits", "q", 1)
    rig.run(0)
    return rig


@pytest.mark.parametrize(
    ("field", "wrong", "sentence"),
    [
        ("pending", 7, "pending is 7, its workloads say 1"),
        ("reserving", 7, "reserving is 7, its workloads say 1"),
        ("admitted", 7, "admitted is 7, its workloads say 1"),
        ("usage", {}, "usage is {}, its workloads say {('f', 'cpu'): 2000}"),
        (
            "admitted_usage",
            {},
            "usage of the admitted is {}, its workloads say {('f', 'cpu'): 2000}",
        ),
    ],
)
def test_a_count_of_a_local_queue_that_its_workloads_refute_is_named(
    field: str, wrong: Any, sentence: str
):
    rig = counted()
    key = Key("LocalQueue", "default", "q")
    setattr(rig.stage.cluster.local_queue("default", "q"), field, wrong)
    assert list(queries.violations(rig.stage)) == [f"{key}: {sentence}"]


def test_usage_of_a_queue_that_its_workloads_refute_is_named_there_and_above():
    rig = counted()
    queue = rig.stage.cluster.forest.queues["q"]
    queue.resource_nodes["f", "cpu"].usage += 5
    assert list(queries.violations(rig.stage)) == [
        "ClusterQueue q counts 2005 of ('f', 'cpu'), what is below holds 2000",
        "Cohort c counts 2000 of ('f', 'cpu'), what is below holds 2005",
    ]


def test_what_waits_runs_and_stops_is_told_apart():
    rig = counted()
    runs, waits = (Key("Workload", "default", name) for name in ("runs", "waits"))
    gone = Key("Workload", "default", "gone")

    def standing_of(key: Key) -> tuple[bool, bool]:
        return queries.is_running(rig.stage, key), queries.is_stopping(rig.stage, key)

    assert [standing_of(key) for key in (runs, waits, gone)] == [
        (True, False),
        (False, False),
        (False, False),
    ]
    assert queries.pending_counts(rig.stage) == (0, 1)
    rig.edit(runs, active=False)
    rig.stage.reconcile()
    assert standing_of(runs) == (False, True)
    rig.controllers()
    assert standing_of(runs) == (False, False)
