"""ResourceQuotas of a namespace, for the pods that controllers make there.

A pod beyond one is not made: its controller tries again, ever later.
Source: docs/semantics/controllers.md#quotas-of-a-namespace.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler.engine.lifetime.taint_eviction import TaintEviction
from scheduler.model import resource_quota
from scheduler.model.conditions import has_ended
from scheduler.model.decisions import Fail
from scheduler.model.objects import Key, Object
from scheduler.model.problems.runs import GivenUp

FAILED_CREATE = "FailedCreate"
_FIRST_MS, _LONGEST_MS = 1_000, 60_000


class PodQuotas:
    """The quotas that are there, and what pods use of them at this instant.

    Cost: nothing in a namespace without a quota; else one look at all pods per instant
    in which some are made.
    """

    def __init__(self, lifetime: TaintEviction) -> None:
        self.lifetime = lifetime
        self.known: dict[Key, dict[str, Any]] = {}
        self._counted_ms = -1
        self._used: dict[Key, Counter[str]] = {}
        self._counted: Key | None = None  # the pod that `beyond` counted last
        #: Owner that lacks a pod -> its tries in a row; kept in the state of the owner.
        self.tries: dict[Key, int] = {}

    def note(self, quota: Object) -> None:
        """Keep a ResourceQuota, if it can be read."""
        self.known.pop(quota.key, None)
        if resource_quota.is_readable(quota.manifest):
            self.known[quota.key] = quota.manifest
        self._counted_ms = -1

    def warn(self, quota: Object) -> None:
        """Say of a ResourceQuota that cannot be read that it holds nothing."""
        if quota.key not in self.known:
            problem = GivenUp.QUOTA.said(key=quota.key)
            self.lifetime.context.journal.complain(problem)

    def forget(self, key: Key) -> None:
        """Forget a ResourceQuota that is deleted, or an owner that lacks a pod."""
        self.tries.pop(key, None)
        if self.known.pop(key, None) is not None:
            self._counted_ms = -1

    def pod_changed(self, pod: Key) -> None:
        """Count anew, but for the pod that was counted before it came."""
        if pod != self._counted:
            self._counted_ms = -1
        self._counted = None

    def beyond(self, pod: Object) -> str:
        """Return why a pod cannot be made; "" where it can, which it then counts."""
        if not self.known:
            return ""
        if self._counted is not None:
            self._counted_ms = -1  # that pod did not come: it was refused
        taken: list[tuple[Counter[str], dict[str, int]]] = []
        for key, quota in sorted(self.known.items()):
            if key.namespace != pod.key.namespace:
                continue
            if not resource_quota.matches(quota, pod.manifest):
                continue
            why, asked = self._exceeds(key, quota, pod)
            if why:
                return why
            taken.append((self._of(key, quota), asked))
        for used, asked in taken:
            used.update(asked)
        self._counted = pod.key
        return ""

    def _exceeds(
        self, key: Key, quota: dict[str, Any], pod: Object
    ) -> tuple[str, dict[str, int]]:
        hard = resource_quota.hard_of(quota)
        if missing := resource_quota.unsaid(quota, pod.manifest):
            return f"failed quota: {key.name}: must specify {'; '.join(missing)}", {}
        asked = resource_quota.of_pod(hard, pod.manifest)
        used = self._of(key, quota)
        keys = resource_quota.beyond(hard, used, asked)
        if keys:
            return resource_quota.exceeded(key.name, hard, used, asked, keys), {}
        return "", asked

    def _of(self, key: Key, quota: dict[str, Any]) -> Counter[str]:
        """Return what the pods that are there use of a quota."""
        now = self.lifetime.context.now_ms
        if now != self._counted_ms:
            self._counted_ms = now
            self._used.clear()
        if key not in self._used:
            found = self._used[key] = Counter()
            hard = resource_quota.hard_of(quota)
            for other, pod in self.lifetime.host.objects.items():
                if (
                    (other.kind, other.namespace) == ("Pod", key.namespace)
                    and other not in self.lifetime.future
                    and other not in self.lifetime.host.deleting
                    and resource_quota.matches(quota, pod.manifest)
                ):
                    ended = has_ended(self.lifetime.host.get(other).status)
                    found.update(resource_quota.of_pod(hard, pod.manifest, ended=ended))
        return self._used[key]

    def refuse(self, maker: Key, pod: Object, why: str) -> int:
        """Report that a pod is not made; return in how many ms that is tried again."""
        tries = self.tries[maker] = self.tries.get(maker, 0) + 1
        self.lifetime.context.journal.touch(maker)
        said = f'Error creating: pods "{pod.key.name}" is forbidden: {why}'
        context = self.lifetime.context
        context.journal.emit(
            Fail(
                at_ms=context.now_ms, subject=maker, reason=FAILED_CREATE, message=said
            )
        )
        return int(min(_FIRST_MS << min(tries - 1, 10), _LONGEST_MS))

    def made(self, maker: Key) -> None:
        """Note that a controller has the pods that it wants."""
        if self.tries.pop(maker, None) is not None:
            self.lifetime.context.journal.touch(maker)
