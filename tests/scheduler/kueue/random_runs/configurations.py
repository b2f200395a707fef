"""Configurations and rules of checks drawn at random."""

from __future__ import annotations

from scheduler.model.admission_check import CheckRule, RecordedAnswer
from scheduler.model.policy import Policy, read_policy
from tests.scheduler.kueue.random_runs.draws import CHECKS, TOLERATIONS, Draw, Manifest

#: How often each gate is on, where gates are given.
GATES = {
    "ConcurrentAdmission": 0.3,
    "ElasticJobsViaWorkloadSlices": 0.8,
    "MultiKueueOrchestratedPreemption": 0.3,
    "PriorityBoost": 0.4,
    "TASProfileMixed": 0.8,
    "TASBalancedPlacement": 0.4,
    "TASRespectNodeAffinityPreferred": 0.4,
    "TASHandleOverlappingFlavors": 0.8,
    "TASRecomputeAssignmentWithinSchedulingCycle": 0.8,
    "TASFailedNodeReplacementFailFast": 0.6,
}
_TRANSFORMATIONS = [
    {"input": "gpu.com/a", "strategy": "Replace", "outputs": {"cpu": "2"}},
    {"input": "memory", "strategy": "Retain", "outputs": {"gpu.com/a": "0.001"}},
    {"input": "cpu", "outputs": {"memory": "1Gi"}, "multiplyBy": "gpu.com/a"},
    {"input": "odd", "strategy": "Replace", "outputs": {"cpu": 1, "more": 2}},
]
_AFTER = (*("0s", "2s", "uniform(1s,6s)") * 3, "attempts(3s,0s)", "never")
_OPENINGS: tuple[dict[str, str], ...] = (*[{}] * 5, {"every": "7s", "open": "2s"})


def configuration(draw: Draw) -> Manifest:
    """Return a Configuration; half of its sections are there, each with some fields."""
    given: Manifest = {}
    if draw.chance(0.4):
        strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        given["fairSharing"] = {
            "preemptionStrategies": draw.choice(([], strategies, strategies[1:]))
        }
    if draw.chance(0.4) or draw.focus == "pods":
        given["waitForPodsReady"] = _waiting(draw)
    if draw.chance(0.05):
        given["apiVersion"] = "config.kueue.x-k8s.io/v1beta1"
        for section in ("fairSharing", "waitForPodsReady"):
            given.setdefault(section, {})["enable"] = draw.chance(0.7)
    if draw.chance(0.4):
        given["admissionFairSharing"] = _usage(draw)
    if draw.chance(0.6):
        given["featureGates"] = {k: draw.chance(p) for k, p in GATES.items()}
    if draw.focus == "variants":
        given.setdefault("featureGates", {})["ConcurrentAdmission"] = True
    if draw.chance(0.3):
        given["resources"] = _resources(draw)
    if draw.chance(0.3):
        times = {"afterFinished": "20s", "afterDeactivatedByKueue": "9s"}
        kept = draw.sample(sorted(times), draw.choice((1, 2)))
        given["objectRetentionPolicies"] = {"workloads": {k: times[k] for k in kept}}
    return given


def _waiting(draw: Draw) -> Manifest:
    requeuing: Manifest = {
        "backoffBaseSeconds": draw.choice((0, 2, 10)),
        "backoffMaxSeconds": draw.choice((5, 100)),
        "timestamp": draw.choice(("Eviction", "Creation")),
    }
    if draw.chance(0.5):
        requeuing["backoffLimitCount"] = draw.choice((0, 1, 2))
    given: Manifest = {
        "timeout": draw.choice(("3s", "10s")),
        "blockAdmission": draw.chance(0.8 if draw.focus == "pods" else 0.3),
        "requeuingStrategy": requeuing,
    }
    if draw.chance(0.5):
        given["recoveryTimeout"] = draw.choice(("2s", "8s"))
    return given


def _usage(draw: Draw) -> Manifest:
    return {
        "usageHalfLifeTime": draw.choice(("0s", "5s", "60s")),
        "usageSamplingInterval": draw.choice(("1s", "7s")),
        "resourceWeights": draw.choice(({}, {"cpu": 2.0, "memory": 0.0})),
    }


def _resources(draw: Draw) -> Manifest:
    given: Manifest = {}
    if draw.chance(0.3):
        given["excludeResourcePrefixes"] = draw.choice((["gpu.com/"], ["odd", "mem"]))
    if draw.chance(0.5):
        number = draw.choice((1, 1, 2, 4))
        given["transformations"] = draw.sample(_TRANSFORMATIONS, number)
    if draw.chance(0.6):
        given["quotaCheckStrategy"] = draw.choice(
            ("IgnoreUndeclared", "BlockUndeclared")
        )
    return given


def policy(draw: Draw) -> Policy | None:
    """Return a policy in which cycles or requeueing take time; None for at once."""
    latencies: dict[str, str] = {}
    if draw.chance(0.3):
        latencies["reactivation"] = "uniform(1s,4s)"
    if draw.paced:
        latencies["schedulingCycle"] = draw.choice(("200ms", "uniform(50ms,900ms)"))
        latencies["admission"] = draw.choice(("0s", "300ms"))
    if not latencies:
        return None
    return read_policy({"spec": {"simulation": {"latencies": latencies}}})


def rules(draw: Draw) -> list[CheckRule] | None:
    """Return how checks are answered; None where only steps of the run do."""
    if draw.chance(0.5):
        return None
    return [
        CheckRule(
            check=name,
            answer=draw.choice(("Ready", "Ready", "Retry", "Rejected")),
            after=draw.choice(_AFTER),
            probability=draw.choice((1.0, 0.5)),
            otherwise=draw.choice(("Ready", "Retry")),
            message=draw.choice(("", "said so")),
            requeue_after_seconds=draw.choice((None, 3)),
            by_hand=draw.chance(0.2),
            pod_set_updates=_updates(draw),
            recorded=_recorded(draw, name),
            **draw.choice(_OPENINGS),
        )
        for name in CHECKS[: draw.randint(1, 3)]
    ]


def _recorded(draw: Draw, check: str) -> list[RecordedAnswer]:
    """Return what a check said of a few Workloads, whoever has their names."""
    return [
        RecordedAnswer(
            workload=f"default/w{draw.randrange(30, 50):03d}",
            answer=draw.choice(("Ready", "Retry", "Rejected")),
            attempt=draw.choice((1, 1, 2)),
            after=draw.choice(("0s", "2s")),
            message=draw.choice(("", f"{check} said so")),
            requeue_after_seconds=draw.choice((None, 3)),
        )
        for _ in range(draw.choice((0, 0, 8)))
    ]


def _updates(draw: Draw) -> list[Manifest]:
    """Return what a check adds to pods where it is ready."""
    update = {"name": "main", "nodeSelector": {"fast": "yes"}}
    more = {"labels": {"of": "check"}, "tolerations": TOLERATIONS}
    return draw.choice(([], [], [update], [update | more]))
