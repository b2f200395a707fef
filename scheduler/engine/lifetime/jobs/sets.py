"""StatefulSets under Kueue: pods that wait with their gates, and sets scaled to none.

Source: docs/semantics/kueue-jobs.md#a-statefulset-over-time.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime.jobs.pod_admission import (
    ADMISSION_GATE,
    TOPOLOGY_GATE,
)
from scheduler.engine.lifetime.jobs.starting import JobStart
from scheduler.engine.lifetime.jobs.state import pod_sets_of
from scheduler.engine.lifetime.pods import owner_key
from scheduler.engine.lifetime.starting import STATEFUL_SET
from scheduler.model.conditions import condition
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import ON_HOLD
from scheduler.model.releases.rules import SETS_ON_HOLD

_SETS = frozenset({STATEFUL_SET})
_ON_HOLD = "StatefulSet scaled to zero; workload on hold"


class StatefulSets(JobStart):
    """Brings the Workload and the pods of a StatefulSet in line with its replicas."""

    def is_without_workload(self, stateful_set: Object) -> bool:
        """Return whether a set of no replicas has none: in a release without holds."""
        release = self.host.policy.spec.decides_as()
        return not (_replicas(stateful_set) or SETS_ON_HOLD.holds(release))

    def sync_set(self, stateful_set: Object) -> bool:
        """Let a set with a Workload have it on hold, or back; False for one without."""
        workloads = self._workloads_of(stateful_set.key)
        kueue = self.host.kueue
        if not workloads or kueue is None:
            return False
        [workload, *_] = workloads
        if not _replicas(stateful_set):
            self.lifetime.stop_waiting(workload)
            self.lifetime.stop(workload)
            kueue.hold(workload, _ON_HOLD)
        else:
            self._requeue(workload, stateful_set)
            kueue.unhold(workload)
            self.wait_gated(self.host.objects[workload])
        return True

    def _requeue(self, workload: Key, stateful_set: Object) -> None:
        """Let a Workload be of the queue that its set names now."""
        known = self.host.objects[workload]
        queue = self.kind_of(stateful_set).queue_name(stateful_set.manifest)
        if known.spec.get("queueName") != queue:
            self.rewrite(known, {**known.spec, "queueName": queue})

    def set_of(self, workload: Object) -> Object | None:
        """Return the StatefulSet of a Workload, if it is of one."""
        key = owner_key(workload, _SETS)
        return None if key is None else self.host.objects.get(key)

    def sized(self, workload: Object, count: int) -> int:
        """Return how many pods a set runs of the count that was admitted."""
        found = self.set_of(workload)
        if found is None:
            return count
        return min(count, _replicas(found))

    def wait_gated(self, workload: Object) -> None:
        """Make the pods of a set that waits: the first one, or all side by side."""
        found = self.set_of(workload)
        if found is None or self.host.kueue is None:
            return
        if not self.lifetime.placement() or _is_held(self.host.get(workload.key)):
            return
        side_by_side = found.spec.get("podManagementPolicy") == "Parallel"
        count = _replicas(found) if side_by_side else min(1, _replicas(found))
        for pod_set in pod_sets_of(workload):
            waiting = {**pod_set, "count": count, "template": _gated(pod_set)}
            self.lifetime.make_waiting(workload, waiting)

    def ungate_waiting(
        self, workload: Object, pods: list[Object], pod_sets: Any
    ) -> None:
        """Let pods that waited for their quota be placed."""
        for pod in pods:
            self._ungate(pod, pod_sets, {})


def _replicas(stateful_set: Object) -> int:
    return int(stateful_set.spec.get("replicas", 1))


def _is_held(workload: Object) -> bool:
    found = condition(workload.status, "QuotaReserved") or {}
    return found.get("status") != "True" and found.get("reason") == ON_HOLD


def _gated(pod_set: dict[str, Any]) -> dict[str, Any]:
    template = pod_set.get("template") or {}
    spec = {
        **(template.get("spec") or {}),
        "schedulingGates": _gates(),
    }
    return {**template, "spec": spec}


def _gates() -> list[dict[str, str]]:
    return [{"name": ADMISSION_GATE}, dict(TOPOLOGY_GATE)]
