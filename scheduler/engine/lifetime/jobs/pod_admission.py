"""What the API server's admission fills into a new pod."""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime import admission
from scheduler.engine.lifetime.jobs.state import JobState
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Problem, in_field

ADMISSION_GATE = "kueue.x-k8s.io/admission"
#: Of Kueue, too, until it is known whether topology places the pod.
TOPOLOGY_GATE = {"name": "kueue.x-k8s.io/topology"}
#: What its webhook notes on a pod of a group: the podset that it belongs to.
ROLE_HASH = "kueue.x-k8s.io/role-hash"

#: The PriorityClasses that every cluster has.
SYSTEM_CLASSES: dict[str, dict[str, Any]] = {
    "system-cluster-critical": {"value": 2_000_000_000},
    "system-node-critical": {"value": 2_000_001_000},
}


class PodAdmission(JobState):
    """LimitRanges, RuntimeClass and priority; under Kueue, the admission gate."""

    def prepare_pod(self, pod: Object) -> None:
        """Do what admission does to a new pod; under Kueue, give it its gate.

        Raises ManifestError for a pod that is refused.
        Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
        """
        spec = pod.manifest.setdefault("spec", {})
        self._limit(pod.key, spec)
        self._give_priority(spec)
        self._give_runtime_class(spec)
        if self.manages(pod) and not spec.get("nodeName"):
            gates = spec.setdefault("schedulingGates", [])
            if {"name": ADMISSION_GATE} not in gates:
                gates.append({"name": ADMISSION_GATE})
            if TOPOLOGY_GATE not in gates:
                gates.append(dict(TOPOLOGY_GATE))
            if self._group(pod)[0]:
                annotations = pod.metadata.setdefault("annotations", {})
                annotations.setdefault(ROLE_HASH, self._grouped().role(pod.manifest))

    def _limit(self, pod: Key, spec: dict[str, Any]) -> None:
        ranges = [
            (key.name, manifest)
            for key, manifest in sorted(self.limit_ranges.items())
            if key.namespace == pod.namespace
        ]
        admission.apply_limit_ranges(spec, ranges)

    def _give_runtime_class(self, spec: dict[str, Any]) -> None:
        name = spec.get("runtimeClassName")
        if not name:
            return
        found = self.runtime_classes.get(name)
        if found is None:
            known = ", ".join(sorted(self.runtime_classes)) or "none"
            raise ManifestError(
                in_field(
                    "spec.runtimeClassName",
                    Problem.RUNTIME_CLASS.said(name=repr(name), known=known),
                )
            )
        admission.apply_runtime_class(spec, found)

    def _give_priority(self, spec: dict[str, Any]) -> None:
        name = spec.get("priorityClassName") or self.surroundings().default_priority
        found = SYSTEM_CLASSES.get(name) or self.classes.get(name)
        if found is not None and "priority" not in spec:
            spec["priority"] = int(found.get("value", 0))
            spec.setdefault(
                "preemptionPolicy",
                found.get("preemptionPolicy", "PreemptLowerPriority"),
            )
