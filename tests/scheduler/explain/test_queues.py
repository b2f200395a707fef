"""Fair shares of YuniKorn's queues, with the numbers that they come from."""

from __future__ import annotations

from io import StringIO

import pytest

from scheduler.analysis.explain.queues import QueueFairness, QueueShare, queue_fairness
from scheduler.cli.explain import main as command
from scheduler.model.errors import SchedulerError
from tests.builders import node, queue_tree, world_of
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


def _sorted_tree() -> QueueFairness:
    sort = {"application.sort.policy": "fair"}
    own = {"application.sort.policy": "fifo"}
    team = {
        "name": "team",
        "properties": sort,
        "queues": [{"name": "a"}, {"name": "b", "properties": own}],
    }
    tree = queue_tree(team, {"name": "free"})
    tree["partitions"].append(
        {"name": "gpu", "queues": [{"name": "root", "queues": [team]}]}
    )
    return queue_fairness(
        world_of(node("n"), stack="yunikorn", yunikorn={"queues": tree})
    )


@pytest.mark.parametrize(
    ("leaf", "policy", "said_by"),
    [
        ("root.team.a", "fair", "root.team"),
        ("root.team.b", "fifo", "root.team.b"),
        ("root.free", "fifo", ""),
    ],
)
def test_a_sort_policy_reaches_the_leaves_below_until_a_nearer_one(
    leaf, policy, said_by
):
    found = _queue(_sorted_tree(), leaf)
    assert (found.sort_policy, found.sort_from) == (policy, said_by)


def test_a_parent_orders_no_applications() -> None:
    assert _queue(_sorted_tree(), "root.team").sort_policy == ""


def test_other_partitions_are_told_with_their_queues() -> None:
    answer = _sorted_tree()
    assert answer.partition == "default"
    [gpu] = answer.others
    assert gpu.name == "gpu"
    assert [queue.name for queue in gpu.queues][:2] == ["root", "root.team"]


@pytest.mark.parametrize(
    ("scenario", "queue", "part"),
    [
        ("yunikorn-order-of-queues", "inherits", "Fair share 0.0909091: "),
        ("yunikorn-order-of-queues", "inherits", "are sorted by fair (root.team)."),
        ("yunikorn-order-of-queues", "root.pair", "Fair share 0.363636: "),
        ("fair-final-share", "team-a", "weighted share 666.667 with weight 1."),
    ],
)
def test_the_answer_about_a_queue_says_its_share(
    scenario: str, queue: str, part: str
) -> None:
    out = StringIO()
    words = [f"sandbox/scenarios/{scenario}", "--at", "11s", "--about", queue]
    assert command(words, out) == 0
    assert part in out.getvalue()
