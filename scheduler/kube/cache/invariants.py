"""What must hold of a scheduler's view: sums and columns are what the pods say."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.kube.cache.cluster import Cluster
from scheduler.kube.cache.node_info import Host


def broken_sums(cluster: Cluster) -> Iterator[str]:
    """Yield a sentence for every sum kept by deltas that a recount refutes."""
    columns = cluster.columns
    for row, host in enumerate(columns.hosts):
        again = Host(host.node, row)
        for pod in host.pods.values():
            again.add(pod)
        name = host.node.name
        kept = {k: v for k, v in host.requested.items() if v}
        if kept != {k: v for k, v in again.requested.items() if v}:
            yield f"node {name}: requested is {kept}, its pods hold {again.requested}"
        if host.ports != again.ports:
            yield f"node {name}: ports are {host.ports}, its pods hold {again.ports}"
        if int(columns.pod_count[row]) != len(host.pods):
            yield f"node {name}: column counts {columns.pod_count[row]} pods"
        if int(columns.assumed_cpu[row]) != again.assumed_cpu:
            yield f"node {name}: cpu column is {columns.assumed_cpu[row]}"
        for resource, amount in kept.items():
            if int(columns.requested(resource)[row]) != amount:
                yield f"node {name}: {resource} column is not {amount}"
