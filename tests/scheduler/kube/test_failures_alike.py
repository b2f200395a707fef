"""An attempt whose end is known from an equal pod ends as if everything had been asked."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod
from tests.scheduler.kube.test_elastic_quotas import ON, quota

ZONE = "topology.kubernetes.io/zone"
ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}}
        ]
    }
}


def a_world(draw: random.Random) -> list[dict]:
    """Return nodes, and more pods than they hold: of few shapes and priorities."""
    nodes = [
        node(f"n{n}", cpu=draw.choice([1, 2, 4]), labels={ZONE: f"z{n % 2}"})
        for n in range(draw.randrange(1, 5))
    ]
    shapes = [
        {"cpu": draw.choice([1, 2, 3, 5])},
        {"cpu": 1, "priority": draw.choice([0, 5])},
        {"cpu": 1, "nodeSelector": {ZONE: "z1"}},
        {"cpu": 1, "labels": {"app": "a"}, "affinity": ANTI},
        {"cpu": 2, "priority": 5, "preemptionPolicy": "Never"},
    ]
    pods = [pod(f"p{n}", **draw.choice(shapes)) for n in range(draw.randrange(4, 16))]
    return [*nodes, *pods]


def with_quotas(draw: random.Random) -> list[dict]:
    """Return such a world with its pods in three namespaces, of which two have quotas."""
    manifests = a_world(draw)
    for one in manifests:
        if one["kind"] == "Pod":
            one["metadata"]["namespace"] = draw.choice(["a", "b", "free"])
    quotas = [quota(name, draw.randrange(1, 5)) for name in ("a", "b")]
    return [*quotas, quota("spare", 9), *manifests]


def played(
    manifests: list[dict],
    draw: random.Random,
    *,
    asked: bool,
    configuration: dict | None = None,
) -> Rig:
    """Run it, and take pods and nodes away on the way; `asked`: nothing is kept."""
    rig = Rig(*manifests, configuration=configuration)
    if asked:
        for scheduler in rig.stage.schedulers:
            for framework in scheduler.frameworks.values():
                framework.trace = lambda _: None
    for at_ms in range(1_000, 40_000, 4_000):
        rig.run(at_ms)
        gone = draw.choice(manifests)
        if draw.random() < 0.7 and gone["metadata"]["name"] != "n0":
            name, kind = gone["metadata"]["name"], gone["kind"]
            key = Key(kind, gone["metadata"].get("namespace", ""), name)
            if key in rig.objects:
                rig.remove(key)
    rig.run(60_000)
    return rig


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_decisions_are_those_of_a_run_in_which_every_plugin_is_asked(seed: int) -> None:
    kept, asked = (
        played(a_world(random.Random(seed)), random.Random(seed), asked=every)
        for every in (False, True)
    )
    assert kept.decisions == asked.decisions


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_decisions_by_quotas_are_those_of_a_run_in_which_every_plugin_is_asked(
    seed: int,
) -> None:
    kept, asked = (
        played(
            with_quotas(random.Random(seed)),
            random.Random(seed),
            asked=every,
            configuration=ON,
        )
        for every in (False, True)
    )
    assert kept.decisions == asked.decisions


def test_equal_pods_that_wait_share_what_was_found() -> None:
    rig = Rig(node("n", cpu=1), *(pod(f"p{n}", cpu=2) for n in range(20)))
    rig.run(0)
    [scheduler] = rig.stage.schedulers
    shape = next(iter(scheduler.queue.entries.values())).pod
    kept = scheduler.searches["default-scheduler"].evaluator.memo(shape).failure
    assert kept is not None
    assert set(rig.pending().values()) == {kept.message}
