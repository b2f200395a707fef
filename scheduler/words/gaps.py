"""What is asked for and nothing here does, and what decides nothing here, in words."""

from __future__ import annotations

from msgspec import UnsetType

from scheduler.model.policy import PolicySpec
from scheduler.model.sentence import Sentence, Words
from scheduler.words.effects import Effect, NotSimulated


class Unfollowed(NotSimulated, prefix="unfollowed"):
    """Fields of jobs and pods that are not followed, and what is done instead."""

    OF_FIELD = "{kind} {field}: {what}"
    CLAIMS = (
        "its claims are not made, so that its pods wait for no volume",
        Effect.BOUND_WITHOUT_VOLUME,
    )
    KEPT = ("claims of pods that are gone are kept", Effect.VOLUMES_STAY)
    DEADLINE = (
        "the deadline of a pod is not followed: it runs to its end",
        Effect.DEADLINE,
    )
    OWN_DISK = (
        "a disk named in the pod itself holds it back on no node",
        Effect.OTHER_DISK,
    )
    TOGETHER = ("its Jobs start together, not one after another", Effect.EARLY_STEPS)
    AUTOSCALER = (
        "its autoscaler is not simulated: worker groups keep their replicas",
        Effect.SAME_SIZE,
    )
    ALL_COMPLETIONS = (
        "it ends when all its completions have, not before",
        Effect.LONGER_QUOTA,
    )
    SHARED_DOMAIN = (
        "the pods of its Jobs may share a domain of the topology",
        Effect.SHARED_DOMAIN,
    )
    ALL_JOBS = ("it ends when all its Jobs have, not before", Effect.LONGER_QUOTA)
    NO_RESTARTS = (
        "restarts are not simulated: past the deadline of a Job it runs on, and where "
        "quotalab.dev/fails-after says so it ends at its first failure",
        Effect.LONGER_QUOTA,
    )
    SCHEDULER = (
        "the scheduler is that of the pods and the policy, not the one named",
        Effect.OTHER_SCHEDULER,
    )
    EXECUTORS = (
        "executors are not added or taken while it runs: there are `instances`",
        Effect.SAME_SIZE,
    )
    ELASTIC = (
        "it keeps its number of replicas: no autoscaler changes it",
        Effect.SAME_SIZE,
    )
    WEBHOOK_RULES = (
        "a webhook is followed for the Pods that controllers make, for nothing else that "
        "its rules take",
        Effect.MADE_ANYWAY,
    )
    OVERRIDES = (
        "the pods are those of the runtime, without overrides",
        Effect.NO_OVERRIDES,
    )


