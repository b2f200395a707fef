"""The start of an admitted Workload: its podSets with the nodes of their flavors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.engine.kueue.topology.replacement import (
    RankedPod,
    domains_for,
    index_offset,
)
from scheduler.engine.lifetime import admission
from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.state import JobState, PodSets, pod_sets_of
from scheduler.model.annotations import PREFIX
from scheduler.model.decisions import PodSetAdmission
from scheduler.model.errors import ManifestError
from scheduler.model.kueue.slices import is_elastic
from scheduler.model.objects import Key, Object
from scheduler.model.problems import GivenUp, Problem, in_field
from scheduler.model.topology import (
    TopologyAssignment,
    read_topology_assignment,
    read_topology_request,
)

# ------------------------------------------------------------------------
# What the API server's admission fills into a new pod.


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
        managed, node = self.manages(pod), spec.get("nodeName")
        if managed and node and not pod.status.get("phase"):
            raise ManifestError(Problem.GATED_NODE.said(given=f"spec.nodeName {node}"))
        if managed and not node:
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


# ------------------------------------------------------------------------
# The start of an admitted Workload: its podSets with the nodes of their flavors.


_GATE = {"name": ADMISSION_GATE}
#: Of a podset: pods, flavors, and where topology puts them.
Assigned = tuple[int, list[str], TopologyAssignment | None]


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
            a.name: (a.count, sorted(set(a.flavors.values())), a.topology)
            for a in admissions
        }
        self._start(workload, self._with_flavors(workload, counts))

    def replaced(self, workload: Object) -> None:
        """Let pods go to the places that were found for those of a failed node."""
        run = self.lifetime.run_of(workload.key)
        if run.active and not self._given_pods(workload.key):
            self.lifetime.fill_up(run, workload, self._assigned(workload))

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
            one["name"]: int(one.get("count") or 0)
            for one in status.get("reclaimablePods") or []
        }
        counts = {
            a["name"]: (
                max(0, self._granted(workload, a) - gone.get(a["name"], 0)),
                sorted(set((a.get("flavors") or {}).values())),
                read_topology_assignment(a.get("topologyAssignment")),
            )
            for a in admission.get("podSetAssignments") or []
        }
        return self._with_flavors(workload, counts)

    def _granted(self, workload: Object, assigned: dict[str, Any]) -> int:
        """Return the pods of a podset that was admitted; a slice may have shrunk."""
        count = int(assigned.get("count") or 0)
        if not is_elastic(workload):
            return count
        asked = {p["name"]: int(p["count"]) for p in pod_sets_of(workload)}
        return min(count, asked.get(assigned["name"], count))

    def _with_flavors(self, workload: Object, counts: dict[str, Assigned]) -> PodSets:
        found: PodSets = []
        if self.is_nobodys(workload):
            return found
        for pod_set in pod_sets_of(workload):
            count, flavors, topology = counts.get(
                pod_set["name"], (pod_set["count"], [], None)
            )
            count = self.sized(workload, count)
            selector: dict[str, str] = {}
            tolerations: list[dict[str, Any]] = []
            for name in flavors:
                flavor = self.host.objects.get(Key("ResourceFlavor", "", name))
                if flavor is not None:
                    selector.update(flavor.spec.get("nodeLabels") or {})
                    tolerations += flavor.spec.get("tolerations") or []
            extra: dict[str, Any] = {
                "nodeSelector": selector,
                "tolerations": tolerations,
            }
            if topology is not None:
                extra["topology"] = topology
            found.append({**pod_set, "count": count, **extra})
        updates = self._updates(workload.key)
        return [with_updates(one, updates) for one in found] if updates else found

    def _report_contradictions(self, workload: Object, pod_sets: PodSets) -> None:
        """Report what checks ask for and a run starts without; once per start."""
        updates = self._updates(workload.key)
        for pod_set in pod_sets:
            for problem in contradictions(pod_set, updates):
                self.lifetime.context.journal.complain(
                    GivenUp.UPDATES.said(
                        key=workload.key, name=pod_set["name"], problem=problem
                    )
                )

    def is_nobodys(self, workload: Object) -> bool:
        """Return whether no job is there that would make the pods of a Workload.

        One that says how long its work takes stands for a job itself.
        Source: docs/semantics/kueue-lifecycle.md#workloads-of-jobs.
        """
        return not workload.metadata.get("ownerReferences") and not any(
            name.startswith(PREFIX) for name in workload.annotations
        )

    def sized(self, workload: Object, count: int) -> int:
        """Return how many pods are made of the count that was admitted."""
        return count

    def _updates(self, workload: Key) -> list[dict[str, Any]]:
        """Return the podSetUpdates of a Workload's checks, in the order of their names."""
        kueue = self.host.kueue
        work = None if kueue is None else kueue.cluster.workloads.get(workload)
        checks = () if work is None else sorted(work.checks.items())
        return [update for _, check in checks for update in check.pod_set_updates]

    def _start(self, workload: Object, pod_sets: PodSets) -> None:
        self._report_contradictions(workload, pod_sets)
        given = self._given_pods(workload.key)
        if not given:
            self.lifetime.start(workload, pod_sets)
            return
        self.lifetime.start(workload, [])
        self._start_members(workload, given, pod_sets)

    def start_members(self, workload: Object, pods: list[Object]) -> None:
        """Ungate pods of a Workload that is admitted, and let them run."""
        self._start_members(workload, pods, self._assigned(workload))

    def _start_members(
        self, workload: Object, pods: list[Object], pod_sets: PodSets
    ) -> None:
        run, grouped = self.lifetime.run_of(workload.key), self._grouped()
        alone = len(pod_sets) == 1
        for pod_set in pod_sets:
            of_set = [
                pod
                for pod in pods
                if _GATE in (pod.spec.get("schedulingGates") or [])
                and "deletionTimestamp" not in pod.metadata
                and (alone or grouped.role(pod.manifest) == pod_set["name"])
            ]
            places = self._places(of_set, [pod_set])
            for pod in of_set:
                self.lifetime.attach(run, pod.key)
                self._ungate(pod, [pod_set], places.get(pod.key.name, {}))

    def _places(
        self, given: list[Object], pod_sets: PodSets
    ) -> dict[str, dict[str, str]]:
        """Return the labels of the domain that each given pod goes to, by rank."""
        assignment = pod_sets[0].get("topology") if pod_sets else None
        if assignment is None:
            return {}
        request = read_topology_request(pod_sets[0].get("topologyRequest"))
        ranked = [RankedPod(pod.key.name, pod.labels) for pod in given]
        offset = index_offset(pod_sets[0].get("template") or {})
        found = domains_for(ranked, assignment, request, offset=offset)
        return {
            name: dict(zip(assignment.levels, values, strict=True))
            for name, values in found.items()
        }

    def _given_pods(self, workload: Key) -> list[Object]:
        """Return the pods that make up this Workload, when people gave them."""
        owner = owner_key(self.host.objects[workload], frozenset({"Pod"}))
        of_group = self.groups.get((workload.namespace, workload.name))
        if owner is not None and of_group:
            come = filter(self._has_come, sorted(of_group))
            return [self.host.objects[key] for key in come]
        if owner is None or owner not in self.host.objects:
            return []
        name, _ = self._group(self.host.objects[owner])
        members = (
            self.groups.get((workload.namespace, name), {}) if name else {owner: 0}
        )
        return [self.host.objects[key] for key in sorted(members)]

    def _ungate(self, pod: Object, pod_sets: PodSets, place: dict[str, str]) -> None:
        spec = pod.manifest["spec"]
        own = (_GATE, TOPOLOGY_GATE)
        gates = [g for g in spec.get("schedulingGates") or [] if g not in own]
        spec["schedulingGates"] = gates
        for pod_set in pod_sets[:1]:
            for field in ("labels", "annotations"):
                if added := pod_set.get(field):
                    pod.metadata[field] = {**(pod.metadata.get(field) or {}), **added}
            spec["nodeSelector"] = {
                **(spec.get("nodeSelector") or {}),
                **pod_set["nodeSelector"],
                **place,
            }
            spec["tolerations"] = [
                *(spec.get("tolerations") or []),
                *pod_set["tolerations"],
            ]
        self.lifetime.context.journal.touch(pod.key)
        for stage in self.host.placers():
            stage.put(pod)


