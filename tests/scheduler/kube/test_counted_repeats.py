"""A repeat that is counted leaves the world that the attempt itself would leave."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.scheduling.evaluation import Evaluator
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.objects import Object
from tests.builders import world_of
from tests.scheduler.kube import test_devices as devices
from tests.scheduler.kube import test_volumes as volumes
from tests.scheduler.kube.rig import (
    GANG_PLUGINS,
    Manifest,
    Rig,
    node,
    pod,
    pod_group,
    profile,
)
from tests.scheduler.kube.test_elastic_quotas import quota
from tests.scheduler.kube.test_failures_alike import ANTI, ZONE

MORE = ("CapacityScheduling", "GangScheduling", "NodeResourceTopologyMatch")
BUDGET = {"minAvailable": 2, "selector": {"matchLabels": {"app": "a"}}}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "a"}},
}
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
API = {
    "PersistentVolumeClaim": "v1",
    "PersistentVolume": "v1",
    "StorageClass": "storage.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
    "ResourceClaim": "resource.k8s.io/v1",
    "PodGroup": "scheduling.x-k8s.io/v1alpha1",
    "ElasticQuota": "scheduling.x-k8s.io/v1alpha1",
    "PodDisruptionBudget": "policy/v1",
}


def configuration(draw: random.Random) -> Manifest:
    """Return two profiles, each with some plug-ins beside those of every profile."""
    groups, profiles = draw.random() < 0.3, []
    for name in ("default-scheduler", "second"):
        chosen = [more for more in MORE if draw.random() < 0.25]
        chosen += ["Coscheduling"] if groups else []
        every = {"enabled": [{"name": more} for more in chosen]}
        plugins: Manifest = {"multiPoint": every}
        if groups:
            plugins["queueSort"] = GANG_PLUGINS["queueSort"]
        if draw.random() < 0.5:  # one that preempts by no quota, for no group
            alone = [{"name": "DefaultPreemption"}]
            plugins["postFilter"] = {"enabled": alone, "disabled": [{"name": "*"}]}
        profiles.append(profile(name, plugins=plugins))
    return {"profiles": profiles}


def shapes(draw: random.Random) -> list[dict[str, Any]]:
    """Return the few sorts of pods of a world; most of them ask for too much."""
    terms = {"key": "k", "operator": "Exists"}
    return [
        {"cpu": draw.choice([1, 2, 3, 5])},
        {"cpu": 2, "labels": {"app": "a"}},
        {"cpu": 2, "priority": draw.choice([0, 5])},
        {"cpu": 2, "scheduler": "second"},
        {"cpu": 1, "nodeSelector": {ZONE: "z1"}},
        {"cpu": 1, "nodeSelector": {ZONE: "z9"}, "labels": {"app": "a"}},
        {"cpu": 3, "tolerations": [terms]},
        {"cpu": 2, "priority": 5, "preemptionPolicy": "Never"},
        {"cpu": 2, "group": "g"},
        draw.choice(
            [
                {"cpu": 1, "labels": {"app": "a"}, "affinity": ANTI},
                {
                    "cpu": 1,
                    "labels": {"app": "a"},
                    "topologySpreadConstraints": [SPREAD],
                },
            ]
        ),
    ]


def pods(draw: random.Random) -> list[Manifest]:
    """Return pods of a few sorts that come one after another and end."""
    kinds = draw.sample(shapes(draw), draw.randrange(1, 4))
    found = []
    for n in range(draw.randrange(8, 24)):
        if draw.random() < 0.03:
            made = volumes.using(f"p{n}", "data")
        elif draw.random() < 0.03:
            made = devices.using(f"p{n}", "shared")
        else:
            made = pod(f"p{n}", **draw.choice(kinds))
        made["metadata"]["namespace"] = draw.choice(["default", "default", "other"])
        if draw.random() < 0.1:
            made["metadata"]["labels"]["app"] = "a"
        made["metadata"]["annotations"] = {
            "quotalab.dev/arrival": f"{draw.choice([0, 0, 0, 4, 9])}s",
            "quotalab.dev/runtime": f"{draw.randrange(2, 30)}s",
        }
        found.append(made)
    return found


def a_cluster(draw: random.Random) -> list[Manifest]:
    """Return nodes, what they have, and more pods than they hold."""
    manifests: list[Manifest] = [
        node(
            f"n{n}",
            cpu=draw.choice([1, 2, 4]),
            labels={ZONE: f"z{n % 2}"},
            taints=[TAINT] if draw.random() < 0.2 else None,
        )
        for n in range(draw.randrange(1, 5))
    ]
    beside = [
        volumes.storage_class(),
        volumes.claim(),
        volumes.volume("v", zone="z0"),
        devices.device_class(),
        devices.devices("n0", 1),
        devices.claim("shared", devices.request()),
        pod_group("g", 2),
        quota("default", draw.randrange(2, 6)),
        quota("other", draw.randrange(2, 6)),
        {"kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": BUDGET},
    ]
    manifests += [one for one in beside if draw.random() < 0.4]
    manifests += pods(draw)
    for one in manifests:
        one["apiVersion"] = API.get(one["kind"], "v1")
        one["metadata"].pop("uid", None)
    return manifests


def edited(world: World, draw: random.Random) -> None:
    """Change one object of a world: of every sort that a plug-in may read."""
    keys = sorted(world.objects)
    nodes = [key for key in keys if key.kind == "Node"]
    key = draw.choice(draw.choice([keys, nodes]))
    if key.kind == "Pod" and draw.random() < 0.5:
        world.delete(key)
        return
    known = world.get(key)
    manifest = copy.deepcopy(known.manifest)
    status = copy.deepcopy(known.status)
    if key.kind == "Node":
        change = draw.randrange(4)
        if change == 0:
            manifest["spec"]["unschedulable"] = draw.random() < 0.5
        elif change == 1:
            manifest["spec"]["taints"] = [TAINT] if draw.random() < 0.5 else []
        elif change == 2:
            manifest["metadata"]["labels"][ZONE] = draw.choice(["z0", "z1", "z9"])
        else:
            status["allocatable"]["cpu"] = str(draw.choice([1, 2, 3, 4]))
    elif key.kind == "ElasticQuota":
        manifest["spec"]["min"]["cpu"] = str(draw.randrange(1, 8))
    elif key.kind == "PodGroup":
        manifest["spec"]["minMember"] = draw.randrange(1, 4)
    elif key.kind == "Pod":
        manifest["metadata"].setdefault("labels", {})["app"] = draw.choice("ab")
    world.put(Object(key=key, manifest=manifest, status=status))


def run_in_full(world: World) -> None:
    """Have every attempt of a world made: a call that is listened to is not left out."""
    assert world.kube is not None
    for scheduler in world.kube.schedulers:
        for framework in scheduler.frameworks.values():
            framework.trace = lambda _: None


def history(seed: int, *, full: bool) -> tuple[list[Decision], list[str]]:
    """Return what a drawn world decides in twenty seconds, and its hash at each edit."""
    draw = random.Random(seed)
    settings_ = configuration(draw)
    world = world_of(*a_cluster(draw), stack="kube", kubeScheduler=settings_)
    decisions: list[Decision] = []
    hashes: list[str] = []
    for tick in range(20):
        if full:
            run_in_full(world)
        decisions += run_tick(world)
        world.take()
        if tick % 2 == 0:
            hashes.append(world.hash())
            edited(world, draw)
    return decisions, [*hashes, world.hash()]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_world_is_the_one_that_it_is_when_every_attempt_is_made(seed: int) -> None:
    assert history(seed, full=False) == history(seed, full=True)


def test_most_attempts_of_equal_pods_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    find = Evaluator.verdicts

    def verdicts(self: Evaluator, state: Any, pod: Any, before: Any) -> Any:
        asked.append(pod.name)
        return find(self, state, pod, before)

    monkeypatch.setattr(Evaluator, "verdicts", verdicts)
    rig = Rig(node("n", cpu=1), *(pod(f"p{n}", cpu=2) for n in range(20)))
    rig.run(0)
    assert len(asked) == 1


def test_a_plug_in_that_prepares_by_more_than_the_shape_is_asked_each_time() -> None:
    class Outside(Plugin):
        name = "Outside"

        def pre_filter(self, state: Any, pod: Any) -> Any:
            return super().pre_filter(state, pod)

    assert not Outside(None, None).prepares_alike(None)  # type: ignore[arg-type]


def test_a_pod_that_may_preempt_is_tried_though_a_lesser_one_just_failed() -> None:
    rig = Rig(node("n", cpu=2), pod("runs", cpu=2))
    rig.run(0)
    rig.put(pod("lesser", cpu=2))
    rig.run(0)
    rig.put(pod("greater", cpu=2, priority=5))
    rig.run(5_000)
    assert rig.places() == {"greater": "n"}


def test_a_member_of_a_group_is_told_what_its_group_lacks() -> None:
    alone = [{"name": "DefaultPreemption"}]
    plugins = {
        **GANG_PLUGINS,
        "postFilter": {"enabled": alone, "disabled": [{"name": "*"}]},
    }
    rig = Rig(
        node("n", cpu=1),
        pod_group("g", 2),
        pod("a", cpu=2),
        pod("b", cpu=2, group="g"),
        configuration={"profiles": [profile(plugins=plugins)]},
    )
    rig.run(0)
    assert "Insufficient cpu" in rig.pending()["a"]
    assert "cannot find enough sibling pods" in rig.pending()["b"]
