"""What happens in the cluster that may make a waiting pod schedulable."""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler.model.node import Node
from scheduler.model.pod import Pod

POD_ADDED = "AssignedPodAdd"
POD_CHANGED = "AssignedPodUpdate"
POD_DELETED = "AssignedPodDelete"
PENDING_ADDED = "UnscheduledPodAdd"
PENDING_DELETED = "UnscheduledPodDelete"
NODE_ADDED = "NodeAdd"
NODE_CHANGED = "NodeUpdate"
NODE_DELETED = "NodeDelete"
GROUP_ADDED = "PodGroupAdd"
GROUP_CHANGED = "PodGroupUpdate"
NODE_UNLOCKED = "NodeUnlock"  # ours: only under pessimistic locking
CLAIM_ADDED = "PersistentVolumeClaimAdd"
CLAIM_CHANGED = "PersistentVolumeClaimUpdate"
VOLUME_ADDED = "PersistentVolumeAdd"
VOLUME_CHANGED = "PersistentVolumeUpdate"
CLASS_ADDED = "StorageClassAdd"
CLASS_CHANGED = "StorageClassUpdate"
CSI_NODE_ADDED = "CSINodeAdd"
CSI_NODE_CHANGED = "CSINodeUpdate"
DEVICE_CLAIM_ADDED = "ResourceClaimAdd"
DEVICE_CLAIM_CHANGED = "ResourceClaimUpdate"
DEVICE_CLASS_ADDED = "DeviceClassAdd"
DEVICE_CLASS_CHANGED = "DeviceClassUpdate"
SLICE_ADDED = "ResourceSliceAdd"
SLICE_CHANGED = "ResourceSliceUpdate"
GANG_ADDED = "GangAdd"  # a PodGroup or Workload of scheduling.k8s.io
GANG_CHANGED = "GangUpdate"
QUOTA_CHANGED = "ElasticQuotaUpdate"  # or added, or deleted
TOPOLOGY_CHANGED = "NodeResourceTopologyUpdate"  # or added, or deleted
NAMESPACE_CHANGED = "NamespaceUpdate"


class Event(NamedTuple):
    """One event: its name, and the object as it was and as it is."""

    name: str
    old: Any = None
    new: Any = None

    @property
    def node(self) -> Node:
        """Return the node as it is now."""
        node: Node = self.new
        return node

    @property
    def old_node(self) -> Node | None:
        """Return the node as it was; None when it was added."""
        node: Node | None = self.old
        return node

    @property
    def pod(self) -> Pod:
        """Return the pod the event is about."""
        pod: Pod = self.new if self.new is not None else self.old
        return pod
