"""GangScheduling: pods of a gang enter the queue together, and are bound together."""

from __future__ import annotations

from scheduler.engine.kube.cache.pod_group import Policy, gang_key
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    Code,
    CycleState,
    Status,
    error,
    unresolvable,
)
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register

TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
WAITING = "waiting for minCount pods from a gang to be scheduled"
_WAIT_MS = 5 * 60 * 1000


@register(
    "plugin",
    "GangScheduling",
    label="Gangs (in-tree)",
    help="Holds pods of a PodGroup or Workload of scheduling.k8s.io back until "
    "minCount of them exist, and at Permit until minCount have a node.",
)
class GangScheduling(Plugin):
    """Source: docs/semantics/kube-scheduler.md#gang-scheduling."""

    name = "GangScheduling"

    def pre_enqueue(self, pod: Pod) -> Status:
        """Hold a pod back until its group and enough members exist."""
        if pod.shape.gang is None:
            return OK
        minimum, problem = self._policy(pod)
        if problem:
            return unresolvable(problem)
        if minimum is not None and len(self._members(pod)) < minimum:
            return unresolvable(TOO_FEW)
        return OK

    def _policy(self, pod: Pod) -> tuple[Policy, str]:
        return self.handle.cluster.gangs.policy(pod)

    def _members(self, pod: Pod) -> list[Pod]:
        key = gang_key(pod)
        return [] if key is None else list(self.handle.members(key))

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status, int]:
        """Wait until minCount members have a node; the last one lets all go."""
        if pod.shape.gang is None:
            return OK, 0
        minimum, problem = self._policy(pod)
        if problem:
            return error(problem), 0
        if minimum is None:
            return OK, 0
        members, placed = self._members(pod), self.handle.cluster.placed
        missing = [member.key for member in members if member.key not in placed]
        if len(members) - len(missing) < minimum:
            self.handle.activate(missing)
            return Status(Code.WAIT, (WAITING,)), _WAIT_MS
        own = gang_key(pod)
        for other in list(self.handle.waiting()):
            if gang_key(other) == own:
                self.handle.allow(other.key, self.name)
        return OK, 0

    def standing(self, pod: Pod) -> tuple[int, int] | None:
        """Return how many members of a pod's gang have a node, and how many it takes."""
        minimum, problem = self._policy(pod)
        if pod.shape.gang is None or problem or minimum is None:
            return None
        placed = self.handle.cluster.placed
        return sum(one.key in placed for one in self._members(pod)), minimum

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a member or the group comes, or the group changes."""
        return {
            plugin.PENDING_ADDED: _same_gang,
            plugin.POD_ADDED: _same_gang,
            plugin.GANG_ADDED: _own_group,
            plugin.GANG_CHANGED: _own_group,
        }


def _same_gang(pod: Pod, event: Event) -> bool:
    if pod.shape.gang is None:
        return False
    return gang_key(event.pod) == gang_key(pod)


def _own_group(pod: Pod, event: Event) -> bool:
    named, key = pod.shape.gang, event.new
    assert isinstance(key, Key)
    if named is None or key.namespace != pod.namespace:
        return False
    return key.name == (named.workload or named.group)
