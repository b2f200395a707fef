"""One table of kinds: what is simulated, what is only kept, and where it counts.

The importer, the "not simulated" panel of every sandbox and the documentation
read this table; nothing else lists kinds. Job kinds say themselves how they are served.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from scheduler.model import registry
from scheduler.model.schemas import KUEUE as KUEUE
from scheduler.model.sentence import Sentence
from scheduler.model.webhooks import KINDS as WEBHOOKS
from scheduler.words.effects import Effect, NotSimulated
from scheduler.words.findings import Kept
from scheduler.words.gaps import Devices

Level = Literal["simulated", "kept", "configuration"]

ALL = ("kueue", "yunikorn", "kube")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: its API group and versions (newest first, as served)."""

    kind: str
    group: str
    versions: tuple[str, ...]
    plural: str
    level: Level
    stacks: tuple[str, ...] = ALL
    namespaced: bool = True
    said: Sentence | None = None  # what is done with it, where it is only kept
    effect: Effect = Effect.NONE  # what it changes for decisions

    @property
    def note(self) -> str:
        """Return in English what is done with it, where it is only kept."""
        return "" if self.said is None else self.said.text

    @property
    def api_version(self) -> str:
        """Return the served apiVersion."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]


def _kueue(kind: str, plural: str, *, namespaced: bool = False) -> Kind:
    return Kind(
        kind=kind,
        group=KUEUE,
        versions=("v1beta2", "v1beta1"),
        plural=plural,
        level="simulated",
        stacks=("kueue",),
        namespaced=namespaced,
    )


def _kept(kind: str, group: str, version: str, plural: str, kept: NotSimulated) -> Kind:
    return Kind(
        kind=kind,
        group=group,
        versions=(version,),
        plural=plural,
        level="kept",
        said=kept.said(),
        effect=kept.effect,
        namespaced=kind not in _CLUSTER_WIDE,
    )


_CLUSTER_WIDE = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "ComponentStatus",
        "CSIDriver",
        "CustomResourceDefinition",
        "DeviceTaintRule",
        "IngressClass",
        "VolumeAttachment",
    }
)


def _core(kind: str, plural: str, *, namespaced: bool = True) -> Kind:
    return Kind(
        kind=kind,
        group="",
        versions=("v1",),
        plural=plural,
        level="simulated",
        namespaced=namespaced,
    )


def _simulated(
    kind: str,
    group: str,
    versions: tuple[str, ...],
    plural: str,
    *,
    namespaced: bool = True,
    stacks: tuple[str, ...] = ALL,
) -> Kind:
    return Kind(
        kind=kind,
        group=group,
        versions=versions,
        plural=plural,
        level="simulated",
        namespaced=namespaced,
        stacks=stacks,
    )


def _nodes(kind: str, group: str, versions: tuple[str, ...], plural: str) -> Kind:
    """Return a kind of or about nodes, where kube-scheduler places pods."""
    stacks = ("kueue", "kube")
    return _simulated(kind, group, versions, plural, namespaced=False, stacks=stacks)


def _configuration(kind: str, group: str, versions: tuple[str, ...]) -> Kind:
    return Kind(
        kind=kind,
        group=group,
        versions=versions,
        plural="",
        level="configuration",
        namespaced=False,
    )


def _job_kinds() -> Iterator[Kind]:
    """Yield the job kinds that Kubernetes itself does not have."""
    for one in registry.built_in("job-kind"):
        if (served := one.value.served) is not None:
            plural = f"{one.name.lower()}s"
            yield _simulated(one.name, served.group, served.versions, plural)


TABLE: tuple[Kind, ...] = (
    _kueue("ResourceFlavor", "resourceflavors"),
    _kueue("Topology", "topologies"),
    _kueue("Cohort", "cohorts"),
    _kueue("ClusterQueue", "clusterqueues"),
    _kueue("LocalQueue", "localqueues", namespaced=True),
    _kueue("Workload", "workloads", namespaced=True),
    _kueue("WorkloadPriorityClass", "workloadpriorityclasses"),
    _kueue("AdmissionCheck", "admissionchecks"),
    _kueue("ProvisioningRequestConfig", "provisioningrequestconfigs"),
    _simulated(
        "ProvisioningRequest",
        "autoscaling.x-k8s.io",
        ("v1", "v1beta1"),
        "provisioningrequests",
        stacks=("kueue", "kube"),
    ),
    *(
        _simulated(
            kind,
            KUEUE,
            ("v1beta2", "v1beta1", "v1alpha1"),
            f"{kind.lower()}s",
            namespaced=False,
            stacks=("kueue",),
        )
        for kind in ("MultiKueueConfig", "MultiKueueCluster")
    ),
    _core("Namespace", "namespaces", namespaced=False),
    _core("Node", "nodes", namespaced=False),
    _core("Pod", "pods"),
    _core("LimitRange", "limitranges"),
    _core("ResourceQuota", "resourcequotas"),
    _core("PersistentVolumeClaim", "persistentvolumeclaims"),
    _core("PersistentVolume", "persistentvolumes", namespaced=False),
    _simulated(
        "StorageClass", "storage.k8s.io", ("v1",), "storageclasses", namespaced=False
    ),
    *(
        _simulated(
            kind,
            "resource.k8s.io",
            ("v1", "v1beta2", "v1beta1"),
            plural,
            namespaced=kind.startswith("ResourceClaim"),
        )
        for kind, plural in (
            ("DeviceClass", "deviceclasses"),
            ("ResourceSlice", "resourceslices"),
            ("ResourceClaim", "resourceclaims"),
            ("ResourceClaimTemplate", "resourceclaimtemplates"),
        )
    ),
    _simulated("CSINode", "storage.k8s.io", ("v1",), "csinodes", namespaced=False),
    _simulated(
        "PriorityClass",
        "scheduling.k8s.io",
        ("v1",),
        "priorityclasses",
        namespaced=False,
    ),
    _simulated(
        "RuntimeClass", "node.k8s.io", ("v1",), "runtimeclasses", namespaced=False
    ),
    _simulated("Job", "batch", ("v1",), "jobs"),
    _simulated("CronJob", "batch", ("v1",), "cronjobs"),
    *_job_kinds(),
    _simulated(
        "ClusterTrainingRuntime",
        "trainer.kubeflow.org",
        ("v1alpha1",),
        "clustertrainingruntimes",
        namespaced=False,
    ),
    _simulated(
        "TrainingRuntime", "trainer.kubeflow.org", ("v1alpha1",), "trainingruntimes"
    ),
    _simulated("Deployment", "apps", ("v1",), "deployments"),
    _simulated("ReplicaSet", "apps", ("v1",), "replicasets"),
    _simulated("DaemonSet", "apps", ("v1",), "daemonsets"),
    _simulated("StatefulSet", "apps", ("v1",), "statefulsets"),
    _simulated("PodGroup", "scheduling.x-k8s.io", ("v1alpha1",), "podgroups"),
    _simulated("ElasticQuota", "scheduling.x-k8s.io", ("v1alpha1",), "elasticquotas"),
    # Their names are other groups' too: no plural, so that the API serves those.
    _simulated(
        "PodGroup.scheduling.k8s.io",
        "scheduling.k8s.io",
        ("v1alpha2", "v1alpha3", "v1beta1"),
        "",
    ),
    _simulated("Workload.scheduling.k8s.io", "scheduling.k8s.io", ("v1alpha1",), ""),
    _simulated("PodDisruptionBudget", "policy", ("v1",), "poddisruptionbudgets"),
    *(
        _simulated(
            kind,
            "admissionregistration.k8s.io",
            ("v1",),
            f"{kind.lower()}s",
            namespaced=False,
        )
        for kind in WEBHOOKS
    ),
    Kind(
        kind="ConfigMap",
        group="",
        versions=("v1",),
        plural="configmaps",
        level="kept",
        said=Kept.POLICY.said(),
        effect=Kept.POLICY.effect,
    ),
    _simulated("Change", "quotalab.dev", ("v1",), "changes", namespaced=False),
    _nodes(
        "NodeResourceTopology",
        "topology.node.k8s.io",
        ("v1alpha2", "v1alpha1"),
        "noderesourcetopologies",
    ),
    _nodes("NodeGroup", "quotalab.dev", ("v1",), "nodegroups"),
    _nodes("InstanceType", "quotalab.dev", ("v1",), "instancetypes"),
    _nodes("NodePool", "karpenter.sh", ("v1", "v1beta1"), "nodepools"),
    _configuration("Kueue", "kueue.openshift.io", ("v1", "v1alpha1")),
    _configuration("Configuration", "config.kueue.x-k8s.io", ("v1beta2", "v1beta1")),
    _configuration(
        "KubeSchedulerConfiguration",
        "kubescheduler.config.k8s.io",
        ("v1", "v1beta3", "v1beta2", "v1beta1"),
    ),
    _configuration("Policy", "quotalab.dev", ("v1",)),
    _configuration("Scenario", "quotalab.dev", ("v1",)),
    _configuration("Load", "quotalab.dev", ("v1",)),
    _kept("Service", "", "v1", "services", Kept.SERVES),
    _kept("ReplicationController", "", "v1", "replicationcontrollers", Kept.CONTROLLER),
    _kept("PodTemplate", "", "v1", "podtemplates", Kept.NO_PART),
    _kept("ControllerRevision", "apps", "v1", "controllerrevisions", Kept.NO_PART),
    _kept("ServiceAccount", "", "v1", "serviceaccounts", Kept.NO_PART),
    _kept("Secret", "", "v1", "secrets", Kept.NO_PART),
    _kept("Event", "", "v1", "events", Kept.NO_PART),
    _kept("Endpoints", "", "v1", "endpoints", Kept.NO_PART),
    _kept("ComponentStatus", "", "v1", "componentstatuses", Kept.NO_PART),
    _kept(
        "HorizontalPodAutoscaler",
        "autoscaling",
        "v2",
        "horizontalpodautoscalers",
        Kept.REPLICAS,
    ),
    _kept(
        "VerticalPodAutoscaler",
        "autoscaling.k8s.io",
        "v1",
        "verticalpodautoscalers",
        Kept.REQUESTS,
    ),
    _kept(
        "CSIStorageCapacity",
        "storage.k8s.io",
        "v1",
        "csistoragecapacities",
        Kept.STORAGE,
    ),
    _kept(
        "VolumeAttachment",
        "storage.k8s.io",
        "v1",
        "volumeattachments",
        Kept.ATTACHMENTS,
    ),
    _kept(
        "DeviceTaintRule",
        "resource.k8s.io",
        "v1alpha3",
        "devicetaintrules",
        Devices.TAINTS,
    ),
    _kept("CSIDriver", "storage.k8s.io", "v1", "csidrivers", Kept.NO_PART),
    _kept("Lease", "coordination.k8s.io", "v1", "leases", Kept.NO_PART),
    _kept("EndpointSlice", "discovery.k8s.io", "v1", "endpointslices", Kept.NO_PART),
    _kept("Ingress", "networking.k8s.io", "v1", "ingresses", Kept.NO_PART),
    _kept("IngressClass", "networking.k8s.io", "v1", "ingressclasses", Kept.NO_PART),
    _kept("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies", Kept.NO_PART),
    _kept("Role", "rbac.authorization.k8s.io", "v1", "roles", Kept.NO_PART),
    _kept(
        "RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings", Kept.NO_PART
    ),
    _kept(
        "ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", Kept.NO_PART
    ),
    _kept(
        "ClusterRoleBinding",
        "rbac.authorization.k8s.io",
        "v1",
        "clusterrolebindings",
        Kept.NO_PART,
    ),
    _kept(
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        Kept.NO_PART,
    ),
)

BY_KIND: dict[str, Kind] = {entry.kind: entry for entry in TABLE}
#: Versions of older clusters: not served, read as the newest one.
FORMER: dict[str, tuple[str, ...]] = {
    "Cohort": ("v1alpha1",),
    "CronJob": ("v1beta1",),
    "PodDisruptionBudget": ("v1beta1",),
    "PriorityClass": ("v1beta1", "v1alpha1"),
    "RuntimeClass": ("v1beta1", "v1alpha1"),
    "Topology": ("v1alpha1",),
}
#: Groups of older releases: read as kinds of the newer one.
FORMER_GROUPS: dict[tuple[str, str], str] = {
    ("Kueue", "operator.openshift.io"): "kueue.openshift.io",
    ("PodGroup", "scheduling.sigs.k8s.io"): "scheduling.x-k8s.io",
    ("ElasticQuota", "scheduling.sigs.k8s.io"): "scheduling.x-k8s.io",
}
GROUPS: frozenset[str] = frozenset(entry.group for entry in TABLE)


def split(api_version: str) -> tuple[str, str]:
    """Return (group, version) of an apiVersion; the core group is ""."""
    group, slash, version = api_version.rpartition("/")
    return (group, version) if slash else ("", api_version)