class Unsimulated(NotSimulated, prefix="unsimulated"):
    """Fields and annotations that decide nothing here."""

    FIXED_POOL = "a pool of a fixed size is not simulated"
    STARTUP_TAINTS = "startup taints are not put on its nodes"
    AT_ONCE = "nodes go at once"
    KUBELET = "kubelet settings decide nothing: give allocatable of the InstanceType"
    DISRUPTED = (
        "taint {taint}: the node keeps it and stays, as what was about to take it is "
        "not here",
        Effect.KEPT_OFF,
    )
    ONE_BY_ONE = (
        "consolidation takes nodes one by one, never several for one",
        Effect.MORE_NODES,
    )
    NO_DRIFT = (
        "no node drifts: those that are there stay when their pool is edited",
        Effect.OLDER_NODES,
    )
    LABEL = ("Kueue reads the label of this name, not the annotation", Effect.NO_QUEUE)
    ELASTIC_KIND = (
        "elastic jobs of this kind are not scaled while they run",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_FEWER = (
        "elastic jobs that take fewer pods are not scaled: Kueue refuses both",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_TOPOLOGY = (
        "elastic jobs that ask for topology are not scaled: its gate is off",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_ELSEWHERE = (
        "elastic jobs of a queue with a MultiKueue check: scaling is of one cluster "
        "alone",
        Effect.STARTS_ANEW,
    )


class Gated(NotSimulated, prefix="gated"):
    """What counts only with a feature gate that is off."""

    GATES = (
        "preemption gates count only with MultiKueueOrchestratedPreemption, off",
        Effect.NO_GATES,
    )
    BOOST = (
        "it counts only with the feature gate PriorityBoost, which is off",
        Effect.SAME_PRIORITY,
    )
    ELASTIC = (
        "elastic jobs are scaled only with ElasticJobsViaWorkloadSlices, off",
        Effect.ADMITTED_SIZE,
    )
    CONCURRENT = (
        "it counts only with the feature gate ConcurrentAdmission, which is off",
        Effect.ONE_FLAVOR,
    )
    REFUSED = (
        "Kueue refuses this policy, and it is left out here: it takes one resource "
        "group of at most {most} flavors, the last acceptable one among them, and no "
        "StrictFIFO",
        Effect.ONE_FLAVOR,
    )


class Devices(NotSimulated, prefix="devices"):
    """What claims of devices say that is not followed."""

    EXPRESSION = (
        "an expression that does more than compare is not read; it accepts all",
        Effect.ANY_DEVICE,
    )
    FIRST = ("of alternatives only the first is tried", Effect.FIRST_ALTERNATIVE)
    ADMIN = ("administrative access counts as any other use", Effect.ADMINISTRATIVE)
    DISTINCT = (
        "distinctAttribute is not followed: devices may be equal in it",
        Effect.REFUSED_DEVICE,
    )
    COUNTERS = (
        "shared counters are not followed: partitions of a device are all free",
        Effect.SHARED_COUNTERS,
    )
    SHARE = ("a share of a device takes all of it", Effect.FEWER_SHARE)
    TAINTS = ("taints of devices are not followed", Effect.TAINTED_DEVICE)
    EXTENDED = (
        "a pod that asks for it as a resource gets no device of the class",
        Effect.NO_DEVICE_RESOURCE,
    )


class Idle(Words, prefix="idle"):
    """What has no effect in this world, and why."""

    COUNTED = "{what} ({count})"
    KIND = "{kind} ({count}): {what}"
    KEPT = "kept as it is"
    NO_PART = "has no part in the stack {stack}"
    SWITCH = "simulation.{name} ({value}): needs several kube-schedulers"
    SETTING = "Configuration: {path} is not simulated"
    CHECK = "AdmissionCheck {name}: {what}"
    NO_WORKER = (
        "none of its clusters has objects here (annotation quotalab.dev/cluster), so "
        "it is Ready at once"
    )
    NO_CONFIG_READY = "no ProvisioningRequestConfig here, so it is Ready at once"
    NO_CONFIG_INACTIVE = "no ProvisioningRequestConfig here, so it is inactive"
    NO_SUCH_CONFIG_READY = (
        "no ProvisioningRequestConfig {name} here, so it is Ready at once"
    )
    NO_SUCH_CONFIG_INACTIVE = (
        "no ProvisioningRequestConfig {name} here, so it is inactive"
    )
    RELEASE_OLD = (
        "{title} {release}: older than {least}, from which on releases are followed; "
        "it decides as the newest but for the rules that are"
    )
    RELEASE_RULES = (
        "{title} {release}: {count} later changes that may matter here are not told apart: "
        "{names}"
    )
    PROPOSAL = "the proposal {name} decides: no release decides so"
    PROPOSAL_IDLE = "the proposal {name} decides nothing under this stack"
    NO_NODES = "no Node here: pods are placed nowhere and are ready after podStartMs"
    NO_GANGS = (
        "pods of a schedulingGroup or workloadRef are placed one by one: no profile "
        "has GangScheduling"
    )
    NO_QUOTAS = "ElasticQuotas decide nothing: no profile has CapacityScheduling"
    NO_ZONES = (
        "NodeResourceTopologies decide nothing: no profile has "
        "NodeResourceTopologyMatch"
    )
    YUNIKORN_DEVICES = (
        "devices are not looked at under YuniKorn; a claim holds no pod back"
    )
    YUNIKORN_VOLUMES = (
        "volumes are not looked at under YuniKorn; a claim holds no pod back"
    )
    YUNIKORN_AFFINITY = "preferred node affinity is not looked at under YuniKorn"


def of_proposal(spec: PolicySpec) -> list[Sentence]:
    """Return that a proposal decides in a world, or that the chosen one does not."""
    chosen = spec.simulation.proposal
    if isinstance(chosen, UnsetType):
        return []
    word = Idle.PROPOSAL if spec.proposed() else Idle.PROPOSAL_IDLE
    return [word.said(name=chosen.name)]
