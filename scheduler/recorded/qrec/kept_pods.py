"""The fields of metadata, pods and their templates that are written.

A tree names what is kept of an object: a field of it is kept as it is (`ALL`), by
the tree below it, or by a function. `EACH` stands for every name, as in a map of
roles. What a tree does not name is never written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Tree: TypeAlias = "Callable[[Any], Any] | Mapping[str, Tree] | None"
#: Kept as it is.
ALL: Final = None
EACH = "*"

#: Annotations of these domains and of what is below them are kept.
_DOMAINS = (
    "kueue.x-k8s.io",
    "yunikorn.apache.org",
    "scheduling.x-k8s.io",
    "scheduling.sigs.k8s.io",
    "scheduling.k8s.io",
    "batch.kubernetes.io",
    "jobset.sigs.k8s.io",
    "leaderworkerset.sigs.k8s.io",
    "quotalab.dev",
)
_ANNOTATIONS = (
    "ray.io/ft-enabled",
    "resource.kubernetes.io/pod-claim-name",
    "pv.kubernetes.io/bind-completed",
    "volume.kubernetes.io/selected-node",
    "storageclass.kubernetes.io/is-default-class",
    "karpenter.sh/do-not-disrupt",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled",
)


def keep(given: Any, tree: Tree) -> Any:
    """Return what a tree keeps of a value. Cost: that of its size.

    Lists are gone through; a text where the tree expects an object is left out.
    """
    if tree is ALL:
        return given
    if callable(tree):
        return tree(given)
    if isinstance(given, list):
        return [keep(item, tree) for item in given]
    if not isinstance(given, dict):
        return None
    every = EACH in tree
    return {
        name: keep(part, tree[name] if name in tree else tree[EACH])
        for name, part in given.items()
        if every or name in tree
    }


def fields(names: str, **deeper: Tree) -> dict[str, Tree]:
    """Return a tree that keeps these names as they are, and others by their trees."""
    return {**dict.fromkeys(names.split(), ALL), **deeper}


def _annotations(given: Any) -> Any:
    return {name: text for name, text in (given or {}).items() if _is_read(name)}


def _is_read(annotation: str) -> bool:
    domain = annotation.partition("/")[0]
    return annotation in _ANNOTATIONS or any(
        domain == kept or domain.endswith(f".{kept}") for kept in _DOMAINS
    )


METADATA = fields(
    "name generateName namespace uid resourceVersion generation creationTimestamp "
    "deletionTimestamp deletionGracePeriodSeconds labels ownerReferences",
    annotations=_annotations,
)
CONDITIONS = fields(
    "type status reason message observedGeneration lastTransitionTime lastProbeTime "
    "lastUpdateTime"
)
_STATE = fields("", running=fields("startedAt"), waiting=fields("reason")) | {
    "terminated": fields("exitCode reason startedAt finishedAt")
}
_CONTAINER_STATUS = fields(
    "name ready started restartCount allocatedResources resources",
    state=_STATE,
    lastState=_STATE,
)
_CONTAINER = fields(
    "name image resources resizePolicy restartPolicy",
    ports=fields("name containerPort hostPort hostIP protocol"),
)
#: Sources of volumes that decide where a pod can run; of others the name is kept.
_CLAIM = fields("accessModes resources storageClassName volumeMode")
_VOLUME = fields(
    "name persistentVolumeClaim",
    csi=fields("driver readOnly"),
    ephemeral=fields("", volumeClaimTemplate=fields("", spec=_CLAIM)),
)
POD_SPEC = fields(
    "nodeName nodeSelector affinity tolerations schedulerName priority os "
    "priorityClassName preemptionPolicy overhead runtimeClassName resources "
    "topologySpreadConstraints schedulingGates restartPolicy hostNetwork "
    "terminationGracePeriodSeconds activeDeadlineSeconds serviceAccountName "
    "resourceClaims workloadRef schedulingGroup",
    containers=_CONTAINER,
    initContainers=_CONTAINER,
    ephemeralContainers=_CONTAINER,
    volumes=_VOLUME,
)
POD_STATUS = fields(
    "phase reason startTime nominatedNodeName qosClass resize observedGeneration",
    conditions=CONDITIONS,
    containerStatuses=_CONTAINER_STATUS,
    initContainerStatuses=_CONTAINER_STATUS,
    ephemeralContainerStatuses=_CONTAINER_STATUS,
)
TEMPLATE = fields("", metadata=METADATA, spec=POD_SPEC)
