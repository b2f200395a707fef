"""Flavors, queues and cohorts drawn at random."""

from __future__ import annotations

from tests.scheduler.kueue.random_runs.draws import (
    CHECKS,
    COHORTS,
    FLAVORS,
    QUEUES,
    RESOURCES,
    TAINTS,
    TOLERATIONS,
    Draw,
    Manifest,
    amount,
)

_WITHIN = ("Never", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority")
_RECLAIM = ("Never", "LowerPriority", "Any", "Any")


def flavor(draw: Draw) -> Manifest:
    spec: Manifest = {}
    if draw.plain:
        return {"topologyName": "top"} if draw.topology else spec
    if draw.chance(0.3):
        spec["nodeLabels"] = {"pool": draw.choice("xxy")}
    if draw.chance(0.1):
        spec["nodeTaints"] = TAINTS
    if draw.chance(0.2):
        spec["tolerations"] = TOLERATIONS
    if draw.chance(draw.topology):
        spec["topologyName"] = draw.choice(("top", "top", "top", "other"))
    return spec


def _quota(draw: Draw, resource: str) -> Manifest:
    most = draw.choice((8, 20, 30) if draw.topology else (3, 4, 8))
    quota: Manifest = {"name": resource, "nominalQuota": amount(draw, resource, most)}
    if draw.chance(0.25):
        quota["borrowingLimit"] = amount(draw, resource, 5)
    if draw.chance(0.25):
        quota["lendingLimit"] = amount(draw, resource, 4)
    return quota


def groups(draw: Draw) -> list[Manifest]:
    if draw.focus == "variants":
        several = [
            {"name": name, "resources": [_quota(draw, "cpu")]}
            for name in draw.sample(FLAVORS, draw.choice((2, 3)))
        ]
        return [{"coveredResources": ["cpu"], "flavors": several}]
    if draw.plain:
        plain = [
            {"name": name, "resources": [_quota(draw, "cpu")]}
            for name in FLAVORS[: draw.choice((1, 1, 2))]
        ]
        return [{"coveredResources": ["cpu"], "flavors": plain}]
    flavors = draw.sample(FLAVORS, draw.choice((1, 1, 2, 2, 3)))
    covered = list(RESOURCES[: draw.choice((1, 2, 2, 3))])
    sets = [(flavors, covered)]
    if len(flavors) > 1 and len(covered) > 1 and draw.chance(0.5):
        sets = [(flavors[:1], covered[:1]), (flavors[1:], covered[1:])]
    return [
        {
            "coveredResources": resources,
            "flavors": [
                {"name": name, "resources": [_quota(draw, each) for each in resources]}
                for name in names
            ],
        }
        for names, resources in sets
    ]


def weight(draw: Draw, spec: Manifest) -> Manifest:
    if draw.chance(0.4):
        spec["fairSharing"] = {"weight": draw.choice((0, 1, 2, "500m"))}
    return spec


def cohort(draw: Draw) -> Manifest:
    spec: Manifest = {}
    if draw.chance(0.4):
        spec["parentName"] = draw.choice(("root",) * 9 + COHORTS)
    if draw.chance(0.4):
        spec["resourceGroups"] = groups(draw)
    return weight(draw, spec)


def _preemption(draw: Draw) -> Manifest:
    given: Manifest = {
        "withinClusterQueue": draw.choice(_WITHIN[draw.plain :]),
        "reclaimWithinCohort": draw.choice(_RECLAIM[draw.plain :]),
    }
    if draw.chance(0.4):
        borrow = {"policy": "LowerPriority"}
        given["borrowWithinCohort"] = borrow | draw.choice(
            ({}, {"maxPriorityThreshold": 1})
        )
    return given


def _fungibility(draw: Draw) -> Manifest:
    return {
        "whenCanBorrow": draw.choice(("MayStopSearch", "TryNextFlavor")),
        "whenCanPreempt": draw.choice(("MayStopSearch", "TryNextFlavor")),
        "preference": draw.choice(
            ("BorrowingOverPreemption", "PreemptionOverBorrowing")
        ),
    }


def _checks(draw: Draw) -> Manifest:
    names = draw.sample(CHECKS, draw.choice((1, 1, 2, 3)))
    return {
        "admissionChecks": [
            {"name": name, "onFlavors": draw.choice(([], [], ["f0"], ["f1", "f2"]))}
            for name in names
        ]
    }


def _policy(draw: Draw) -> Manifest:
    migration: Manifest = {"mode": "TryPreferredFlavors"}
    if draw.chance(0.5):
        migration["mode"] = draw.choice(("TryPreferredFlavors", "RetainFirstAdmission"))
    if draw.chance(0.3):
        last = draw.choice(FLAVORS[:2])
        migration["constraints"] = {"lastAcceptableFlavorName": last}
    return {"migration": migration}


def queue(draw: Draw) -> Manifest:
    """Return the spec of a ClusterQueue."""
    spec: Manifest = {
        "resourceGroups": groups(draw),
        "preemption": _preemption(draw),
        "cohortName": draw.choice(("north", "south" if draw.plain else "", *COHORTS)),
        "namespaceSelector": {},
        "queueingStrategy": draw.choice(
            ("BestEffortFIFO", "BestEffortFIFO", "StrictFIFO")
        ),
    }
    if draw.chance(0.5):
        spec["flavorFungibility"] = _fungibility(draw)
    if draw.chance(draw.checks):
        spec["admissionChecksStrategy"] = _checks(draw)
    if draw.chance(0.04):
        spec["stopPolicy"] = draw.choice(("Hold", "HoldAndDrain"))
    if draw.chance(0.07):
        team = {"matchLabels": {"team": "yes"}}
        spec["namespaceSelector"] = draw.choice((team, team, None))
    if draw.chance(0.5) or draw.focus == "variants":
        spec["concurrentAdmissionPolicy"] = _policy(draw)
    if draw.chance(0.4):
        spec["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    return weight(draw, spec)


def local_queue(draw: Draw) -> Manifest:
    spec: Manifest = {"clusterQueue": draw.choice(QUEUES)}
    if draw.chance(0.04):
        spec["stopPolicy"] = draw.choice(("Hold", "HoldAndDrain"))
    return weight(draw, spec)
