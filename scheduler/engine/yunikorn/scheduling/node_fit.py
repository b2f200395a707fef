"""Where an ask fits now: applications that may run, quota, nodes in order."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    SchedulingNode,
    State,
)
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.yunikorn.resources import Amounts, fits_undefined


def may_run(partition: Partition, app: Application) -> bool:
    """Return whether an accepted application may start to run now."""
    if app.state is not State.ACCEPTED:
        return app.state not in (State.FAILING, State.FAILED, State.REJECTED)
    return app.queue.can_run(app) and partition.limits.can_run(app)


def fits_quota(partition: Partition, ask: Ask, headroom: Amounts | None) -> bool:
    """Return whether an ask fits its queue's headroom."""
    if fits_undefined(headroom, ask.needs):
        return True
    if ask.required_node is None or not partition.laws.daemons_beyond_cluster:
        return False
    return fits_undefined(ask.app.queue.headroom(cluster=False), ask.needs)


def first_fit(partition: Partition, ask: Ask) -> SchedulingNode | None:
    """Return the first unreserved node in order that takes the ask."""
    if ask.predicate is not None:
        return _first_passing(partition, ask)
    needs = ask.needs
    if needs in partition.no_fit:
        return None
    node = partition.nodes.first_fitting(needs)
    if node is None:
        partition.no_fit[needs] = None
    return node


def _first_passing(partition: Partition, ask: Ask) -> SchedulingNode | None:
    predicate = ask.predicate
    assert predicate is not None
    key = (ask.needs, predicate)
    problems = partition.failed_predicates.get(key)
    if problems is None:
        found: dict[str, None] = {}
        for node in partition.nodes:
            free = node.schedulable and not node.reservations
            if not (free and node.fits(ask.needs)):
                continue
            problem = predicate(node)
            if problem is None:
                return node
            found[problem] = None
        problems = partition.failed_predicates[key] = tuple(found)
    for problem in problems:
        partition.log_failure(ask, problem)
    return None


def best_to_reserve(partition: Partition, ask: Ask) -> SchedulingNode | None:
    """Return the node to reserve: lowest fit score, the first one on ties."""
    key = ("tightest", ask.needs)
    if key not in partition.no_fit:
        best, lowest = None, float("inf")
        for node in partition.nodes:
            if node.reservations or not node.schedulable:
                continue
            if node.could_hold(ask.needs):
                score = node.fit_score(ask.resource)
                if score < lowest:
                    best, lowest = node, score
        partition.no_fit[key] = best
    return partition.no_fit[key]


def accepts(node: SchedulingNode, ask: Ask) -> bool:
    """Return whether a node takes an ask: headroom, no one else's, no predicate."""
    if node.reservations and ask.key not in node.reservations:
        return False
    if not node.schedulable and ask.required_node is None:
        return False
    if not node.fits(ask.needs):
        return False
    return ask.predicate is None or ask.predicate(node) is None
