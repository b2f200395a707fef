"""What is asked for and nothing here does, and what decides nothing here, in words."""

from __future__ import annotations

from msgspec import UnsetType

from scheduler.model.policy import PolicySpec
from scheduler.model.sentence import Sentence, Words
from scheduler.words.effects import Effect, NotSimulated


class Unfollowed(NotSimulated):
    """Fields of jobs and pods that are not followed, and what is done instead."""

    OF_FIELD = ("unfollowed.ofField", "{kind} {field}: {what}")
    CLAIMS = (
        "unfollowed.claims",
        "its claims are not made, so that its pods wait for no volume",
        Effect.BOUND_WITHOUT_VOLUME,
    )
    KEPT = (
        "unfollowed.kept",
        "claims of pods that are gone are kept",
        Effect.VOLUMES_STAY,
    )
    DEADLINE = (
        "unfollowed.deadline",
        "the deadline of a pod is not followed: it runs to its end",
        Effect.DEADLINE,
    )
    OWN_DISK = (
        "unfollowed.ownDisk",
        "a disk named in the pod itself holds it back on no node",
        Effect.OTHER_DISK,
    )
    TOGETHER = (
        "unfollowed.together",
        "its Jobs start together, not one after another",
        Effect.EARLY_STEPS,
    )
    AUTOSCALER = (
        "unfollowed.autoscaler",
        "its autoscaler is not simulated: worker groups keep their replicas",
        Effect.SAME_SIZE,
    )
    ALL_COMPLETIONS = (
        "unfollowed.allCompletions",
        "it ends when all its completions have, not before",
        Effect.LONGER_QUOTA,
    )
    SHARED_DOMAIN = (
        "unfollowed.sharedDomain",
        "the pods of its Jobs may share a domain of the topology",
        Effect.SHARED_DOMAIN,
    )
    ALL_JOBS = (
        "unfollowed.allJobs",
        "it ends when all its Jobs have, not before",
        Effect.LONGER_QUOTA,
    )
    NO_RESTARTS = (
        "unfollowed.noRestarts",
        "restarts are not simulated: past the deadline of a Job it runs on, and where "
        "quotalab.dev/fails-after says so it ends at its first failure",
        Effect.LONGER_QUOTA,
    )
    SCHEDULER = (
        "unfollowed.scheduler",
        "the scheduler is that of the pods and the policy, not the one named",
        Effect.OTHER_SCHEDULER,
    )
    EXECUTORS = (
        "unfollowed.executors",
        "executors are not added or taken while it runs: there are `instances`",
        Effect.SAME_SIZE,
    )
    ELASTIC = (
        "unfollowed.elastic",
        "it keeps its number of replicas: no autoscaler changes it",
        Effect.SAME_SIZE,
    )
    OVERRIDES = (
        "unfollowed.overrides",
        "the pods are those of the runtime, without overrides",
        Effect.NO_OVERRIDES,
    )


