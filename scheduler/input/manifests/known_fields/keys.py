"""Keys of labels and annotations that a system obeys, and those close to one.

Source: <https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/>
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.annotations import KNOWN, PREFIX

_KUEUE = """admission-gated-by allowed-resource-flavor cluster-queue-name
    component-workload-index concurrent-admission-parent default-queue elastic-job
    ignore is-group-workload job-completions-equal-parallelism job-min-parallelism
    job-owner-gvk job-owner-name job-uid local-queue-name managed
    max-exec-time-seconds multikueue-origin performance-scheduler-class
    pod-group-fast-admission pod-group-name pod-group-pod-index
    pod-group-pod-index-label pod-group-serving pod-group-total-count
    pod-index-label pod-index-offset pod-suspending-parent podset
    podset-group-name podset-preferred-topology podset-required-topology
    podset-slice-required-topology podset-slice-required-topology-constraints
    podset-slice-size podset-topology-spreading podset-unconstrained-topology
    prebuilt-workload-name priority-boost priority-class queue-name
    retriable-in-group role-hash safe-to-forcefully-terminate stopping tas topology
    workload workload-slice-name workload-slice-replacement-for"""
_YUNIKORN = """allow-preemption app-id namespace.guaranteed namespace.max
    namespace.max.cpu namespace.max.memory namespace.maxApps namespace.quota original-pod-info parentqueue placeholder queue
    scheduled-generation schedulingPolicyParameters scheduling-policy-parameters
    task-group-name task-groups user.info username ignore-application update-node-labels"""
#: Groups that are known whole: another key of them is obeyed by nobody.
_GROUPS: Mapping[str, str] = {
    "kueue.x-k8s.io/": _KUEUE,
    "yunikorn.apache.org/": _YUNIKORN,
    "scheduling.x-k8s.io/": "pod-group",
}
#: Our own: another key of ours is refused where timing is read.
_OURS = (*KNOWN, PREFIX + "node-group")
#: How alike a key of another prefix must be to one that is obeyed.
_ALIKE = 0.9


@functools.cache
def _known() -> frozenset[str]:
    theirs = (prefix + name for prefix in _GROUPS for name in _GROUPS[prefix].split())
    return frozenset((*theirs, *_OURS))


def unknown_keys(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (labels or annotations, key, nearest key or "") of keys nobody obeys."""
    for part in ("labels", "annotations"):
        given = metadata.get(part)
        for key in given if isinstance(given, dict) else ():
            if "/" in key and (near := nearest_key(key)) is not None:
                yield part, key, near


@functools.lru_cache(maxsize=4096)
def nearest_key(key: str) -> str | None:
    """Return the key that was meant, "" if none is near; None where nothing is wrong."""
    if key in _known():
        return None
    whole = key.startswith(tuple(_GROUPS))
    alike = 0.6 if whole else _ALIKE
    near = difflib.get_close_matches(key, sorted(_known()), n=1, cutoff=alike)
    if near:
        return near[0]
    return "" if whole else None
