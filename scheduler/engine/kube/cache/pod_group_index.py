"""Which pods carry the label of which group, or name it."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.kube.cache.gangs import gang_key
from scheduler.engine.kube.cache.pod_group import (
    FORMER_GROUP_LABEL,
    GROUP_LABEL,
    OLD_GROUP_LABEL,
)
from scheduler.model.objects import Key
from scheduler.model.pod import Pod


def group_key(pod: Pod) -> Key | None:
    """Return the key of the pod's group, by the label or by an older one."""
    name = (
        pod.labels.get(GROUP_LABEL)
        or pod.labels.get(FORMER_GROUP_LABEL)
        or pod.labels.get(OLD_GROUP_LABEL)
    )
    return Key("PodGroup", pod.namespace, name) if name else None


class PodGroupIndex:
    """The known, unfinished pods of every group, in key order when asked."""

    def __init__(self) -> None:
        self._of: dict[Key, dict[Key, Pod]] = {}
        self._groups: dict[Key, list[Key]] = {}

    def put(self, pod: Pod) -> None:
        """Take a pod, or what changed of it."""
        self.remove(pod)
        groups = [key for key in (group_key(pod), gang_key(pod)) if key is not None]
        for group in groups:
            self._of.setdefault(group, {})[pod.key] = pod
        if groups:
            self._groups[pod.key] = groups

    def remove(self, pod: Pod) -> None:
        """Forget a pod."""
        for group in self._groups.pop(pod.key, ()):
            del self._of[group][pod.key]
            if not self._of[group]:
                del self._of[group]

    def of(self, group: Key) -> Iterable[Pod]:
        """Return the pods of a group."""
        pods = self._of.get(group, {})
        return [pods[key] for key in sorted(pods)]
