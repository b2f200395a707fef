"""The queues of a trace that comes alone: one ClusterQueue of the machine's size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler.traces.swf import Trace

ONE_QUEUE = "trace"
_API = "kueue.x-k8s.io/v1beta2"


def size_of(trace: Trace) -> int:
    """Return how many processors the machine has: by the header, or its largest job."""
    return trace.processors or max(job.processors or 1 for job in trace.jobs)


def queue_manifests(
    trace: Trace, names: Iterable[str], *, cpu: str
) -> Iterator[dict[str, Any]]:
    """Yield a flavor, a ClusterQueue of `cpu` per processor, its LocalQueues."""
    yield _manifest("ResourceFlavor", ONE_QUEUE, {})
    quota = {"name": "cpu", "nominalQuota": str(size_of(trace) * int(cpu))}
    flavor = {"name": ONE_QUEUE, "resources": [quota]}
    groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups}
    yield _manifest("ClusterQueue", ONE_QUEUE, spec)
    for name in names:
        made = _manifest("LocalQueue", name, {"clusterQueue": ONE_QUEUE})
        made["metadata"]["namespace"] = "default"
        yield made


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}
