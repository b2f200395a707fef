"""Topologies and nodes drawn at random."""

from __future__ import annotations

from tests.scheduler.kueue.random_runs.draws import (
    BLOCK,
    HOST,
    LEVELS,
    RACK,
    TAINTS,
    Draw,
    Manifest,
)

NO_EXECUTE = [{"key": "t", "value": "v", "effect": "NoExecute"}]


def topology(draw: Draw) -> Manifest:
    return {"levels": [{"nodeLabel": level} for level in draw.choice(LEVELS)]}


def node(draw: Draw, name: str) -> tuple[Manifest, Manifest, Manifest]:
    """Return labels, spec and status of a Node."""
    labels = {
        BLOCK: draw.choice(("b0", "b1")),
        RACK: draw.choice(("r0", "r1", "r2")),
        HOST: name,
        "pool": draw.choice("xxy"),
        "fast": draw.choice(("yes", "no")),
    }
    spec: Manifest = {}
    if draw.chance(0.15):
        spec["taints"] = draw.choice((TAINTS, NO_EXECUTE))
    if draw.chance(0.05):
        spec["unschedulable"] = True
    sizes = (3, 4, 8) if draw.focus == "nodes" else (1, 2, 4, 8)
    room = {"cpu": draw.choice(sizes), "pods": draw.choice((2, 5, 20))}
    status: Manifest = {"allocatable": {**room, "memory": "16Gi", "gpu.com/a": 2}}
    ready = "False" if draw.focus != "nodes" and draw.chance(0.15) else "True"
    status["conditions"] = [{"type": "Ready", "status": ready}]
    return labels, spec, status
