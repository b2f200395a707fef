"""ElasticQuotas of scheduler-plugins: what each namespace is sure of, and may have.

Source: docs/semantics/kube-scheduler.md#elastic-quotas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.node import CPU, MEMORY, PODS, STORAGE
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

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
        """Return whether a namespace with so much more has more than is its own."""
        return _over(self.used[namespace], asked, self.quotas[namespace].minimum, 0)

    def over_maximum(self, namespace: str, asked: Amounts) -> bool:
        """Return whether a namespace with so much more has more than it may."""
        most = self.quotas[namespace].maximum
        if most is None:
            return False
        return _over(self.used[namespace], asked, most, amounts.MAX)

    def over_all(self, asked: Amounts) -> bool:
        """Return whether all quotas with so much more have more than all are sure of."""
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
