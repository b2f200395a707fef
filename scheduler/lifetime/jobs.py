"""What a Job, Workload or Pod becomes when it arrives, and when it is admitted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from scheduler import registry
from scheduler.decisions import PodSetAdmission
from scheduler.errors import ManifestError
from scheduler.kueue.queries import is_running, is_stopping
from scheduler.lifetime import admission
from scheduler.lifetime.continuing import SERVING
from scheduler.lifetime.given import GivenObjects
from scheduler.lifetime.pods import owner_key
from scheduler.lifetime.runs import Run
from scheduler.lifetime.runtime_state import JOB_KINDS
from scheduler.lifetime.status import has_ended
from scheduler.lifetime.taint_eviction import TaintEviction
from scheduler.manifests.jobs import GroupedKind, JobKind, Surroundings
from scheduler.records.annotations import ARRIVAL, PREFIX
from scheduler.records.objects import Key, Object

#: A Job admitted with fewer pods also does that much less work.
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"
ADMISSION_GATE = "kueue.x-k8s.io/admission"
#: What a TrainJob's podSets come from.
_CLASSES = ("PriorityClass", "WorkloadPriorityClass")
RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_GROUP_KIND = "Pod"
_OWNERS = frozenset({*JOB_KINDS, "Workload"})

#: The PriorityClasses that every cluster has.
SYSTEM_CLASSES: dict[str, dict[str, Any]] = {
    "system-cluster-critical": {"value": 2_000_000_000},
    "system-node-critical": {"value": 2_000_001_000},
}

PodSets = list[dict[str, Any]]


class Jobs:
    """Job kinds to Workloads and runs; the priority classes they look up."""

    def __init__(self, lifetime: TaintEviction) -> None:
        self.lifetime = lifetime
        self.host = lifetime.host
        self.classes: dict[str, dict[str, Any]] = {}
        self.workload_classes: dict[str, int] = {}
        self.runtimes: dict[Key, dict[str, Any]] = {}
        self.refused: dict[Key, None] = {}  # have no Workload for want of a class
        self.given = GivenObjects()
        self.groups: dict[tuple[str, str], dict[Key, None]] = {}
        self.runtime_classes: dict[str, dict[str, Any]] = {}
        self.limit_ranges: dict[Key, dict[str, Any]] = {}

    # -- what is known ---------------------------------------------------

    def note(self, obj: Object) -> None:
        """Keep what other objects look up by name."""
        if obj.memory.get("job", {}).get("refused"):
            self.refused[obj.key] = None
        if obj.key.kind == "Workload" or obj.key not in self.lifetime.owners:
            self.given.add(obj)
        if obj.key.kind in (*_CLASSES, *RUNTIMES):
            self.lifetime.fresh.update(self.refused)
        if obj.key.kind == "PriorityClass":
            self.classes[obj.key.name] = obj.manifest
        elif obj.key.kind == "WorkloadPriorityClass":
            self.workload_classes[obj.key.name] = int(obj.manifest.get("value", 0))
        elif obj.key.kind == "RuntimeClass":
            self.runtime_classes[obj.key.name] = obj.manifest
        elif obj.key.kind == "LimitRange":
            self.limit_ranges[obj.key] = obj.manifest
        elif obj.key.kind in RUNTIMES:
            self.runtimes[obj.key] = obj.manifest
        elif obj.key.kind == "Pod" and (name := self._group(obj)[0]):
            group = self.groups.setdefault((obj.key.namespace, name), {})
            group[obj.key] = None

    def forget(self, key: Key) -> None:
        """Forget a deleted object; the Workload of a deleted job goes with it."""
        self.given.remove(key)
        self.classes.pop(key.name, None) if key.kind == "PriorityClass" else None
        if key.kind == "WorkloadPriorityClass":
            self.workload_classes.pop(key.name, None)
        if key.kind == "RuntimeClass":
            self.runtime_classes.pop(key.name, None)
        self.limit_ranges.pop(key, None)
        self.runtimes.pop(key, None)
        for group in self.groups.values():
            group.pop(key, None)
        if key.kind in JOB_KINDS:
            for workload in self._workloads_of(key):
                self.host.delete(workload)

    def _workloads_of(self, job: Key) -> list[Key]:
        """Return the Workloads that were made of a job, or that came with it."""
        obj = self.host.objects.get(job)
        if obj is None:
            return []
        memory = obj.memory.get("job", {})
        names = memory.get("workloads") or [memory.get("workload", "")]
        keys = [Key("Workload", job.namespace, name) for name in names]
        return [key for key in keys if key in self.host.objects]

    def kind_of(self, obj: Object) -> JobKind:
        """Return the job kind that enrolled for this object's kind."""
        kind: JobKind = registry.lookup("job-kind", obj.key.kind)
        return kind

    def surroundings(self) -> Surroundings:
        """Return what a job kind may look up."""
        integrations = self.host.policy.spec.kueue.get("integrations") or {}
        defaults = [
            (int(manifest.get("value", 0)), name)
            for name, manifest in self.classes.items()
            if manifest.get("globalDefault")
        ]
        default = min(defaults)[1] if defaults else ""
        return Surroundings(
            workload_priorities=self.workload_classes,
            priorities={n: int(m.get("value", 0)) for n, m in self.classes.items()},
            default_priority=default,
            labels_to_copy=tuple(integrations.get("labelKeysToCopy") or ()),
            runtimes=self.runtimes,
        )

    # -- arriving --------------------------------------------------------

    def prepare_pod(self, pod: Object) -> None:
        """Do what admission does to a new pod; under Kueue, give it its gate.

        Raises ManifestError for a pod that is refused.
        Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
        """
        spec = pod.manifest.setdefault("spec", {})
        self._limit(pod.key, spec)
        self._give_priority(spec)
        self._give_runtime_class(spec)
        if self._managed(pod) and not spec.get("nodeName"):
            gates = spec.setdefault("schedulingGates", [])
            if {"name": ADMISSION_GATE} not in gates:
                gates.append({"name": ADMISSION_GATE})

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
                f"spec.runtimeClassName: RuntimeClass {name!r} does not exist; "
                f"known: {known}"
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

    def _managed(self, obj: Object) -> bool:
        """Return whether Kueue decides when this job or pod may run."""
        if self.host.kueue is None or owner_key(obj, _OWNERS) is not None:
            return False
        return bool(self.kind_of(obj).queue_name(obj.manifest))

    def take_up(self, obj: Object, *, first: bool) -> None:
        """Begin what this object is there for."""
        if obj.key.kind in JOB_KINDS:
            self._take_up_job(obj)
        elif obj.key.kind == "Workload":
            self._take_up_workload(obj)
        elif obj.key.kind == "Pod" and (first or obj.key in self.refused):
            self._take_up_pod(obj)

    def _take_up_job(self, job: Object) -> None:
        kind = self.kind_of(job)
        if owner_key(job, _OWNERS) in self.host.objects:
            return  # what made it has the Workload, or the run
        if self._adopt_workloads(job) or self._is_over(job):
            return
        around = self.surroundings()
        if self._managed(job):
            made = self._made(job, lambda: kind.workloads(job.manifest, around))
            if made is not None:
                self._give_workloads(job, made)
        elif not kind.suspended_by_user(job.manifest) and self.lifetime.placement():
            pod_sets = self._made(job, lambda: kind.pod_sets(job.manifest, around))
            if pod_sets is not None:
                self.lifetime.start(job, pod_sets)

    def _is_over(self, job: Object) -> bool:
        """Return whether a job came with a status that says it has ended."""
        if job.key in self.lifetime.runs or self._workloads_of(job.key):
            return False
        manifest = {**job.manifest, "status": job.status}
        return self.kind_of(job).finish(manifest) is not None

    def _made(
        self, job: Object, make: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]] | None:
        """Return what is made of a job; None, with an event, when it cannot be.

        A job that names a class or runtime that does not exist is tried again when
        that arrives. Source: docs/semantics/kueue-jobs.md#priority-of-the-workload
        """
        try:
            found = make()
        except ManifestError as error:
            self.refused[job.key] = None
            job.memory["job"] = {"refused": True}
            self.lifetime.emit_refused(job.key, str(error))
            return None
        if self.refused.pop(job.key, False) is None:
            job.memory.pop("job", None)
        return found

    def _adopt_workloads(self, job: Object) -> bool:
        """Take the Workloads that came with a job as its own; False if none did.

        Their own annotations for its time are those of the job.
        """
        if self._workloads_of(job.key):
            return False
        found = self.given.workloads_of(job)
        names = [key.name for key in found if key in self.host.objects]
        if names:
            job.memory["job"] = {"workload": names[0], "workloads": names}
        for name in names:
            self._give_annotations(job, Key("Workload", job.key.namespace, name))
        return bool(names)

    def _give_annotations(self, job: Object, workload: Key) -> None:
        ours = _ours(job)
        metadata = self.host.objects[workload].metadata
        if ours:
            given = metadata.get("annotations") or {}
            metadata["annotations"] = {**ours, **given}

    def _give_workloads(self, job: Object, manifests: list[dict[str, Any]]) -> None:
        """Put the Workloads of a job; those of a smaller edit of it go."""
        before = set(self._workloads_of(job.key))
        for manifest in manifests:
            self._give_workload(job, manifest)
        names = [manifest["metadata"]["name"] for manifest in manifests]
        if len(names) != 1:
            job.memory["job"] = {"workload": "", "workloads": names}
        kept = {Key("Workload", job.key.namespace, name) for name in names}
        for key in sorted(before - kept):
            self.host.delete(key)

    def _give_workload(self, job: Object, manifest: dict[str, Any]) -> None:
        """Put the Workload of a job (or pod group); again when the job was edited."""
        metadata = manifest["metadata"]
        if ours := _ours(job):
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **ours}
        key = Key("Workload", job.key.namespace, metadata["name"])
        job.memory["job"] = {"workload": key.name}
        known = self.host.objects.get(key)
        if known is None and (delay := self.lifetime.creation(key)):
            due = f"{self.lifetime.context.now_ms + delay}ms"
            metadata.setdefault("annotations", {})[ARRIVAL] = due
        if known is None or known.spec != (manifest.get("spec") or {}):
            self.host.put(Object(key=key, manifest=manifest))

    def _take_up_workload(self, workload: Object) -> None:
        kueue = self.host.kueue
        if kueue is None:
            if owner_key(workload, frozenset(JOB_KINDS)) not in self.host.objects:
                self.lifetime.start(workload, _pod_sets(workload))
        elif is_running(kueue, workload.key):
            self.lifetime.resume(
                workload, self._assigned(workload), self._pods_given_to(workload)
            )
        elif is_stopping(kueue, workload.key):
            self.lifetime.resume_stop(workload, self._pods_given_to(workload))

    def _pods_given_to(self, workload: Object) -> list[Object]:
        """Return the pods that came with a Workload and were not taken up yet."""
        owner = owner_key(workload, frozenset({*JOB_KINDS, "Pod"}))
        keys = self.given.pods_of(workload.key, owner)
        if owner is not None and owner.kind == "Pod":
            keys = [pod.key for pod in self._given_pods(workload.key)]
        pods = [self.host.objects[key] for key in keys if key in self.host.objects]
        return [
            pod
            for pod in pods
            if pod.key not in self.lifetime.owners and not has_ended(pod)
        ]

    def _take_up_pod(self, pod: Object) -> None:
        if pod.key in self.lifetime.owners or has_ended(pod):
            return
        if pod.metadata.get("deletionTimestamp"):
            self.lifetime.resume_termination(pod)
            return
        owner = self.given.workload_of(pod) or owner_key(pod, _OWNERS)
        if owner in self.host.objects:
            run = self.lifetime.run_of(self._runner(owner))
            self.lifetime.attach(run, pod.key)
            self._adopt(run, pod)
        elif self._managed(pod):
            self._take_up_group(pod)
        else:
            self.lifetime.resume_pod(self.lifetime.run_of(pod.key), pod)

    def _runner(self, owner: Key) -> Key:
        """Return who runs for this owner: a managed job's Workload, else itself."""
        workloads = self._workloads_of(owner)
        return workloads[0] if workloads else owner

    def _adopt(self, run: Run, pod: Object) -> None:
        """Take a pod that came with a node as bound there."""
        node = pod.spec.get("nodeName")
        if node and run.active and pod.status.get("phase") not in _ENDED:
            self.lifetime.bound_on(run, pod.key, node)

    def _take_up_group(self, pod: Object) -> None:
        name, total = self._group(pod)
        if not name:
            if self._adopt_workloads(pod):
                return
            around = self.surroundings()
            made = self._made(
                pod, lambda: self.kind_of(pod).workloads(pod.manifest, around)
            )
            if made is not None:
                self._give_workloads(pod, made)
            return
        members = self.groups.get((pod.key.namespace, name), {})
        if len(members) < total or any(
            key in self.refused for key in members if key != pod.key
        ):
            return
        if self._adopt_workloads(pod):
            return
        pods = [self.host.objects[key] for key in sorted(members)]
        manifests = [p.manifest for p in pods]
        around = self.surroundings()
        kind = self._grouped()
        made = self._made(pod, lambda: [kind.group_workload(manifests, around)])
        if made is None:
            return
        for member in pods:
            member.memory["job"] = {"workload": made[0]["metadata"]["name"]}
        self._give_workload(pod, made[0])

    def _grouped(self) -> GroupedKind:
        kind: GroupedKind = registry.lookup("job-kind", _GROUP_KIND)
        return kind

    def _group(self, pod: Object) -> tuple[str, int]:
        return self._grouped().group(pod.manifest)

    # -- admitted --------------------------------------------------------

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
        for pod_set in _pod_sets(workload):
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

    # -- afterwards ------------------------------------------------------

    def serves(self, owner: Object) -> bool:
        """Return whether it never ends by itself: a service, not a job."""
        if owner.key.kind == "Pod":
            return owner_key(owner, SERVING) is not None
        found = owner.key
        if owner.key.kind == "Workload":
            found = owner_key(owner, frozenset(JOB_KINDS)) or owner.key
        if found.kind not in JOB_KINDS:
            return False
        kind: JobKind = registry.lookup("job-kind", found.kind)
        return kind.endless

    def waves(self, owner: Object) -> int:
        """Return how many times the pods of this owner run one after another."""
        job = owner
        if owner.key.kind == "Workload":
            found = owner_key(owner, frozenset(JOB_KINDS))
            if found is None or found not in self.host.objects:
                return 1
            job = self.host.objects[found]
        if job.key.kind not in JOB_KINDS:
            return 1
        manifest = self._narrowed(owner, job.manifest)
        return max(1, self.kind_of(job).waves(manifest))

    def _narrowed(self, owner: Object, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job as it was started: with the parallelism it was admitted with.

        Source: docs/semantics/kueue.md#partial-admission.
        """
        partial = any("minCount" in p for p in owner.spec.get("podSets") or ())
        if self.host.kueue is None or not partial or job["kind"] != "Job":
            return job
        admission = self.host.get(owner.key).status.get("admission") or {}
        given = admission.get("podSetAssignments") or [{}]
        spec = {**job["spec"], "parallelism": given[0].get("count", 1)}
        annotations = job["metadata"].get("annotations") or {}
        if annotations.get(EQUAL_COMPLETIONS) == "true":
            spec["completions"] = spec["parallelism"]
        return {**job, "spec": spec}

    def ended(self, owner: Object, run: Run) -> None:
        """Report that an owner's work is done."""
        if owner.key.kind == "Workload" and self.host.kueue is not None:
            if run.failed:
                self.host.kueue.finish(owner.key, "Job failed", "Failed")
            else:
                self.host.kueue.finish(owner.key)
        else:
            self.lifetime.emit_finish(run)
        job = owner_key(owner, frozenset(JOB_KINDS))
        if job is not None and job in self.host.objects:
            self.lifetime.context.journal.touch(job)

    def is_given(self, pod: Object) -> bool:
        """Return whether a person gave this pod, rather than a run made it."""
        return "job" in pod.memory

    def give_again(self, pod: Object) -> None:
        """Put an evicted given pod back, gated, as its controller would."""
        self.put_admitted(_afresh(pod, pod.key.name))

    def recreate(self, pod: Object) -> None:
        """Put a replica in the place of a lost one, under a new name."""
        base = pod.labels.get(PREFIX + "replica-of", pod.key.name)
        ordinal = self.lifetime.next_ordinal(pod.key._replace(name=base))
        again = _afresh(pod, f"{base}-r{ordinal}")
        again.metadata["labels"] = {**again.labels, PREFIX + "replica-of": base}
        self.put_admitted(again)

    def put_admitted(self, pod: Object) -> bool:
        """Put a pod that a controller makes; False, and a report, when it is refused."""
        try:
            self.host.put(pod)
        except ManifestError as refusal:
            self.lifetime.context.journal.complain(
                f"pod {pod.key.path} cannot be made: {refusal}"
            )
            return False
        return True

    def replace_pods(self, owner: Object, run: Run) -> None:
        """Make up for the pods that a running owner lost."""
        if owner.key.kind == "Workload":
            pod_sets = self._assigned(owner) if self.host.kueue else _pod_sets(owner)
        else:
            pod_sets = self.kind_of(owner).pod_sets(owner.manifest, self.surroundings())
        self.lifetime.fill_up(run, owner, pod_sets)


def _ours(job: Object) -> dict[str, str]:
    """Return the annotations for its time that a job's Workload has too."""
    return {
        name: value
        for name, value in job.annotations.items()
        if name.startswith(PREFIX) and name != ARRIVAL
    }


_ENDED = ("Succeeded", "Failed")
_GATE = {"name": ADMISSION_GATE}


def _pod_sets(workload: Object) -> PodSets:
    return [
        {**pod_set, "count": int(pod_set.get("count", 1))}
        for pod_set in workload.spec.get("podSets") or []
    ]


def _afresh(pod: Object, name: str) -> Object:
    """Return the pod as its maker would make it again: no node, no identity."""
    manifest = copy.deepcopy(pod.manifest)
    metadata = manifest["metadata"]
    metadata["name"] = name
    for field in ("uid", "creationTimestamp", "generation", "deletionTimestamp"):
        metadata.pop(field, None)
    annotations = metadata.get("annotations") or {}
    annotations.pop(ARRIVAL, None)
    manifest.get("spec", {}).pop("nodeName", None)
    return Object(key=pod.key._replace(name=name), manifest=manifest)
