"""Coscheduling: the pods of a group start together or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.pod_group import OLD_MINIMUM_LABEL, PodGroup, group_key
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Handle, Hint, Plugin, QueuedPodInfo
from scheduler.engine.kube.framework.status import (
    OK,
    Code,
    CycleState,
    Status,
    Verdicts,
    unresolvable,
    unschedulable,
)
from scheduler.model import amounts
from scheduler.model.amounts import is_whole
from scheduler.model.node import PODS
from scheduler.model.objects import Key
from scheduler.model.pod import OLD_GROUP_LABEL, Pod
from scheduler.model.registry import register

REJECTION = "optimistic rejection in PostFilter"
NO_GROUP = "can not find pod group"


class CoschedulingArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Seconds to wait at Permit, seconds a failed group backs off, and the share
    of missing pods (percent) up to which siblings may still try.
    """

    api_version: str = ""
    kind: str = ""
    permit_waiting_time_seconds: int = 60
    pod_group_backoff_seconds: int = 0
    pod_group_reject_percentage: int = 10


@register(
    "plugin",
    "Coscheduling",
    label="Gangs (Coscheduling)",
    help="Pods of a PodGroup wait at Permit, holding their nodes, until minMember "
    "of them have one; at the timeout all are rejected.",
    parameters=CoschedulingArgs,
)
class Coscheduling(Plugin):
    """All wait, then all bind: not atomic.

    Source: docs/semantics/kube-scheduler.md#coscheduling.
    """

    name = "Coscheduling"
    args_type = CoschedulingArgs
    changing_keys = True

    def __init__(self, args: CoschedulingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.assigned: dict[Key, dict[Key, None]] = {}
        self.permitted: dict[Key, int] = {}  # until this instant (ms)
        self.backed_off: dict[Key, int] = {}
        self.last_failure: dict[Key, int] = {}  # microseconds since the epoch

    # --- groups

    def group(self, pod: Pod) -> PodGroup | None:
        """Return the pod's group: the object, or what the older labels say.

        Source: docs/semantics/kube-scheduler.md#older-pod-group-labels.
        """
        key = group_key(pod)
        if key is None:
            return None
        found = self.handle.cluster.groups.get(key)
        if found is not None or OLD_GROUP_LABEL not in pod.labels:
            return found
        return self._by_labels(key)

    def _by_labels(self, key: Key) -> PodGroup | None:
        members = sorted(self.members(key), key=lambda pod: (pod.created_us, pod.key))
        if not members:
            return None
        minimum = members[0].labels.get(OLD_MINIMUM_LABEL, "")
        return PodGroup(
            key=key,
            min_member=int(minimum) if is_whole(minimum) else 1,
            created_us=members[0].created_us,
        )

    def members(self, key: Key) -> Iterable[Pod]:
        """Return every pod of the group that is known and not finished."""
        return self.handle.members(key)

    # --- queue

    def sort_key(self, queued: QueuedPodInfo) -> tuple[Any, ...]:
        """Return priority (high first), the group's time, then the name.

        Groups by the older labels are parted by their own name first, so that
        members stay together.
        """
        pod, group = queued.pod, self.group(queued.pod)
        if group is None:
            first = queued.first_us
            since = queued.timestamp_us if first is None else first
            return -pod.priority, since, "", pod.key.path
        since = self.last_failure.get(group.key, group.created_us)
        together = "" if group.key in self.handle.cluster.groups else group.key.path
        return -pod.priority, since, together, pod.key.path

    def hints(self) -> dict[str, Hint | None]:
        """Try again when any pod got a node, or a group came or changed."""
        return {
            plugin.POD_ADDED: None,
            plugin.GROUP_ADDED: None,
            plugin.GROUP_CHANGED: None,
        }

    # --- finding a node

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether the pod is of no group: time goes on for groups."""
        return self.group(pod) is None

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Reject while the group cannot be complete or cannot fit."""
        group = self.group(pod)
        problem = self._problem(pod, group) if group else ""
        return (unresolvable(problem) if problem else OK), None

    def _problem(self, pod: Pod, group: PodGroup) -> str:
        now = self.handle.context.now_ms
        if self.backed_off.get(group.key, -1) >= now:
            return f"podGroup {group.key.path} failed recently"
        members = list(self.members(group.key))
        missing = (
            f"pre-filter pod {pod.name} cannot find enough sibling pods, current pods "
            f"number: {{}}, minMember of group: {group.min_member}"
        )
        if len(members) < group.min_member:
            return missing.format(len(members))
        open_ones = sum(1 for member in members if not member.shape.gates)
        if open_ones < group.min_member:
            return missing.format(open_ones)
        if not group.min_resources or self.permitted.get(group.key, -1) >= now:
            return ""
        # What the whole cluster lacks for minResources and minMember pods.
        gap = {**group.min_resources, PODS: group.min_member}
        for node_info in self.handle.cluster.node_infos.values():
            own = [p for p in node_info.pods.values() if group_key(p) == group.key]
            for name in list(gap):
                gap[name] -= max(0, _free(node_info, name, own))
                if gap[name] <= 0:
                    del gap[name]
            if not gap:
                break
        if gap:
            return f"resource gap: {_gap_text(gap)}"
        self.permitted[group.key] = now + self._wait_ms(group)
        return ""

    def post_filter(
        self, state: CycleState, pod: Pod, verdicts: Verdicts
    ) -> tuple[Status, str | None]:
        """Give the group up unless it is nearly complete."""
        group = self.group(pod)
        if group is None:
            return unschedulable(NO_GROUP), None
        have = len(self.assigned.get(group.key, ()))
        if have >= group.min_member:
            return unschedulable(), None
        lacking = (group.min_member - have) / group.min_member
        if lacking <= self.args.pod_group_reject_percentage / 100:
            return unschedulable(), None
        self._reject_waiting(group.key, REJECTION)
        seconds = self.args.pod_group_backoff_seconds
        if seconds and len(list(self.members(group.key))) >= group.min_member:
            self._back_off(group.key, seconds)
        self._failed(group.key)
        return unschedulable(
            f"PodGroup {group.key.path} gets rejected due to Pod {pod.name} is "
            "unschedulable even after PostFilter"
        ), None

    def _reject_waiting(self, key: Key, reason: str) -> None:
        for other in list(self.handle.waiting()):
            if group_key(other) == key:
                self.handle.reject(other.key, self.name, reason)

    def _back_off(self, key: Key, seconds: int) -> None:
        now = self.handle.context.now_ms
        if self.backed_off.get(key, -1) < now:
            self.backed_off[key] = now + seconds * 1000

    def _failed(self, key: Key) -> None:
        self.permitted.pop(key, None)
        self.last_failure[key] = self.handle.context.now_us

    # --- taking the node

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status, int]:
        """Wait until minMember pods have a node; the last one lets all go."""
        key, group = group_key(pod), self.group(pod)
        if key is None:
            return OK, 0
        if group is None:
            return unschedulable("PodGroup not found"), 0
        names = self.assigned.setdefault(key, {})
        names[pod.key] = None
        if len(names) < group.min_member:
            if len(names) == 1:
                self.handle.activate(
                    member.key for member in self.members(key) if member.key != pod.key
                )
            return Status(Code.WAIT), self._wait_ms(group)
        for other in list(self.handle.waiting()):
            if group_key(other) == key:
                self.handle.allow(other.key, self.name)
        self.last_failure.pop(key, None)
        return OK, 0

    def standing(self, pod: Pod) -> tuple[int, int] | None:
        """Return how many members of a pod's group have a node, and how many it takes."""
        key, group = group_key(pod), self.group(pod)
        if key is None or group is None:
            return None
        return len(self.assigned.get(key, ())), group.min_member

    def _wait_ms(self, group: PodGroup) -> int:
        if group.timeout_ms:
            return group.timeout_ms
        return (self.args.permit_waiting_time_seconds or 60) * 1000

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Take the whole group down with the pod."""
        key = group_key(pod)
        if key is None or self.group(pod) is None:
            return
        self._unassign(key, pod.key)
        self._reject_waiting(key, "rejection in Unreserve")
        self._failed(key)

    def _unassign(self, key: Key, pod: Key) -> None:
        names = self.assigned.get(key)
        if names is not None:
            names.pop(pod, None)
            if not names:
                del self.assigned[key]

    def found_bound(self, pod: Pod) -> None:
        """Count a member that runs already as assigned, whoever bound it.

        Source: docs/semantics/kube-scheduler.md#members-that-already-run.
        """
        key = group_key(pod)
        if key is not None:
            self.assigned.setdefault(key, {})[pod.key] = None

    def forget(self, pod: Pod) -> None:
        """Note that a pod is gone."""
        key = group_key(pod)
        if key is not None:
            self._unassign(key, pod.key)

    # --- state

    def dump_state(self) -> Any:
        """Return the groups' state; what has run out is left out."""
        now = self.handle.context.now_ms
        return {
            "assigned": [
                [list(k), [list(p) for p in v]] for k, v in self.assigned.items()
            ],
            "permitted": _alive(self.permitted, now - 1),
            "backedOff": _alive(self.backed_off, now - 1),
            "lastFailure": _alive(self.last_failure, -1),
        }

    def load_state(self, state: Any) -> None:
        """Take the groups' state back."""
        self.assigned = {
            Key(*key): {Key(*pod): None for pod in pods}
            for key, pods in state["assigned"]
        }
        self.permitted = {Key(*key): at for key, at in state["permitted"]}
        self.backed_off = {Key(*key): at for key, at in state["backedOff"]}
        self.last_failure = {Key(*key): at for key, at in state["lastFailure"]}


def _alive(times: dict[Key, int], after: int) -> list[list[Any]]:
    return [[list(key), at] for key, at in times.items() if at > after]


def _free(node_info: NodeInfo, resource: str, own: list[Pod]) -> int:
    """Return what a node has left when the group's own pods are not counted."""
    if resource == PODS:
        return node_info.pod_limit - len(node_info.pods) + len(own)
    held = sum(pod.shape.requests.exact.get(resource, 0) for pod in own)
    return node_info.capacity(resource) - node_info.requested.get(resource, 0) + held


def _gap_text(gap: dict[str, int]) -> str:
    """Print the gap as Go prints a map of quantities."""
    parts = []
    for name in sorted(gap):
        binary = name in ("memory", "ephemeral-storage") or name.startswith(
            "hugepages-"
        )
        style = "BinarySI" if binary else "DecimalSI"
        scale = -3 if name == amounts.CPU else 0
        parts.append(f"{name}:{{{{{gap[name]} {scale}}} {{<nil>}}  {style}}}")
    return f"map[{' '.join(parts)}]"
