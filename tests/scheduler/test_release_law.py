"""Whatever two releases decide differently has a rule that says so.

A rule that a gate turns is turned by it; of another one the row of the table is
written anew for a while, so that the later release has it as the earlier one has.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from scheduler.analysis.release_rules import rules_between
from scheduler.analysis.upgrade import Run, Trial
from scheduler.engine.world import World
from scheduler.model.patches import merge
from scheduler.model.releases.release import Scheduler, followed, parsed
from scheduler.model.releases.rules import turned
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    workload_priority,
    world_of,
)

STOP = ("MayStopSearch", "TryNextFlavor")


def a_cluster(draw: random.Random) -> list[dict[str, Any]]:
    """Return queues of a cohort that borrow and preempt, and jobs that come in a minute."""
    labelled = [flavor("gpu", gpu="a")] if draw.random() < 0.5 else []
    found = [flavor(), *labelled, workload_priority("high", 100)]
    names = ["a", "b", "c"][: draw.randrange(1, 4)]
    for name in names:
        queue = cluster_queue(
            name,
            cpu=draw.randrange(1, 6),
            cohort="all",
            within=draw.choice(["Never", "LowerPriority"]),
            reclaim=draw.choice(["Never", "Any"]),
        )
        spec = queue["spec"]
        if labelled:
            [group] = spec["resourceGroups"]
            quota = {"name": "cpu", "nominalQuota": draw.randrange(4)}
            group["flavors"].append({"name": "gpu", "resources": [quota]})
            spec["flavorFungibility"] = {
                "whenCanBorrow": draw.choice(STOP),
                "whenCanPreempt": draw.choice(STOP),
            }
        found += [queue, local_queue(name, cluster_queue=name)]
    for n in range(draw.randrange(2, 10)):
        made = job(
            f"j{n}",
            queue=draw.choice(names),
            cpu=draw.randrange(1, 5),
            priority_class=draw.choice(["", "", "high"]),
            arrival=f"{draw.randrange(60)}s",
            runtime=f"{draw.randrange(10, 60)}s",
        )
        if labelled and draw.random() < 0.4:
            made["spec"]["template"]["spec"]["nodeSelector"] = {"gpu": "a"}
        found.append(made)
    return found


def of_kueue(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    draw = random.Random(seed)
    kueue: dict[str, Any] = {"fairSharing": {}} if draw.random() < 0.3 else {}
    simulation = {"latencies": {"reactivation": "1s"}} if draw.random() < 0.5 else {}
    return a_cluster(draw), {"kueue": kueue, "simulation": simulation}


def of_kubernetes(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    draw = random.Random(seed)
    found = [node(f"n{n}", cpu=draw.randrange(2, 9)) for n in range(3)]
    for n in range(draw.randrange(2, 12)):
        made = pod(
            f"p{n}",
            arrival=f"{draw.randrange(40)}s",
            runtime=f"{draw.randrange(5, 40)}s",
        )
        asked = {"cpu": str(draw.randrange(1, 5)), "memory": f"{draw.randrange(9)}Gi"}
        if draw.random() < 0.8:
            made["spec"]["containers"][0]["resources"] = {"requests": asked}
        found.append(made)
    return found, {"stack": "kube"}


def of_yunikorn(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    draw = random.Random(seed)
    names = ["a", "b", "c"]
    queues = []
    for name in names:
        guaranteed = {"vcore": str(draw.randrange(1, 5))}
        if draw.random() < 0.5:
            guaranteed["memory"] = f"{draw.randrange(1, 9)}G"
        sizes: dict[str, Any] = {"guaranteed": guaranteed}
        if draw.random() < 0.4:
            sizes["max"] = {"vcore": str(draw.randrange(5, 9))}
        properties = {"preemption.delay": "1s"}
        queues.append({"name": name, "resources": sizes, "properties": properties})
    found = [node(f"n{n}", cpu=draw.randrange(3, 7)) for n in range(2)]
    for n in range(draw.randrange(3, 14)):
        made = pod(
            f"p{n}",
            cpu=draw.randrange(1, 4),
            arrival=f"{draw.randrange(40)}s",
            runtime=f"{draw.randrange(10, 60)}s",
        )
        queue = draw.choice(names)
        labels = {"queue": f"root.{queue}", "applicationId": f"app-{queue}"}
        made["metadata"].setdefault("labels", {}).update(labels)
        found.append(made)
    tree = queue_tree(*queues)
    return found, {"stack": "yunikorn", "yunikorn": {"queues": tree}}


WORLDS = {"kueue": of_kueue, "kubernetes": of_kubernetes, "yunikorn": of_yunikorn}


def ran(scheduler: Scheduler, seed: int, patch: dict[str, Any]) -> Run:
    manifests, policy = WORLDS[scheduler](seed)

    def make(given: Any) -> World:
        return world_of(*manifests, seed=seed, **merge(policy, given))

    return Run(make, 120_000, Trial(patch, looks=True))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(("kueue", "kueue", "kubernetes", "yunikorn")),
    st.integers(0, 2**32),
    st.data(),
)
def test_a_release_with_every_rule_turned_back_decides_as_the_other(
    scheduler: Scheduler, seed: int, data: st.DataObject
) -> None:
    releases = followed(scheduler)
    pair = data.draw(st.permutations(releases))[:2]
    before, after = sorted(pair, key=parsed)
    one, other = (
        ran(scheduler, seed, {"release": {scheduler: name}}) for name in (before, after)
    )
    last = other.spec.decides_as()
    between = rules_between(one.spec, other.spec, other.traits)
    rules = [rule for rule in between if rule.followed]
    switches = {rule.id: rule.switch(last) for rule in rules}
    plain = [rule for rule in rules if switches[rule.id] is None]
    gates = dict(switch for switch in switches.values() if switch is not None)
    patch: dict[str, Any] = {"release": {scheduler: after}}
    if gates:
        patch["kueue"] = {"featureGates": gates}
    with contextlib.ExitStack() as stack:
        for rule in plain:
            stack.enter_context(turned(rule.id))
        back = ran(scheduler, seed, patch)
    differs = one.courses != other.courses
    event(f"{scheduler}: {'differs' if differs else 'the same'}")
    assert back.courses == one.courses
    assert back.reasons == one.reasons


@pytest.mark.parametrize("scheduler", WORLDS)
def test_some_world_of_each_scheduler_tells_its_releases_apart(
    scheduler: Scheduler,
) -> None:
    newest, *_, oldest = followed(scheduler)
    for seed in range(60):
        one, other = (
            ran(scheduler, seed, {"release": {scheduler: name}})
            for name in (oldest, newest)
        )
        if (one.courses, one.reasons) != (other.courses, other.reasons):
            return
    pytest.fail("no world of 60 differs: the property above holds of nothing")
