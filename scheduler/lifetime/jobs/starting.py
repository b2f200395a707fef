"""The start of an admitted Workload: its podSets with the nodes of their flavors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.decisions import PodSetAdmission
from scheduler.lifetime.jobs.pod_admission import ADMISSION_GATE
from scheduler.lifetime.jobs.state import JobState, PodSets, pod_sets_of
from scheduler.lifetime.pods import owner_key
from scheduler.records.objects import Key, Object

_GATE = {"name": ADMISSION_GATE}


class JobStart(JobState):
    """A run gets what its Workload was admitted with; given pods lose their gate."""

    def admitted(self, workload: Object, admissions: Iterable[PodSetAdmission]) -> None:
        """Start the run of a Workload that got its quota, or set its time."""
        if self.lifetime.start_later(workload):
            return
        if not self.lifetime.placement():
            self.lifetime.start(workload, [])
            return
        counts = {
            a.name: (a.count, sorted(set(a.flavors.values()))) for a in admissions
        }
        self._start(workload, self._with_flavors(workload, counts))

    def resume(self, workload: Object) -> None:
        """Start the run of a Workload whose quota stands in its status."""
        if not self.lifetime.placement():
            self.lifetime.start(workload, [])
        else:
            self._start(workload, self._assigned(workload))

    def _assigned(self, workload: Object) -> PodSets:
        """Return the pod sets as the Workload's status says they were admitted."""
        admission = self.host.get(workload.key).status.get("admission") or {}
        status = self.host.get(workload.key).status
        gone = {
            one["name"]: int(one["count"])
            for one in status.get("reclaimablePods") or []
        }
        counts = {
            a["name"]: (
                max(0, int(a.get("count", 0)) - gone.get(a["name"], 0)),
                sorted(set(a.get("flavors", {}).values())),
            )
            for a in admission.get("podSetAssignments") or []
        }
        return self._with_flavors(workload, counts)

    def _with_flavors(
        self, workload: Object, counts: dict[str, tuple[int, list[str]]]
    ) -> PodSets:
        found = []
        for pod_set in pod_sets_of(workload):
            count, flavors = counts.get(pod_set["name"], (pod_set["count"], []))
            selector: dict[str, str] = {}
            tolerations: list[dict[str, Any]] = []
            for name in flavors:
                flavor = self.host.objects.get(Key("ResourceFlavor", "", name))
                if flavor is not None:
                    selector.update(flavor.spec.get("nodeLabels") or {})
                    tolerations += flavor.spec.get("tolerations") or []
            extra = {"nodeSelector": selector, "tolerations": tolerations}
            found.append({**pod_set, "count": count, **extra})
        return found

    def _start(self, workload: Object, pod_sets: PodSets) -> None:
        given = self._given_pods(workload.key)
        if not given:
            self.lifetime.start(workload, pod_sets)
            return
        run = self.lifetime.run_of(workload.key)
        for pod in given:
            self.lifetime.attach(run, pod.key)
        self.lifetime.start(workload, [])
        for pod in given:
            self._ungate(pod, pod_sets)

    def _given_pods(self, workload: Key) -> list[Object]:
        """Return the pods that make up this Workload, when people gave them."""
        owner = owner_key(self.host.objects[workload], frozenset({"Pod"}))
        if owner is None or owner not in self.host.objects:
            return []
        name, _ = self._group(self.host.objects[owner])
        members = (
            self.groups.get((workload.namespace, name), {}) if name else {owner: 0}
        )
        return [self.host.objects[key] for key in sorted(members)]

    def _ungate(self, pod: Object, pod_sets: PodSets) -> None:
        spec = pod.manifest["spec"]
        gates = [g for g in spec.get("schedulingGates") or [] if g != _GATE]
        spec["schedulingGates"] = gates
        for pod_set in pod_sets[:1]:
            spec["nodeSelector"] = {
                **(spec.get("nodeSelector") or {}),
                **pod_set["nodeSelector"],
            }
            spec["tolerations"] = [
                *(spec.get("tolerations") or []),
                *pod_set["tolerations"],
            ]
        self.lifetime.context.journal.touch(pod.key)
        for stage in self.host.placers():
            stage.put(pod)
