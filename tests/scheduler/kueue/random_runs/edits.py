"""The edits of a random run: those at its beginning, and those at each instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.scheduler.kueue.random_runs import arrivals, draws, nodes, queues
from tests.scheduler.kueue.random_runs import cluster_edits as cluster
from tests.scheduler.kueue.random_runs import workload_edits as work
from tests.scheduler.kueue.random_runs.draws import NAMESPACES

if TYPE_CHECKING:
    from tests.scheduler.kueue.random_runs.run import Run

Edit = Callable[["Run"], None]

#: Every edit, and how often it is drawn beside the others.
EDITS: dict[Edit, int] = {
    arrivals.workload: 20, arrivals.slice_: 4, arrivals.brought: 3, work.finish: 5, work.delete: 2, work.ready: 9, work.reclaim: 3, work.activate: 3,
    work.reprice: 2, work.move: 2, work.limit: 1, work.boost: 1, work.gate: 2, work.open_gate: 2, work.answer: 8, work.state_answers: 2, arrivals.waiting: 1,
    cluster.topology: 1, cluster.flavor: 2, cluster.check: 2, cluster.cohort: 2, cluster.queue: 4, cluster.restart_queue: 3,
    cluster.local_queue: 2, cluster.node: 3, cluster.fail_node: 4, cluster.taint_node: 1, cluster.namespace: 1, cluster.limit_range: 1,
    cluster.runtime_class: 1, cluster.other_pod: 2, cluster.end_pod: 1, cluster.remove: 4, cluster.bring_back: 5, cluster.start_over: 1,
}  # fmt: skip
#: What is drawn otherwise in runs that have more of one thing.
FOCUSED: dict[str, dict[Edit, int]] = {
    "nodes": {cluster.fail_node: 25, cluster.taint_node: 8},
    "delayed": {work.answer: 25, cluster.node: 8},
    "variants": {work.finish: 12, work.reprice: 6, cluster.restart_queue: 0},
    "slices": {arrivals.slice_: 25, work.finish: 2},
    "pods": {work.ready: 20, arrivals.waiting: 4},
}


def begin(run: Run) -> None:
    """Put a cluster of every kind."""
    for namespace in NAMESPACES:
        run.put("Namespace", namespace, {}, labels={"team": "yes"})
    for name in ("top", "other"):
        run.put("Topology", name, nodes.topology(run.draw))
    for edit in (
        *[cluster.flavor] * 4,
        *[cluster.check] * 5,
        cluster.cohort,
        cluster.cohort,
    ):
        edit(run)
    for number in range(8 if run.draw.topology else 0):
        cluster.put_node(run, f"n{number}")
    for name in draws.QUEUES:
        run.put("ClusterQueue", name, queues.queue(run.draw))
    for name in draws.LOCAL_QUEUES:
        for namespace in NAMESPACES:
            spec = queues.local_queue(run.draw)
            run.put("LocalQueue", name, spec, namespace=namespace)
    for _ in range(9):
        arrivals.workload(run)


def edit(run: Run) -> None:
    """Make a few edits, drawn by their weights."""
    weights = EDITS | FOCUSED.get(run.draw.focus, {})
    for _ in range(run.draw.choice((0, 1, 2, 3, 6))):
        (chosen,) = run.draw.choices(list(weights), list(weights.values()))
        chosen(run)
