"""The array way and the plain way decide alike, however the cluster came about."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import numpy as np
import pytest

from scheduler.engine.kube.cache.cluster import sum_violations
from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.status import CycleState
from scheduler.engine.kube.scheduling.scheduler import Scheduler, table
from scheduler.model.objects import Key
from scheduler.model.pod import Pod, read_pod
from tests.scheduler.kube.rig import Rig, node, pod, profile

ZONE = "topology.kubernetes.io/zone"


def by_arrays(
    scheduler: Scheduler, wanted: Pod
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the codes and totals by node name, as the scheduler works them out."""
    evaluator = scheduler.searches[wanted.scheduler_name].evaluator
    state = CycleState()
    before = evaluator.framework.pre_filter(state, wanted)
    names = scheduler.cluster.node_table.names
    verdicts = evaluator.verdicts(state, wanted, before)
    codes = {name: int(verdicts.codes[row]) for row, name in enumerate(names)}
    mask = evaluator.mask(state, wanted, before.names)
    if not mask.any():
        return codes, {}
    totals = evaluator.totals(state, wanted, mask)
    assert sorted(totals) == list(np.flatnonzero(mask))
    return codes, {names[row]: total for row, total in totals.items()}


def plainly(scheduler: Scheduler, wanted: Pod) -> tuple[dict[str, int], dict[str, int]]:
    """Return the same from the table, worked out node by node."""
    found = table(scheduler, wanted)
    return {n: int(s.code) for n, s in found.filter.items()}, found.total


def a_node(draw: random.Random, name: str) -> dict[str, Any]:
    effect = draw.choice(["NoSchedule", "PreferNoSchedule"])
    taints = [{"key": "k", "value": draw.choice("ab"), "effect": effect}]
    return node(
        name,
        cpu=draw.choice([1, 2, 4, 8]),
        memory=draw.choice(["1Gi", "4Gi", "7.5Gi"]),
        pods=draw.choice([2, 5, 110]),
        gpu=draw.choice([0, 0, 1, 4]),
        labels={ZONE: draw.choice(["z0", "z1"]), "disk": draw.choice(["ssd", "hdd"])},
        taints=draw.choice([None, None, taints]),
        unschedulable=draw.random() < 0.1,
    )


def a_pod(draw: random.Random, name: str) -> dict[str, Any]:
    more: dict[str, Any] = {}
    label = draw.choice("abc")
    selector = {"labelSelector": {"matchLabels": {"app": draw.choice("abc")}}}
    term = {**selector, "topologyKey": draw.choice([ZONE, "kubernetes.io/hostname"])}
    if draw.random() < 0.3:
        more["tolerations"] = [{"key": "k", "value": "a"}]
    if draw.random() < 0.3:
        more["nodeSelector"] = {"disk": "ssd"}
    if draw.random() < 0.3:
        kind = draw.choice(["podAffinity", "podAntiAffinity"])
        hard = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        weighted = {"weight": 3, "podAffinityTerm": term}
        soft = {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}
        more["affinity"] = {kind: draw.choice([hard, soft])}
    if draw.random() < 0.3:
        when = draw.choice(["DoNotSchedule", "ScheduleAnyway"])
        more["topologySpreadConstraints"] = [
            {**term, "maxSkew": draw.choice([1, 2]), "whenUnsatisfiable": when}
        ]
    if draw.random() < 0.2:
        port = {"containerPort": 80, "hostPort": draw.choice([80, 81])}
        more["containers"] = [{"name": "c", "ports": [port]}]
    return pod(
        name,
        cpu=draw.choice([None, "100m", "500m", 1, 2]),
        memory=draw.choice([None, "256Mi", "1Gi"]),
        gpu=draw.choice([0, 0, 0, 1]),
        priority=draw.choice([0, 0, 5]),
        labels={"app": label},
        **more,
    )


STRATEGIES = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


