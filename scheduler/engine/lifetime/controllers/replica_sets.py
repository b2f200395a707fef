"""ReplicaSet: so many pods, each for itself.

Source: docs/semantics/controllers.md#replicaset.
"""

from __future__ import annotations

import copy
from typing import Any

from scheduler.engine.lifetime.controllers.deployments import REPLICA_SET, ours
from scheduler.engine.lifetime.pods import POD_SET, make_pod
from scheduler.engine.lifetime.taint_eviction import TaintEviction
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import PREFIX
from scheduler.model.conditions import has_ended
from scheduler.model.objects import Object
from scheduler.model.pod_defaults import default_pod_spec


def sync_replica_set(
    lifetime: TaintEviction, replica_set: Object, pods: list[Object]
) -> None:
    """Make the pods that are missing, or delete those that are too many."""
    wanted = int(replica_set.spec.get("replicas", 1))
    active = active_pods(lifetime, pods)
    for _ in range(wanted - len(active)):
        if not make_owned_pod(lifetime, replica_set, {}):
            break
    else:
        lifetime.jobs.has_its_pods(replica_set)
    # Those without a node go first, then the newest.
    active.sort(key=lambda pod: (pod.key in lifetime.placed, -_age(pod)))
    for pod in active[: max(0, len(active) - wanted)]:
        lifetime.terminate(pod.key)


def active_pods(lifetime: TaintEviction, pods: list[Object]) -> list[Object]:
    """Return the pods that count: neither ended nor being deleted."""
    return [
        pod
        for pod in pods
        if not has_ended(pod.status)
        and pod.key not in lifetime.terminating
        and not pod.metadata.get("deletionTimestamp")
    ]


def make_owned_pod(
    lifetime: TaintEviction, owner: Object, spec: dict[str, Any]
) -> bool:
    """Put a pod of the owner's template, with these fields; False when refused."""
    template = copy.deepcopy(owner.spec["template"])
    template["spec"].update(spec)
    default_pod_spec(template["spec"])
    pod_set = {"name": "pod", "template": template}
    ordinal = lifetime.next_ordinal(owner.key)
    pod = make_pod(owner, pod_set, ordinal, node_selector={}, tolerations=[])
    del pod.metadata["labels"][POD_SET]
    if owner.key.kind == REPLICA_SET:
        pod.metadata["annotations"] |= ours(owner) | _timed(template)
    delay = lifetime.jobs.held_by_quota(owner, pod)
    if delay is not None:
        lifetime.jobs.sync_again(owner.key, lifetime.context.now_ms + delay)
        return False
    return lifetime.jobs.put_admitted(pod)


def _timed(template: dict[str, Any]) -> dict[str, str]:
    """Return what a pod template says of the time of its pods."""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return {n: v for n, v in annotations.items() if n.startswith(PREFIX)}


def _age(pod: Object) -> int:
    """Return the number of a pod that was made here; one that came is older."""
    number = pod.key.name.rpartition("-")[2]
    return int(number) if is_whole(number) else 0