class Unsimulated(NotSimulated):
    """Fields and annotations that decide nothing here."""

    FIXED_POOL = ("unsimulated.fixedPool", "a pool of a fixed size is not simulated")
    STARTUP_TAINTS = (
        "unsimulated.startupTaints",
        "startup taints are not put on its nodes",
    )
    AT_ONCE = ("unsimulated.atOnce", "nodes go at once")
    KUBELET = (
        "unsimulated.kubelet",
        "kubelet settings decide nothing: give allocatable of the InstanceType",
    )
    DISRUPTED = (
        "unsimulated.disrupted",
        "taint {taint}: the node keeps it and stays, as what was about to take it is "
        "not here",
        Effect.KEPT_OFF,
    )
    ONE_BY_ONE = (
        "unsimulated.oneByOne",
        "consolidation takes nodes one by one, never several for one",
        Effect.MORE_NODES,
    )
    NO_DRIFT = (
        "unsimulated.noDrift",
        "no node drifts: those that are there stay when their pool is edited",
        Effect.OLDER_NODES,
    )
    LABEL = (
        "unsimulated.label",
        "Kueue reads the label of this name, not the annotation",
        Effect.NO_QUEUE,
    )
    ELASTIC_KIND = (
        "unsimulated.elasticKind",
        "elastic jobs of this kind are not scaled while they run",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_FEWER = (
        "unsimulated.elasticFewer",
        "elastic jobs that take fewer pods are not scaled: Kueue refuses both",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_TOPOLOGY = (
        "unsimulated.elasticTopology",
        "elastic jobs that ask for topology are not scaled: its gate is off",
        Effect.ADMITTED_SIZE,
    )
    ELASTIC_ELSEWHERE = (
        "unsimulated.elasticElsewhere",
        "elastic jobs of a queue with a MultiKueue check: scaling is of one cluster "
        "alone",
        Effect.STARTS_ANEW,
    )


class Gated(NotSimulated):
    """What counts only with a feature gate that is off."""

    GATES = (
        "gated.gates",
        "preemption gates count only with MultiKueueOrchestratedPreemption, off",
        Effect.NO_GATES,
    )
    BOOST = (
        "gated.boost",
        "it counts only with the feature gate PriorityBoost, which is off",
        Effect.SAME_PRIORITY,
    )
    ELASTIC = (
        "gated.elastic",
        "elastic jobs are scaled only with ElasticJobsViaWorkloadSlices, off",
        Effect.ADMITTED_SIZE,
    )
    CONCURRENT = (
        "gated.concurrent",
        "it counts only with the feature gate ConcurrentAdmission, which is off",
        Effect.ONE_FLAVOR,
    )
    REFUSED = (
        "gated.refused",
        "Kueue refuses this policy, and it is left out here: it takes one resource "
        "group of at most {most} flavors, the last acceptable one among them, and no "
        "StrictFIFO",
        Effect.ONE_FLAVOR,
    )


class Devices(NotSimulated):
    """What claims of devices say that is not followed."""

    EXPRESSION = (
        "devices.expression",
        "an expression that does more than compare is not read; it accepts all",
        Effect.ANY_DEVICE,
    )
    FIRST = (
        "devices.first",
        "of alternatives only the first is tried",
        Effect.FIRST_ALTERNATIVE,
    )
    ADMIN = (
        "devices.admin",
        "administrative access counts as any other use",
        Effect.ADMINISTRATIVE,
    )
    DISTINCT = (
        "devices.distinct",
        "distinctAttribute is not followed: devices may be equal in it",
        Effect.REFUSED_DEVICE,
    )
    COUNTERS = (
        "devices.counters",
        "shared counters are not followed: partitions of a device are all free",
        Effect.SHARED_COUNTERS,
    )
    SHARE = ("devices.share", "a share of a device takes all of it", Effect.FEWER_SHARE)
    TAINTS = (
        "devices.taints",
        "taints of devices are not followed",
        Effect.TAINTED_DEVICE,
    )
    EXTENDED = (
        "devices.extended",
        "a pod that asks for it as a resource gets no device of the class",
        Effect.NO_DEVICE_RESOURCE,
    )


class Idle(Words):
    """What has no effect in this world, and why."""

    COUNTED = ("idle.counted", "{what} ({count})")
    KIND = ("idle.kind", "{kind} ({count}): {what}")
    KEPT = ("idle.kept", "kept as it is")
    NO_PART = ("idle.noPart", "has no part in the stack {stack}")
    SWITCH = (
        "idle.switch",
        "simulation.{name} ({value}): needs several kube-schedulers",
    )
    SETTING = ("idle.setting", "Configuration: {path} is not simulated")
    CHECK = ("idle.check", "AdmissionCheck {name}: {what}")
    NO_WORKER = (
        "idle.noWorker",
        "none of its clusters has objects here (annotation quotalab.dev/cluster), so "
        "it is Ready at once",
    )
    NO_CONFIG_READY = (
        "idle.noConfigReady",
        "no ProvisioningRequestConfig here, so it is Ready at once",
    )
    NO_CONFIG_INACTIVE = (
        "idle.noConfigInactive",
        "no ProvisioningRequestConfig here, so it is inactive",
    )
    NO_SUCH_CONFIG_READY = (
        "idle.noSuchConfigReady",
        "no ProvisioningRequestConfig {name} here, so it is Ready at once",
    )
    NO_SUCH_CONFIG_INACTIVE = (
        "idle.noSuchConfigInactive",
        "no ProvisioningRequestConfig {name} here, so it is inactive",
    )
    RELEASE_OLD = (
        "idle.releaseOld",
        "{title} {release}: older than {least}, from which on releases are followed; "
        "it decides as the newest but for the rules that are",
    )
    RELEASE_RULES = (
        "idle.releaseRules",
        "{title} {release}: {count} later changes that may matter here are not told apart: "
        "{names}",
    )
    PROPOSAL = ("idle.proposal", "the proposal {name} decides: no release decides so")
    PROPOSAL_IDLE = (
        "idle.proposalIdle",
        "the proposal {name} decides nothing under this stack",
    )
    NO_NODES = (
        "idle.noNodes",
        "no Node here: pods are placed nowhere and are ready after podStartMs",
    )
    NO_GANGS = (
        "idle.noGangs",
        "pods of a schedulingGroup or workloadRef are placed one by one: no profile "
        "has GangScheduling",
    )
    NO_QUOTAS = (
        "idle.noQuotas",
        "ElasticQuotas decide nothing: no profile has CapacityScheduling",
    )
    NO_ZONES = (
        "idle.noZones",
        "NodeResourceTopologies decide nothing: no profile has "
        "NodeResourceTopologyMatch",
    )
    YUNIKORN_DEVICES = (
        "idle.yunikornDevices",
        "devices are not looked at under YuniKorn; a claim holds no pod back",
    )
    YUNIKORN_VOLUMES = (
        "idle.yunikornVolumes",
        "volumes are not looked at under YuniKorn; a claim holds no pod back",
    )
    YUNIKORN_AFFINITY = (
        "idle.yunikornAffinity",
        "preferred node affinity is not looked at under YuniKorn",
    )


def of_proposal(spec: PolicySpec) -> list[Sentence]:
    """Return that a proposal decides in a world, or that the chosen one does not."""
    chosen = spec.simulation.proposal
    if isinstance(chosen, UnsetType):
        return []
    word = Idle.PROPOSAL if spec.proposed() else Idle.PROPOSAL_IDLE
    return [word.said(name=chosen.name)]
