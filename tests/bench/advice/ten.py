"""Ten larger worlds for the advisor, each thought of by somebody: 9 to 21 settings.

KEPT_ASIDE were never looked at while the search was worked on.
"""

from __future__ import annotations

from typing import Any

from tests.bench.advice.worlds import CLASSES, LargerWorld, Manifest

_CPU = {"flavor": "default", "resource": "cpu"}
_QUOTA = {"quota": {**_CPU, "step": 2}}
_WAIT = {"measure": "workloads.meanMs"}
_RECLAIM = {"within": "LowerPriority", "reclaim": "Any"}


def limit(kind: str, *values: Any) -> dict[str, Any]:
    return {kind: {**_CPU, "values": list(values)}}


def _nodes(name: str, *values: int) -> dict[str, Any]:
    given = {"object": f"NodeGroup/{name}", "field": "spec.maxNodes"}
    return {"field": {**given, "values": list(values), "ordered": True}}


def group(name: str, price: float, order: int, **spec: Any) -> Manifest:
    """A group of nodes of eight processors that come when they are needed."""
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "NodeGroup",
        "metadata": {"name": name},
        "spec": {
            "template": {"status": {"allocatable": allocatable}},
            "bootTime": "20s",
            "pricePerHour": price,
            "priority": order,
            **spec,
        },
    }


LOOKED_AT = (
    LargerWorld(
        "twelve queues that share nothing", 12, 10, [_QUOTA], [_WAIT], cohort="", draw=1
    ),
    LargerWorld(
        "eight queues that lend, q0's p95 bound",
        8,
        10,
        [_QUOTA, {"preemption": {"reclaimWithinCohort": ["Never", "Any"]}}],
        [_WAIT, {"measure": "preemptions", "weight": 0.5}],
        ("queue q0 p95 wait under 15 s",),
        more=_RECLAIM,
        load=1.0,
        draw=2,
    ),
    LargerWorld(
        "six queues for equal slowdown",
        6,
        12,
        [_QUOTA, {"queueingStrategy": {}}],
        [{"measure": "slowdownRatio"}, _WAIT],
        cohort="",
        draw=3,
    ),
    LargerWorld(
        "fair sharing, weights and preemption of six queues",
        6,
        10,
        [
            {"fairSharing": {}},
            {"weight": {}},
            {"preemption": {"reclaimWithinCohort": ["Never", "Any"]}},
        ],
        [{"measure": "slowdownRatio"}, {"measure": "workLostMs", "weight": 0.5}],
        more=_RECLAIM,
        load=1.1,
        draw=4,
    ),
    # Kept aside until the search was found to end there where it began.
    LargerWorld(
        "quota, weights and fair sharing of eight queues",
        8,
        8,
        [_QUOTA, {"weight": {}}, {"fairSharing": {}}],
        [{"measure": "workloads.p95Ms"}, {"measure": "preemptions", "weight": 0.5}],
        ("queue q3 p95 wait under 40 s",),
        more=_RECLAIM,
        load=1.0,
        draw=8,
    ),
)
KEPT_ASIDE = (
    LargerWorld(
        "quota bought for nine queues, nobody loses",
        9,
        8,
        [{"quota": {**_CPU, "step": 2, "total": 90, "low": 4, "high": 24}}],
        [{"measure": "workloads.p95Ms"}],
        ("nobody loses more than 10%",),
        cohort="",
        draw=5,
    ),
    LargerWorld(
        "limits, priorities and preemption of seven queues",
        7,
        10,
        [
            limit("borrowingLimit", 0, 2, 4, 8, 16, None),
            {"priority": {"classes": list(CLASSES), "values": [1, 50, 100, 200]}},
            {"preemption": {"withinClusterQueue": ["Never", "LowerPriority"]}},
        ],
        [_WAIT, {"measure": "workLostMs", "weight": 0.3}],
        ("queue q1 p95 wait under 60 s",),
        more=_RECLAIM,
        load=1.1,
        draw=6,
    ),
    LargerWorld(
        "nodes of three groups and quota of six queues",
        6,
        12,
        [
            _QUOTA,
            _nodes("large", 0, 2, 4, 6, 8, 10),
            _nodes("middle", 0, 2, 4, 6, 8, 10),
            _nodes("spot", 0, 2, 4, 6, 8, 10),
            {
                "field": {
                    "policy": "simulation.checkpointEvery",
                    "values": ["never", "1m", "20s"],
                    "ordered": True,
                }
            },
        ],
        [{"measure": "cost"}, {"measure": "workloads.meanMs", "weight": 0.5}],
        cohort="",
        draw=7,
        policy={"checkpointEvery": "never"},
        groups=(
            group("large", 1.0, 1, maxNodes=10),
            group("middle", 0.7, 2, maxNodes=0),
            group("spot", 0.3, 3, maxNodes=0, spot={"interruptionsPerHour": 6}),
        ),
    ),
    LargerWorld(
        "limits, weights and fair sharing of nine queues",
        9,
        8,
        [
            limit("borrowingLimit", 0, 4, 8, 16, None),
            {"weight": {}},
            {"fairSharing": {}},
        ],
        [{"measure": "slowdownRatio"}, _WAIT],
        more=_RECLAIM,
        load=1.1,
        draw=9,
    ),
    LargerWorld(
        "quota, strategies and preemption of seven queues",
        7,
        10,
        [
            _QUOTA,
            {"queueingStrategy": {}},
            {"preemption": {"withinClusterQueue": ["Never", "LowerPriority"]}},
        ],
        [{"measure": "workloads.p95Ms"}, {"measure": "workLostMs", "weight": 0.5}],
        more=_RECLAIM,
        draw=10,
    ),
)
