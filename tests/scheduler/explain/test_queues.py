"""Fair shares of YuniKorn's queues, with the numbers that they come from."""

from __future__ import annotations

import pytest

from scheduler.analysis.explain.queues import QueueFairness, QueueShare, queue_fairness
from scheduler.model.errors import SchedulerError
from tests.builders import node, world_of
from tests.scheduler.explain.worlds import full_yunikorn


def _queue(answer: QueueFairness, name: str) -> QueueShare:
    return next(queue for queue in answer.queues if queue.name == name)


def test_a_share_is_the_largest_of_its_fractions() -> None:
    world = full_yunikorn()
    before = world.hash()
    answer = queue_fairness(world)
    for queue in answer.queues:
        largest = max((f.ratio for f in queue.fractions), default=0.0)
        assert queue.share == pytest.approx(largest), queue.name
    assert world.hash() == before


def test_a_queue_that_waits_for_nothing_stands_in_no_line() -> None:
    answer = queue_fairness(full_yunikorn())
    assert _queue(answer, "root.test").order is None
    prod = _queue(answer, "root.prod")
    assert prod.order == 1
    assert prod.next
    assert prod.pending


def test_only_yunikorn_has_queues_of_this_kind() -> None:
    with pytest.raises(SchedulerError, match="no YuniKorn"):
        queue_fairness(world_of(node("n"), stack="kube"))
