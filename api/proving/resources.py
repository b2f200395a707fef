"""Where the objects of a script are in a Kubernetes API."""

from __future__ import annotations

from dataclasses import dataclass

QUEUES = "kueue.x-k8s.io/v1beta2"
#: Kind to API version and plural.
RESOURCES = {
    "Namespace": ("v1", "namespaces"),
    "Node": ("v1", "nodes"),
    "Pod": ("v1", "pods"),
    "ConfigMap": ("v1", "configmaps"),
    "LimitRange": ("v1", "limitranges"),
    "ResourceQuota": ("v1", "resourcequotas"),
    "PriorityClass": ("scheduling.k8s.io/v1", "priorityclasses"),
    "RuntimeClass": ("node.k8s.io/v1", "runtimeclasses"),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets"),
    "Job": ("batch/v1", "jobs"),
    "CronJob": ("batch/v1", "cronjobs"),
    "Deployment": ("apps/v1", "deployments"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "ResourceFlavor": (QUEUES, "resourceflavors"),
    "ClusterQueue": (QUEUES, "clusterqueues"),
    "Cohort": (QUEUES, "cohorts"),
    "LocalQueue": (QUEUES, "localqueues"),
    "Workload": (QUEUES, "workloads"),
    "WorkloadPriorityClass": (QUEUES, "workloadpriorityclasses"),
    "AdmissionCheck": (QUEUES, "admissionchecks"),
    "Topology": (QUEUES, "topologies"),
}
#: Kinds without a namespace.
OF_CLUSTER = frozenset(
    {
        "Namespace",
        "Node",
        "PriorityClass",
        "RuntimeClass",
        "ResourceFlavor",
        "ClusterQueue",
        "Cohort",
        "WorkloadPriorityClass",
        "AdmissionCheck",
        "Topology",
    }
)
DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One object, or all of a kind, in a Kubernetes API.

    Without a `name` it is the list of a namespace; without a `namespace` that of all.
    `version` is the API version where it is not the one in RESOURCES.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    sub: str = ""
    version: str = ""

    @property
    def path(self) -> str:
        """Return the path of a request."""
        known, plural = RESOURCES[self.kind]
        version = self.version or known
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        if self.namespace and self.kind not in OF_CLUSTER:
            root += f"/namespaces/{self.namespace}"
        return "/".join(
            part for part in (f"{root}/{plural}", self.name, self.sub) if part
        )