def configuration(strategy: str) -> dict[str, Any]:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 70, "score": 9}]
    resources = [{"name": "cpu", "weight": 3}, {"name": "nvidia.com/gpu", "weight": 2}]
    scoring = {
        "type": strategy,
        "resources": resources,
        "requestedToCapacityRatio": {"shape": shape},
    }
    balance = {"resources": [*resources, {"name": "memory"}]}
    config = [
        {"name": "NodeResourcesFit", "args": {"scoringStrategy": scoring}},
        {"name": "NodeResourcesBalancedAllocation", "args": balance},
    ]
    return {"profiles": [profile(pluginConfig=config)]}


@pytest.mark.parametrize("seed", range(24))
def test_kept_verdicts_are_those_of_a_fresh_look(seed: int) -> None:
    draw = random.Random(seed)
    rig = Rig(
        *[a_node(draw, f"n{i:02}") for i in range(10)],
        configuration=configuration(STRATEGIES[seed % 3]),
    )
    scheduler = rig.stage.schedulers[0]
    probes = [read_pod(a_pod(draw, f"probe{i}"), {}) for i in range(5)]
    for number in range(25):
        change(rig, draw, number)
        for probe in probes:
            assert by_arrays(scheduler, probe) == plainly(scheduler, probe)
    assert list(rig.broken()) == []


def test_a_pod_placed_anew_as_it_was_leaves_every_sum_right() -> None:
    rig = Rig(node("n0"))
    key = rig.put(pod("p", cpu=1, labels={"app": "a"}))
    rig.settle()
    cluster = rig.stage.schedulers[0].cluster
    bound, name = cluster.placed[key]
    for again in (msgspec.structs.replace(bound, started_us=5), bound):
        cluster.place(again, name)
        assert cluster.node_infos[name].pods[key] is again
        assert list(sum_violations(cluster)) == []


def change(rig: Rig, draw: random.Random, number: int) -> None:
    """Let a pod come or go, a node change, or a pod be nominated."""
    what = draw.random()
    scheduler = rig.stage.schedulers[0]
    placed = sorted(scheduler.cluster.placed)
    if what < 0.65:
        rig.put(a_pod(draw, f"p{number}"))
        rig.settle()
    elif what < 0.85 and placed:
        rig.remove(draw.choice(placed))
    elif what < 0.95:
        rig.put(a_node(draw, f"n{draw.randrange(12):02}"))
    else:
        nominated = read_pod(a_pod(draw, f"promised{number}"), {})
        scheduler.nominations.put(nominated, f"n{draw.randrange(10):02}")


def test_the_table_of_a_placed_pod_changes_nothing() -> None:
    rig = Rig(node("n0"), node("n1", cpu=1))
    key = rig.put(pod("p", cpu=2))
    rig.settle()
    before = rig.stage.used_on("n0")
    found = rig.stage.table(key)
    assert found is not None
    assert {name: s.message for name, s in found.filter.items()} == {
        "n0": "",
        "n1": "Insufficient cpu",
    }
    assert found.scores["NodeResourcesFit"].raw.keys() == {"n0"}
    assert rig.stage.used_on("n0") == before
    assert rig.stage.table(Key("Pod", "default", "nobody")) is None


def test_a_plug_in_needs_no_more_than_the_plain_points() -> None:
    class Odd(Plugin):
        name = "Odd"

        def score(self, state: CycleState, pod: Pod, node_info: Any) -> int:
            return int(node_info.node.name[-1])

    assert Odd.points == {"score"}
    rig = Rig(*[node(f"n{i}") for i in range(4)])
    scheduler = rig.stage.schedulers[0]
    search = scheduler.searches["default-scheduler"]
    odd = Odd(None, scheduler.frameworks["default-scheduler"].filters[0].handle)
    search.framework.scorers[:] = [odd]
    search.framework.weights["Odd"] = 1
    search.evaluator.__init__(
        search.framework, scheduler.cluster, scheduler.nominations
    )
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {"p": "n3"}
