"""Pods that wait for a volume or a device, which no further node brings."""

from __future__ import annotations

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.volumes.matching import waits
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.storage.claims import ONCE_POD


def held_back(cluster: ClusterCache, pod: Pod) -> bool:
    """Return whether a pod waits for its claims, so that no group grows for it.

    Devices come with ResourceSlices, which a node that is ordered does not have.
    """
    volumes = (source.key(pod.namespace, pod.name) for source in pod.shape.claims)
    return any(_lacks_volume(cluster, key) for key in volumes) or any(
        key not in cluster.devices.allocated for key in cluster.devices.claim_keys(pod)
    )


def _lacks_volume(cluster: ClusterCache, key: Key) -> bool:
    known = cluster.volumes
    claim = known.claims.get(key)
    if claim is None or (ONCE_POD in claim.modes and key in cluster.claim_users):
        return True
    return key not in known.bound and not waits(known, claim)
