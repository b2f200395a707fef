"""What of an object is written: the fields that decisions read, and no other.

Every kind that is followed has a tree of the fields that are kept; a field that
no tree names is not written, so that a new one cannot give a secret away.
The list is in docs/recording.md#what-is-read-and-never-written.
"""

from __future__ import annotations

from typing import Any

from scheduler.model.schemas import KUEUE, fields_of
from scheduler.recorded.qrec.kept_pods import (
    ALL,
    CONDITIONS,
    METADATA,
    TEMPLATE,
    Tree,
    fields,
)
from scheduler.recorded.qrec.kept_pods import keep as _keep
from scheduler.recorded.qrec.kept_work import WORK

Manifest = dict[str, Any]


def slim(manifest: Manifest) -> Manifest:
    """Return what is written of an object. Cost: that of the object's size.

    Of a kind that is not followed it is what it is called; of a ConfigMap its texts
    in YAML, as the schedulers' settings are.
    """
    found: Manifest = _keep(manifest, KEPT.get(str(manifest.get("kind")), _NAMED))
    return found


def _texts(given: Any) -> Any:
    return {
        name: text
        for name, text in (given or {}).items()
        if name.endswith((".yaml", ".yml"))
    }


def _of_kueue(path: str, **deeper: Tree) -> dict[str, Tree]:
    """Return a tree that keeps all fields of a type of Kueue, some by their trees."""
    names = (
        name
        for version in ("v1beta2", "v1beta1")
        for name in fields_of(f"{KUEUE}.{version}.{path}")
    )
    return {**dict.fromkeys(names, ALL), **deeper}


_NAMED: Tree = fields("apiVersion kind", metadata=METADATA)
_PLAIN: Tree = fields("apiVersion kind spec status", metadata=METADATA)
_NODE = fields("taints unschedulable")
_NODE_STATUS = fields("capacity allocatable images", conditions=CONDITIONS)
_WORKLOAD = _of_kueue(
    "Workload.spec", podSets=_of_kueue("Workload.spec.podSets", template=TEMPLATE)
)
#: Other parameters are the cloud provider's own.
_PARAMETERS = fields("ValidUntilSeconds")
_PROVISIONING = fields("provisioningClassName podSets", parameters=_PARAMETERS)
_PROVISIONING_CONFIG = _of_kueue(
    "ProvisioningRequestConfig.spec", parameters=_PARAMETERS
)
_NODE_POOL = fields(
    "disruption limits weight replicas",
    template=fields(
        "",
        metadata=METADATA,
        spec=fields(
            "taints startupTaints requirements expireAfter nodeClassRef "
            "terminationGracePeriod"
        ),
    ),
)
_CLAIM = fields("accessModes resources storageClassName volumeMode volumeName selector")
_VOLUME = fields(
    "capacity accessModes storageClassName volumeMode nodeAffinity",
    claimRef=fields("namespace name uid"),
    csi=fields("driver volumeHandle"),
)
#: Kind -> the tree of what is kept of it.
KEPT: dict[str, Tree] = {
    **WORK,
    **dict.fromkeys(
        (
            "ResourceFlavor",
            "Topology",
            "Cohort",
            "ClusterQueue",
            "LocalQueue",
            "AdmissionCheck",
            "LimitRange",
            "ResourceQuota",
            "Namespace",
            "PodGroup",
            "ElasticQuota",
            "PodDisruptionBudget",
            "MultiKueueConfig",
        ),
        _PLAIN,
    ),
    # Its spec says where a kubeconfig lies.
    "MultiKueueCluster": fields("apiVersion kind status", metadata=METADATA),
    "ProvisioningRequestConfig": fields(
        "apiVersion kind", metadata=METADATA, spec=_PROVISIONING_CONFIG
    ),
    "ProvisioningRequest": fields(
        "apiVersion kind status", metadata=METADATA, spec=_PROVISIONING
    ),
    "NodePool": fields("apiVersion kind status", metadata=METADATA, spec=_NODE_POOL),
    "Workload": fields("apiVersion kind status", metadata=METADATA, spec=_WORKLOAD),
    "WorkloadPriorityClass": fields("apiVersion kind value", metadata=METADATA),
    "PriorityClass": fields(
        "apiVersion kind value globalDefault preemptionPolicy", metadata=METADATA
    ),
    "RuntimeClass": fields("apiVersion kind overhead scheduling", metadata=METADATA),
    "PersistentVolumeClaim": fields(
        "apiVersion kind", metadata=METADATA, spec=_CLAIM, status=fields("phase")
    ),
    "PersistentVolume": fields(
        "apiVersion kind", metadata=METADATA, spec=_VOLUME, status=fields("phase")
    ),
    "StorageClass": fields(
        "apiVersion kind provisioner volumeBindingMode allowedTopologies",
        metadata=METADATA,
    ),
    "CSINode": fields("apiVersion kind spec", metadata=METADATA),
    "NodeResourceTopology": fields(
        "apiVersion kind attributes topologyPolicies zones", metadata=METADATA
    ),
    **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate"), _PLAIN),
    **dict.fromkeys(("DeviceClass", "ResourceSlice"), _PLAIN),
    "Node": fields(
        "apiVersion kind", metadata=METADATA, spec=_NODE, status=_NODE_STATUS
    ),
    "ConfigMap": fields("apiVersion kind", metadata=METADATA, data=_texts),
}
