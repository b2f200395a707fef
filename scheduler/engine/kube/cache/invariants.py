"""What must hold of a scheduler's view: sums, columns, indexes are what the pods say."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kube.cache.cluster import ClusterCache, TermClass
from scheduler.engine.kube.cache.node_info import NodeInfo


def sum_violations(cluster: ClusterCache) -> Iterator[str]:
    """Yield a sentence for every sum and index kept by deltas that a recount refutes."""
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
    yield from _index_violations(cluster)


def _index_violations(cluster: ClusterCache) -> Iterator[str]:
    """Yield a sentence for every index of placed pods that placing them anew refutes."""
    fresh = ClusterCache()
    for pod, node in cluster.placed.values():
        fresh.place(pod, node)
    indexes = {
        "priorities": (cluster.priorities, fresh.priorities),
        "pods by labels": (cluster.by_labels, fresh.by_labels),
        "pods with terms": (_owners(cluster), _owners(fresh)),
    }
    for name, (kept, counted) in indexes.items():
        if kept != counted:
            yield f"{name} are {kept}, the placed pods say {counted}"


def _owners(cluster: ClusterCache) -> dict[TermClass, dict[str, int]]:
    return {owners: nodes for owners, (_, nodes) in cluster.with_terms.items()}
