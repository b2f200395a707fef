"""Which schedulers a stack runs; adding a stack touches this table only."""

from __future__ import annotations

from scheduler.kube.stage import KubeStage
from scheduler.kueue.stage import KueueStage
from scheduler.records.policy import Policy
from scheduler.stage import Context
from scheduler.yunikorn.stage import YunikornStage

Stages = tuple[KueueStage | None, KubeStage | None, YunikornStage | None]


def build_stages(context: Context, policy: Policy) -> Stages:
    """Return the stages of the policy's stack: Kueue, kube-scheduler, YuniKorn."""
    match policy.spec.stack:
        case "kueue":
            return KueueStage(context, policy), KubeStage(context, policy), None
        case "kube":
            return None, KubeStage(context, policy), None
        case "yunikorn":
            return None, None, YunikornStage(context, policy)
