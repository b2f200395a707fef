"""Groups of the in-tree gang scheduling: what a pod names, and how many must start.

Source: docs/semantics/kube-scheduler.md#gang-scheduling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model.objects import Key
from scheduler.model.pod import Pod

#: Kinds of scheduling.k8s.io whose names other groups have too.
POD_GROUP = "PodGroup.scheduling.k8s.io"
WORKLOAD = "Workload.scheduling.k8s.io"
KINDS = (POD_GROUP, WORKLOAD)

#: A group's policy: at least so many pods together, or (None) each by itself.
Policy = int | None


def gang_key(pod: Pod) -> Key | None:
    """Return the key of a pod's gang; None for a pod without one.

    A pod group of a Workload is one gang for each replica key.
    """
    named = pod.shape.gang
    if named is None:
        return None
    if not named.workload:
        return Key(POD_GROUP, pod.namespace, named.group)
    path = f"{named.workload}/{named.group}/{named.replica}"
    return Key(WORKLOAD, pod.namespace, path)


class Gangs:
    """The policies of PodGroups, and of the pod groups in Workloads."""

    def __init__(self) -> None:
        self.groups: dict[Key, Policy] = {}
        self.workloads: dict[Key, dict[str, Policy]] = {}

    def put(self, key: Key, spec: Mapping[str, Any]) -> bool:
        """Take an object; return whether it is new."""
        added = key not in self.groups and key not in self.workloads
        if key.kind == POD_GROUP:
            self.groups[key] = _policy(spec.get("schedulingPolicy"))
        else:
            self.workloads[key] = {
                str(item.get("name")): _policy(item.get("policy"))
                for item in spec.get("podGroups") or ()
            }
        return added

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.groups.pop(key, None)
        self.workloads.pop(key, None)

    def policy(self, pod: Pod) -> tuple[Policy, str]:
        """Return the policy of a pod's gang, or what it waits for."""
        named = pod.shape.gang
        if named is None:
            return None, ""
        if not named.workload:
            key = Key(POD_GROUP, pod.namespace, named.group)
            if key in self.groups:
                return self.groups[key], ""
            return None, _waiting("pod group", named.group)
        workload = self.workloads.get(Key(WORKLOAD, pod.namespace, named.workload))
        if workload is None:
            return None, _waiting("workload", named.workload)
        if named.group in workload:
            return workload[named.group], ""
        return None, (
            f'pod group "{named.group}" doesn\'t exist for a workload '
            f'"{named.workload}"'
        )


def _policy(given: Any) -> Policy:
    gang = (given or {}).get("gang")
    return None if gang is None else int(gang.get("minCount") or 1)


def _waiting(what: str, name: str) -> str:
    return f'waiting for pods\'s {what} "{name}" to appear in scheduling queue'
