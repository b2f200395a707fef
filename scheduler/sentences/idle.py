"""What a whole world holds that decides nothing in it, in words."""

from __future__ import annotations

from scheduler.sentences.sentence import Words


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
