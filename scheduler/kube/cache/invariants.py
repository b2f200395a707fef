"""What must hold of a scheduler's view: sums and columns are what the pods say."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.kube.cache.cluster import ClusterCache
from scheduler.kube.cache.node_info import NodeInfo


def sum_violations(cluster: ClusterCache) -> Iterator[str]:
    """Yield a sentence for every sum kept by deltas that a recount refutes."""
    node_table = cluster.node_table
    for row, node_info in enumerate(node_table.node_infos):
        again = NodeInfo(node_info.node, row)
        for pod in node_info.pods.values():
            again.add(pod)
        name = node_info.node.name
        kept = {k: v for k, v in node_info.requested.items() if v}
        if kept != {k: v for k, v in again.requested.items() if v}:
            yield f"node {name}: requested is {kept}, its pods hold {again.requested}"
        if node_info.ports != again.ports:
            yield f"node {name}: ports are {node_info.ports}, its pods hold {again.ports}"
        if int(node_table.pod_count[row]) != len(node_info.pods):
            yield f"node {name}: column counts {node_table.pod_count[row]} pods"
        if int(node_table.assumed_cpu[row]) != again.assumed_cpu:
            yield f"node {name}: cpu column is {node_table.assumed_cpu[row]}"
        for resource, amount in kept.items():
            if int(node_table.requested(resource)[row]) != amount:
                yield f"node {name}: {resource} column is not {amount}"
