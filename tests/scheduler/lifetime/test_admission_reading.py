"""Admission of pods beside a second, slow reading, on other states in each run."""

from __future__ import annotations

import random
from typing import Any

from scheduler.engine.world import World
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from tests.builders import node, world_of
from tests.draws import fresh
from tests.scheduler.lifetime import admitted

Manifest = dict[str, Any]
WORLDS, PODS = 12, 12
CPUS = ["500m", "1", "1500m", "2", "4", "4000m"]
SIZES = ["256Mi", "512Mi", "1Gi", "1024Mi", "2Gi"]


def one_of(draw: random.Random, *choices: Any) -> Any:
    return draw.choice(choices)


def amounts(draw: random.Random, share: float = 0.5) -> dict[str, str]:
    found = {"cpu": draw.choice(CPUS), "memory": draw.choice(SIZES)}
    return {name: text for name, text in found.items() if draw.random() < share}


def named(kind: str, group: str, name: str, **more: Any) -> Manifest:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **more}


def priority_class(draw: random.Random, name: str) -> Manifest:
    more: Manifest = {"value": draw.choice({"low": [-5, 0, 3], "high": [10, 99]}[name])}
    if draw.random() < 0.4:
        more["globalDefault"] = True
    if draw.random() < 0.4:
        more["preemptionPolicy"] = one_of(draw, "Never", "PreemptLowerPriority")
    return named("PriorityClass", "scheduling.k8s.io/v1", name, **more)


def runtime_class(draw: random.Random, name: str) -> Manifest:
    more: Manifest = {"handler": name, "scheduling": {}}
    if name == "kata" or draw.random() < 0.5:
        more["overhead"] = {"podFixed": {"cpu": one_of(draw, "500m", "1")}}
    if draw.random() < 0.7:
        more["scheduling"]["nodeSelector"] = {"kind": name, "zone": "a"}
    if draw.random() < 0.5:
        taint = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        more["scheduling"]["tolerations"] = [taint]
    return named("RuntimeClass", "node.k8s.io/v1", name, **more)


def limit_range(draw: random.Random) -> Manifest:
    """Return bounds that the API server takes: each field at most the next."""
    items = []
    for kind in draw.sample(["Container", "Pod"], draw.randrange(1, 3)):
        item: Manifest = {"type": kind}
        fields = ["min", "defaultRequest", "default", "max"]
        for name, texts in (("cpu", CPUS[:5]), ("memory", SIZES[:3])):
            steps = sorted(draw.choices(range(len(texts)), k=4))
            for field, step in zip(fields, steps, strict=True):
                if draw.random() < 0.3 and (kind == "Container" or "def" not in field):
                    item.setdefault(field, {})[name] = texts[step]
            if draw.random() < 0.15:
                ratio = one_of(draw, "1", "2", "2.5")
                item.setdefault("maxLimitRequestRatio", {})[name] = ratio
        items.append(item)
    found = named("LimitRange", "v1", "bounds", spec={"limits": items})
    found["metadata"]["namespace"] = "default"
    return found


def container(draw: random.Random, name: str, **more: Any) -> Manifest:
    resources: Manifest = {"requests": amounts(draw, 0.4), "limits": amounts(draw, 0.4)}
    if draw.random() < 0.9:
        for key, text in resources["limits"].items():
            asked = resources["requests"].get(key)
            if asked and admitted.number(asked) > admitted.number(text):
                resources["requests"][key] = text
    return {"name": name, "image": "i", "resources": resources, **more}


def a_pod(draw: random.Random, name: str) -> Manifest:
    spec: Manifest = {
        "containers": [container(draw, f"c{n}") for n in range(draw.randrange(1, 3))]
    }
    if draw.random() < 0.3:
        more = one_of(draw, {}, {"restartPolicy": "Always"})
        spec["initContainers"] = [container(draw, "i0", **more), container(draw, "i1")]
    if draw.random() < 0.1:
        spec["resources"] = {"requests": {"cpu": "4"}, "limits": {"cpu": "8"}}
    if draw.random() < 0.5:
        classes = ("low", "high", "missing", "system-node-critical")
        spec["priorityClassName"] = one_of(draw, *classes)
    if draw.random() < 0.5:
        spec["runtimeClassName"] = one_of(draw, "kata", "kata", "gvisor", "missing")
        if spec["runtimeClassName"] == "kata" and draw.random() < 0.4:
            spec["overhead"] = {"cpu": one_of(draw, "500m", "0.5", "1")}
    if draw.random() < 0.4:
        spec["nodeSelector"] = {one_of(draw, "zone", "disk"): one_of(draw, "a", "b")}
    if draw.random() < 0.3:
        spec["tolerations"] = [{"key": one_of(draw, "kata", "x"), "operator": "Exists"}]
    found = named("Pod", "v1", name, spec=spec)
    found["metadata"]["namespace"] = "default"
    return found


def taken(world: World, pod: Manifest) -> Manifest | str:
    key = Key("Pod", "default", pod["metadata"]["name"])
    try:
        world.put(Object(key=key, manifest=pod))
    except ManifestError as error:
        return f"refused: {error}"
    return admitted.facts(world.get(key).manifest["spec"])


def wanted(pod: Manifest, others: list[Manifest]) -> Manifest | str:
    try:
        return admitted.admitted(pod, others)
    except admitted.RefusedError as why:
        return f"refused: {why}"


def alike(ours: Manifest | str, text: Manifest | str) -> bool:
    return (isinstance(ours, str) and isinstance(text, str)) or ours == text


def test_pods_are_admitted_and_refused_as_the_second_reading_has_it() -> None:
    seed, draw = fresh(31)
    for number in range(WORLDS):
        others = [priority_class(draw, name) for name in ("low", "high")]
        others += [runtime_class(draw, name) for name in ("kata", "gvisor")]
        others += [limit_range(draw)] if draw.random() < 0.7 else []
        world = world_of(node("n"), *others, stack="kube")
        for each in range(PODS):
            pod = a_pod(draw, f"p{each}")
            text = wanted(pod, others)
            ours = taken(world, pod)
            assert alike(ours, text), (seed, number, each, others, ours, text)