# ------------------------------------------------------------------------
# What admission checks add to the pods of a podset: podSetUpdates, merged.


#: The fields of an update with one value per key.
_MAPS = ("labels", "annotations", "nodeSelector")


def with_updates(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the podset with what its updates add.

    A key keeps the value of the template, else of the flavor, else of the first check.
    """
    found = dict(pod_set)
    for update in _of_pod_set(pod_set, updates):
        for field in _MAPS:
            own = {**_of_template(pod_set, field), **(found.get(field) or {})}
            added = (update.get(field) or {}).items()
            new = {key: value for key, value in added if key not in own}
            found[field] = {**(found.get(field) or {}), **new}
        found["tolerations"] = [
            *(found.get("tolerations") or []),
            *(update.get("tolerations") or []),
        ]
    return found


def contradictions(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Return the updates that contradict the podset."""
    found = []
    for update in _of_pod_set(pod_set, updates):
        for field in _MAPS:
            own = {**_of_template(pod_set, field), **(pod_set.get(field) or {})}
            found += [
                f"{field}.{key}: {value!r} contradicts {own[key]!r}"
                for key, value in sorted((update.get(field) or {}).items())
                if own.get(key, value) != value
            ]
    return found


def _of_pod_set(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    return [update for update in updates if update.get("name") == pod_set["name"]]


def _of_template(pod_set: Mapping[str, Any], field: str) -> Mapping[str, str]:
    """Return what the podset's template says of a field."""
    template = pod_set.get("template") or {}
    part = template.get("spec" if field == "nodeSelector" else "metadata") or {}
    given: Mapping[str, str] = part.get(field) or {}
    return given
