"""Workloads drawn at random."""

from __future__ import annotations

from tests.scheduler.kueue.random_runs.draws import (
    BLOCK,
    BOOST,
    FAST,
    HOST,
    LOCAL_QUEUES,
    RACK,
    TOLERATIONS,
    Draw,
    Manifest,
    amount,
)


def _topology_request(draw: Draw) -> Manifest:
    how = draw.choice(("required", "preferred", "preferred", "unconstrained", ""))
    request: Manifest = {}
    if how == "unconstrained":
        request[how] = True
    elif how:
        request[how] = draw.choice((BLOCK, RACK, HOST))
    if not how or draw.chance(0.3):
        request |= _slices(draw)
    return request


def _slices(draw: Draw) -> Manifest:
    if draw.chance(0.4):
        layers = [{"topology": RACK, "size": 4}, {"topology": HOST, "size": 2}]
        return {"podsetSliceRequiredTopologyConstraints": layers}
    return {
        "podSetSliceRequiredTopology": draw.choice((RACK, HOST)),
        "podSetSliceSize": draw.choice((1, 2, 3)),
    }


def _pod_spec(draw: Draw) -> Manifest:
    requests: Manifest = {"cpu": draw.choice((1, 1, 1, 1, 1, 2, 2, 3, "500m", 0))}
    for name, chance in (("memory", 0.15), ("gpu.com/a", 0.08), ("odd", 0.04)):
        if draw.random() < chance:
            requests[name] = amount(draw, name, 3)
    spec: Manifest = {"containers": [{"resources": {"requests": requests}}]}
    if draw.plain and draw.chance(0.8):
        return spec
    if draw.chance(0.1):
        spec["containers"][0]["resources"]["limits"] = {"cpu": 2}
    if draw.chance(0.3 if draw.topology else 0.1):
        spec["nodeSelector"] = draw.choice(
            ({"pool": "x"}, {"pool": "x"}, {"pool": "y"}, {"no": "p"})
        )
    if draw.chance(0.3):
        spec["tolerations"] = TOLERATIONS
    if draw.chance(0.15):
        spec["affinity"] = _affinity(draw)
    if draw.chance(0.1):
        spec["runtimeClassName"] = "heavy"
    return spec


def _affinity(draw: Draw) -> Manifest:
    terms = {"nodeSelectorTerms": [FAST, {"matchExpressions": []}]}
    preferred = [{"weight": draw.choice((1, 50)), "preference": FAST}]
    return {
        "nodeAffinity": draw.choice(
            (
                {"requiredDuringSchedulingIgnoredDuringExecution": terms},
                {"preferredDuringSchedulingIgnoredDuringExecution": preferred},
            )
        )
    }


def _pod_set(draw: Draw, name: str, count: int) -> Manifest:
    part: Manifest = {
        "name": name,
        "count": count,
        "template": {"spec": _pod_spec(draw)},
    }
    if count > 1 and draw.chance(0.2):
        part["minCount"] = draw.randint(1, count)
    if draw.chance(0.8 * draw.topology):
        part["topologyRequest"] = _topology_request(draw)
    return part


def pod_sets(draw: Draw) -> list[Manifest]:
    count = draw.choice((2, 4, 4, 6) if draw.topology else (1, 1, 1, 2, 2, 4))
    parts = [_pod_set(draw, "main", count)]
    if draw.chance(0.25):
        parts.append(_pod_set(draw, "driver", draw.choice((1, 2))))
        if "topologyRequest" in parts[0] and draw.chance(0.6):
            asked = {**parts[0]["topologyRequest"], "podSetGroupName": "g"}
            parts[1]["count"] = 1
            for part in parts:
                part.pop("minCount", None)
                part["topologyRequest"] = asked
    return parts


def workload(draw: Draw) -> tuple[Manifest, Manifest, Manifest]:
    """Return the spec, the labels and the annotations of a Workload."""
    spec: Manifest = {
        "queueName": draw.choice(LOCAL_QUEUES),
        "priority": draw.choice((0, 0, 1, 2, 5)),
        "podSets": pod_sets(draw),
    }
    if draw.chance(0.08):
        spec["maximumExecutionTimeSeconds"] = draw.choice((1, 5, 12))
    if draw.chance(0.1):
        spec["preemptionGates"] = [{"name": "g"}]
    if draw.chance(0.03):
        spec["active"] = False
    labels = {"kueue.x-k8s.io/job-uid": f"job-{draw.randrange(4)}"}
    if draw.chance(0.03):
        labels["kueue.x-k8s.io/max-exec-time-seconds"] = draw.choice(("3", "soon"))
    annotations: Manifest = {}
    if draw.chance(0.1):
        annotations[BOOST] = draw.choice(("3", "-2", "much"))
    if draw.chance(0.8 if draw.focus == "slices" else 0.2):
        annotations["kueue.x-k8s.io/elastic-job"] = "true"
    if draw.chance(0.03):
        allowed = draw.choice(("f0", "f1, f2", ""))
        annotations["kueue.x-k8s.io/allowed-resource-flavor"] = allowed
    return spec, labels, annotations
