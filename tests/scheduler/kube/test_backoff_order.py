"""Who is tried early: the heap of backoffs names the pod that a look at all would."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod


def played(seed: int, *, kept: bool) -> Rig:
    """Run pods that do not all fit; take some away and change others on the way."""
    draw = random.Random(seed)
    nodes = [node(f"n{n}", cpu=draw.choice([1, 2, 4])) for n in range(2)]
    pods = [
        pod(f"p{n}", cpu=draw.choice([1, 2, 3]), priority=draw.choice([0, 0, 5]))
        for n in range(draw.randrange(4, 14))
    ]
    rig = Rig(*nodes, *pods)
    [scheduler] = rig.stage.schedulers
    if not kept:
        scheduler.queue._early = None
    for at_ms in range(500, 40_000, 2_500):
        rig.run(at_ms)
        one = draw.choice(pods)
        key = Key("Pod", one["metadata"].get("namespace", ""), one["metadata"]["name"])
        if key not in rig.objects:
            continue
        if draw.random() < 0.5:
            rig.remove(key)
        else:
            spec = {**one["spec"], "priority": draw.choice([0, 5])}
            rig.put({**one, "spec": spec})
    rig.run(60_000)
    return rig


@settings(max_examples=60, deadline=None, derandomize=False)
@given(st.integers(0, 2**32))
def test_decisions_are_those_of_a_look_at_every_backoff(seed: int) -> None:
    kept, looked = (played(seed, kept=every) for every in (True, False))
    assert kept.decisions == looked.decisions
