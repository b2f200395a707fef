"""Which schedulers a stack runs; adding a stack touches this table only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import UnsetType

from scheduler.engine.latencies import StepTimes
from scheduler.engine.stage import Context
from scheduler.model.policy import Policy
from scheduler.model.proposals import Asking

if TYPE_CHECKING:
    from scheduler.engine.kube.stage import KubeStage
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.yunikorn.stage import YunikornStage

    Stages = tuple[KueueStage | None, KubeStage | None, YunikornStage | None]


def build_stages(context: Context, policy: Policy) -> Stages:
    """Return the stages of the policy's stack: Kueue, kube-scheduler, YuniKorn."""
    match policy.spec.stack:
        case "kueue":
            kueue = _kueue(context, policy)
            return kueue, _kube(context, policy, kueue.cluster.proposing), None
        case "kube":
            return None, _kube(context, policy, _asking(policy)), None
        case "yunikorn":
            return None, None, _yunikorn(context, policy)


def _asking(policy: Policy) -> Asking | None:
    chosen = policy.spec.proposed()
    return None if chosen is None else Asking(chosen)


# Each scheduler is imported when a world runs it: a world under Kueue alone
# need not load arrays, nor a command line that replays one kind of vectors.


def _kueue(context: Context, policy: Policy) -> KueueStage:
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.model.kueue.configuration import read_configuration

    settings = read_configuration(policy.spec.kueue, policy.spec.decides_as())
    settings = settings.with_defaults()
    chosen = policy.spec.simulation.preemption
    if not isinstance(chosen, UnsetType):
        settings = replace(settings, chosen=chosen)
    settings = replace(settings, proposal=policy.spec.proposed())
    rules = policy.spec.simulation.admission_checks
    return KueueStage(
        context,
        settings,
        StepTimes(context, policy),
        rules=[] if isinstance(rules, UnsetType) else rules,
    )


def _kube(context: Context, policy: Policy, asking: Asking | None) -> KubeStage:
    from scheduler.engine.kube.stage import KubeStage

    return KubeStage(context, policy, asking=asking)


def _yunikorn(context: Context, policy: Policy) -> YunikornStage:
    from scheduler.engine.yunikorn.stage import YunikornStage
    from scheduler.model.yunikorn.reading import from_plain

    stage = YunikornStage(context, policy, from_plain(policy.spec.yunikorn.queues))
    stage.partition.asking = _asking(policy)
    return stage
