"""Whatever two releases decide differently has a rule that says so."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from scheduler.analysis.upgrade import Run
from scheduler.engine.world import World
from scheduler.model.releases.rules import between
from scheduler.model.releases.versions import followed
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
    world_of,
)

RELEASES = followed("kueue")


def a_cluster(draw: random.Random) -> list[dict[str, Any]]:
    """Return queues of a cohort that borrow and preempt, and jobs that come in a minute."""
    found = [flavor(), workload_priority("high", 100)]
    names = ["a", "b", "c"][: draw.randrange(1, 4)]
    for name in names:
        queue = cluster_queue(
            name,
            cpu=draw.randrange(1, 6),
            cohort="all",
            within=draw.choice(["Never", "LowerPriority"]),
            reclaim=draw.choice(["Never", "Any"]),
        )
        found += [queue, local_queue(name, cluster_queue=name)]
    for n in range(draw.randrange(2, 10)):
        found.append(
            job(
                f"j{n}",
                queue=draw.choice(names),
                cpu=draw.randrange(1, 5),
                priority_class=draw.choice(["", "", "high"]),
                arrival=f"{draw.randrange(60)}s",
                runtime=f"{draw.randrange(10, 60)}s",
            )
        )
    return found


def ran(seed: int, patch: dict[str, Any]) -> Run:
    def make(given: Any) -> World:
        return world_of(*a_cluster(random.Random(seed)), seed=seed, **given)

    return Run(make, 120_000, patch)


@settings(max_examples=40, deadline=None, derandomize=False)
@given(st.integers(0, 2**32), st.sampled_from(RELEASES), st.sampled_from(RELEASES))
def test_a_release_with_every_rule_turned_back_decides_as_the_other(
    seed: int, before: str, after: str
) -> None:
    one, other = (ran(seed, {"release": {"kueue": name}}) for name in (before, after))
    first, last = one.spec.decides_as(), other.spec.decides_as()
    rules = [
        rule
        for rule in between(first, last)
        if rule.scheduler == "kueue" and rule.matters(other.objects, other.spec.kueue)
    ]
    switches = [rule.switch(last) for rule in rules]
    turned = other
    if switches:
        gates = dict(switch for switch in switches if switch is not None)
        patch = {"release": {"kueue": after}, "kueue": {"featureGates": gates}}
        turned = ran(seed, patch)
    if None in switches:  # what no gate turns back may make the rest
        event("a rule without a gate")
        return
    event("every rule has a gate")
    assert turned.courses == one.courses
    assert turned.reasons == one.reasons
