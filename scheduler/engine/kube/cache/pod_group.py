"""PodGroup and PodDisruptionBudget as placement reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.durations import stamp_or_none
from scheduler.model.node import CPU, MEMORY, PODS, STORAGE
from scheduler.model.objects import Key
from scheduler.model.pod import GANG_LABELS, Pod
from scheduler.model.selectors import Selector, read_selector

OLD_MINIMUM_LABEL = "pod-group.scheduling.sigs.k8s.io/min-available"


class PodGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of pods that is to run together."""

    key: Key
    min_member: int = 1
    min_resources: dict[str, int] = {}
    timeout_ms: int | None = None  # how long a member waits at Permit
    created_us: int = 0


class PodDisruptionBudget(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How many pods of a selection may be disrupted now."""

    key: Key
    selector: Selector
    allowed: int | None = None  # as its status says; None: counted when asked
    minimum: int | str | None = None  # pods, or "50%" of them
    maximum: int | str | None = None
    disrupted: frozenset[str] = frozenset()


def read_group(manifest: Mapping[str, Any], namespace: str) -> PodGroup:
    """Return the PodGroup of a scheduling.x-k8s.io document."""
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    seconds = spec.get("scheduleTimeoutSeconds")
    created = metadata.get("creationTimestamp")
    return PodGroup(
        key=Key("PodGroup", namespace, str(metadata["name"])),
        min_member=int(spec.get("minMember") or 0),
        min_resources={
            name: amounts.canonical(name, value)
            for name, value in (spec.get("minResources") or {}).items()
        },
        timeout_ms=None if seconds is None else int(seconds) * 1000,
        created_us=stamp_or_none(created) or 0,
    )


def read_budget(
    manifest: Mapping[str, Any], status: Mapping[str, Any], namespace: str
) -> PodDisruptionBudget:
    """Return the budget; an empty selector matches no pod in preemption.

    Source: docs/semantics/kube-scheduler.md#victims-on-a-node.
    """
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    selector = read_selector(spec.get("selector"))
    if not selector.requirements:
        selector = Selector(nothing=True)
    allowed = status.get("disruptionsAllowed")
    return PodDisruptionBudget(
        key=Key("PodDisruptionBudget", namespace, str(metadata["name"])),
        selector=selector,
        allowed=None if allowed is None else int(allowed),
        minimum=spec.get("minAvailable"),
        maximum=spec.get("maxUnavailable"),
        disrupted=frozenset(status.get("disruptedPods") or ()),
    )


def disruptions_allowed(budget: PodDisruptionBudget, healthy: int) -> int:
    """Return how many of `healthy` pods may go now.

    Source: <https://kubernetes.io/docs/tasks/run-application/configure-pdb/>; healthy pods
    stand for expected ones.
    """
    if budget.allowed is not None:
        return budget.allowed
    if budget.minimum is not None:
        return max(0, healthy - _share(budget.minimum, healthy))
    if budget.maximum is not None:
        return _share(budget.maximum, healthy)
    return 0


def _share(value: int | str, of: int) -> int:
    """Return a number, or a percentage of `of` rounded up."""
    if isinstance(value, int):
        return value
    return -(-int(value.rstrip("%")) * of // 100)


# ------------------------------------------------------------------------
# Which pods carry the label of which group, or name it.


def group_key(pod: Pod) -> Key | None:
    """Return the key of the pod's group, by the label or by an older one."""
    for label in GANG_LABELS:  # of every pod, often: no call
        if name := pod.labels.get(label):
            return Key("PodGroup", pod.namespace, name)
    return None


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


# ------------------------------------------------------------------------
# Groups of the in-tree gang scheduling: what a pod names, and how many must start.


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


# ------------------------------------------------------------------------
# ElasticQuotas of scheduler-plugins: what each namespace is sure of, and may have.


ELASTIC_QUOTA = "ElasticQuota"
Amounts = dict[str, int]


class ElasticQuota(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The quota of a namespace: `minimum` is its own, `maximum` None is no limit."""

    namespace: str
    minimum: Amounts = {}
    maximum: Amounts | None = None


def read_elastic_quota(manifest: Mapping[str, Any], key: Key) -> ElasticQuota:
    """Return the quota of a document. Raises QuantityError for an amount."""
    spec = manifest.get("spec") or {}
    most = spec.get("max")
    return ElasticQuota(
        namespace=key.namespace,
        minimum=_amounts(spec.get("min") or {}),
        maximum=None if most is None else _amounts(most),
    )


def _amounts(given: Mapping[str, Any]) -> Amounts:
    return {name: amounts.canonical(name, text) for name, text in given.items()}


class QuotaUse:
    """The quotas and what the pods on nodes use of them, as a dry run may change it."""

    def __init__(self, quotas: dict[str, ElasticQuota], pods: Iterable[Pod]) -> None:
        self.quotas = quotas
        self.used: dict[str, Amounts] = {name: {} for name in quotas}
        for pod in pods:
            self.count(pod, 1)

    def count(self, pod: Pod, by: int) -> None:
        """Add (1) or take off (-1) what a pod asks for."""
        used = self.used.get(pod.namespace)
        if used is not None:
            add(used, requests(pod), by)

    def copy(self) -> QuotaUse:
        """Return a copy that a dry run may change."""
        other = QuotaUse(self.quotas, ())
        other.used = {name: dict(used) for name, used in self.used.items()}
        return other

    def over_minimum(self, namespace: str, asked: Amounts) -> bool:
        """Return whether a namespace would use more than its minimum if it got `asked`, too."""
        return _over(self.used[namespace], asked, self.quotas[namespace].minimum, 0)

    def over_maximum(self, namespace: str, asked: Amounts) -> bool:
        """Return whether a namespace would use more than its maximum if it got `asked`, too."""
        most = self.quotas[namespace].maximum
        if most is None:
            return False
        return _over(self.used[namespace], asked, most, amounts.MAX)

    def over_all(self, asked: Amounts) -> bool:
        """Return whether all namespaces would use more than the sum of minima with `asked`."""
        used: Amounts = {}
        sure: Amounts = {}
        for namespace, quota in self.quotas.items():
            add(used, self.used[namespace], 1)
            add(sure, quota.minimum, 1)
        return _over(used, asked, sure, 0)


def requests(pod: Pod) -> Amounts:
    """Return a pod's requests of the resources that quotas count."""
    exact = pod.shape.requests.exact
    return {n: v for n, v in exact.items() if n not in (PODS, STORAGE)}


def add(total: Amounts, more: Amounts, sign: int) -> None:
    """Add amounts to a total, or take them off."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + sign * amount


def _over(used: Amounts, asked: Amounts, limit: Amounts, unnamed: int) -> bool:
    """Return whether a sum is over a limit.

    cpu and memory that the limit does not name are 0, others `unnamed`.
    """
    for name in {CPU, MEMORY, *used, *asked}:
        most = limit.get(name, 0 if name in (CPU, MEMORY) else unnamed)
        if used.get(name, 0) + asked.get(name, 0) > most:
            return True
    return False
