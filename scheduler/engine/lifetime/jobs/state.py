"""What is known of jobs: their Workloads, groups, and what they look up by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.controllers.stage import Controllers
from scheduler.engine.lifetime.jobs.given import GivenObjects, is_covered, is_integrated
from scheduler.engine.lifetime.jobs.webhooks import Webhooks
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model import registry, resource_quota
from scheduler.model.decisions import Fail
from scheduler.model.jobs import QUEUE, GroupedKind, JobKind, Surroundings
from scheduler.model.kueue.slices import ELASTIC_KINDS, is_elastic
from scheduler.model.objects import Key, Object
from scheduler.model.problems.runs import GivenUp
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.topology import read_topology_request
from scheduler.model.webhooks import KINDS as WEBHOOKS

_CLASSES = ("PriorityClass", "WorkloadPriorityClass")
#: What a TrainJob's podSets come from.
RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_GROUP_KIND = "Pod"
OWNERS = frozenset({*JOB_KINDS, "Workload"})

PodSets = list[dict[str, Any]]


class JobState:
    """The classes, runtimes and limits that jobs refer to, and the owners of objects."""

    def __init__(self, lifetime: TaintEviction) -> None:
        self.lifetime = lifetime
        self.host = lifetime.host
        self.classes: dict[str, dict[str, Any]] = {}
        self.workload_classes: dict[str, int] = {}
        self.runtimes: dict[Key, dict[str, Any]] = {}
        self.refused: dict[Key, None] = {}  # have no Workload for want of a class
        self.given = GivenObjects()
        self.controllers = Controllers(lifetime)
        self.groups: dict[tuple[str, str], dict[Key, None]] = {}
        self.runtime_classes: dict[str, dict[str, Any]] = {}
        self.limit_ranges: dict[Key, dict[str, Any]] = {}
        self.quotas = PodQuotas(lifetime)
        self.webhooks = Webhooks(lifetime)
        self.stateful_sets: dict[Key, None] = {}
        self.awaited: dict[Key, Key] = {}  # Workload -> the job that names it
        self.released: dict[Key, None] = {}  # pods that go for good now
        self.syncing = False  # a group is being reconciled

    def note(self, obj: Object) -> None:
        """Keep what other objects look up by name."""
        self.controllers.note(obj)
        if obj.state.get("job", {}).get("refused"):
            self.refused[obj.key] = None
        if obj.key.kind == "Workload" or obj.key not in self.lifetime.owners:
            self.given.add(obj)
        if obj.key.kind in (*_CLASSES, *RUNTIMES):
            self.lifetime.look_at(*self.refused)
        if obj.key in self.awaited:
            self._come(obj.key)
        if obj.key.kind == "StatefulSet":
            self.stateful_sets[obj.key] = None
        self._await(obj)
        if obj.key.kind == "PriorityClass":
            self.classes[obj.key.name] = obj.manifest
        elif obj.key.kind == "WorkloadPriorityClass":
            self.workload_classes[obj.key.name] = int(obj.manifest.get("value", 0))
        elif obj.key.kind == "RuntimeClass":
            self.runtime_classes[obj.key.name] = obj.manifest
        elif obj.key.kind == "LimitRange":
            self.limit_ranges[obj.key] = obj.manifest
        elif obj.key.kind == "ResourceQuota":
            self.quotas.note(obj)
        elif obj.key.kind in WEBHOOKS:
            self.webhooks.note(obj)
        elif obj.key.kind in RUNTIMES:
            self.runtimes[obj.key] = obj.manifest
        if obj.key.kind == "Pod":
            self.pod_changed(obj.key)
        if obj.key.kind == "Pod" and (name := self._group(obj)[0]):
            group = self.groups.setdefault((obj.key.namespace, name), {})
            group[obj.key] = None

    def forget(self, key: Key) -> None:
        """Forget a deleted object; the Workload of a deleted job goes with it."""
        self.given.remove(key)
        self.controllers.forget(key)
        self.classes.pop(key.name, None) if key.kind == "PriorityClass" else None
        if key.kind == "WorkloadPriorityClass":
            self.workload_classes.pop(key.name, None)
        if key.kind == "RuntimeClass":
            self.runtime_classes.pop(key.name, None)
        self.limit_ranges.pop(key, None)
        self.quotas.forget(key)
        self.webhooks.forget(key)
        if key.kind == "Pod":
            self.pod_changed(key)
        self.stateful_sets.pop(key, None)
        self.runtimes.pop(key, None)
        grouped = self._leave_group(key)
        if key.kind in JOB_KINDS:
            workloads = self._workloads_of(key)
            if key in self.host.objects:
                self.host.objects[key].state.pop("job", None)
            for workload in workloads:
                self.host.delete(workload)
        elif key.kind == "Workload":
            self._make_again(key)
            self._forget_members(key)
        elif key.kind == "Pod":
            self._forget_pod(key, grouped)

    def pod_changed(self, pod: Key) -> None:
        """Count anew what pods use of quotas: one came, went or ended."""
        self.quotas.pod_changed(pod)

    def pods_served(self, controller: Object) -> list[Key]:
        """Return the pods that a ReplicaSet made, or those of a Deployment's."""
        owned = self.controllers.owned.of(controller)
        sets = [self.host.objects[key] for key in owned if key.kind == "ReplicaSet"]
        below = [key for one in sets for key in self.controllers.owned.of(one)]
        return [
            key
            for key in (*owned, *below)
            if key.kind == "Pod" and not has_ended(self.host.objects[key].status)
        ]

    def served_by(self, pod: Key) -> list[Key]:
        """Return the ReplicaSet that made a pod, and its Deployment."""
        found = self.controllers.owned.owner_of(pod)
        if found is None or found.kind != "ReplicaSet":
            return []
        above = self.controllers.owned.owner_of(found)
        return [key for key in (found, above) if key in self.host.objects and key]

    def pod_moved(self, controllers: list[Key]) -> None:
        """Let a Deployment among these go on with its rolling update."""
        self.controllers.pod_moved(controllers)

    def resume(self, workload: Object) -> None:
        """Start the run of a Workload whose quota stands in its status."""

    def _come(self, workload: Key) -> None:
        """Let the job that waits for a Workload look for it again."""

    def _await(self, job: Object) -> None:
        """Note that a job waits for the Workload that it names."""

    def _has_come(self, pod: Key) -> bool:
        return pod not in self.lifetime.future

    def _leave_group(self, pod: Key) -> tuple[str, str] | None:
        """Take a pod out of its group; return which that was."""
        found = None
        for name, group in self.groups.items():
            if pod in group:
                del group[pod]
                found = name
        return found

    def _forget_members(self, workload: Key) -> None:
        """Let the plain pods of a Workload that was deleted go with it."""

    def _forget_pod(self, pod: Key, group: tuple[str, str] | None) -> None:
        """Let the Workload of a plain pod go with it, and its group see to itself."""

    def _make_again(self, workload: Key) -> None:
        """Let a job that lost its Workload, and is not over, get one anew.

        Source: docs/semantics/kueue-lifecycle.md#a-workload-that-is-deleted.
        """
        known = self.host.objects.get(workload)
        job = owner_key(known, frozenset(JOB_KINDS)) if known is not None else None
        if known is None or job is None or is_true(known.status, "Finished"):
            return
        if workload in self._workloads_of(job):
            self.lifetime.look_at(job)

    def _workloads_of(self, job: Key) -> list[Key]:
        """Return the Workloads that were made of a job, or that came with it."""
        obj = self.host.objects.get(job)
        if obj is None:
            return []
        state = obj.state.get("job", {})
        names = state.get("workloads") or [state.get("workload", "")]
        keys = [Key("Workload", job.namespace, name) for name in names]
        return [key for key in keys if key in self.host.objects]

    def rewrite(self, workload: Object, spec: dict[str, Any]) -> None:
        """Put a Workload with another spec, as a controller updates it."""
        manifest = {**workload.manifest, "metadata": dict(workload.metadata)}
        self.host.put(Object(key=workload.key, manifest=manifest | {"spec": spec}))

    def is_elastic(self, job: Object, made: list[dict[str, Any]]) -> bool:
        """Return whether a managed job with these Workloads is scaled while it runs.

        Source: docs/semantics/kueue-elastic-jobs.md#which-jobs.
        """
        kueue = self.host.kueue
        return (
            kueue is not None
            and job.key.kind in ELASTIC_KINDS
            and is_elastic(job)
            and kueue.settings.gates.elastic_jobs
            and not any(_fixed(pod_set) for pod_set in made[0]["spec"]["podSets"])
        )

    def kind_of(self, obj: Object) -> JobKind:
        """Return the job kind that enrolled for this object's kind."""
        kind: JobKind = registry.lookup("job-kind", obj.key.kind)
        return kind

    def surroundings(self) -> Surroundings:
        """Return the objects that a job kind may look up."""
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
            decides_as=self.host.policy.spec.decides_as(),
        )

    def manages(self, obj: Object) -> bool:
        """Return whether Kueue decides when this job or pod may run.

        Source: docs/semantics/kueue-lifecycle.md#jobs-without-a-queue.
        """
        kueue = self.host.kueue
        if kueue is None or owner_key(obj, OWNERS) is not None:
            return False
        kind, settings = self.kind_of(obj), kueue.settings
        asks = bool(kind.queue_name(obj.manifest))
        if not asks and not (settings.unqueued_jobs and _could_ask(kind, obj)):
            return False
        return is_integrated(obj, settings, unasked=not asks) and is_covered(
            obj.key.namespace, settings, self.host.objects
        )

    def _grouped(self) -> GroupedKind:
        kind: GroupedKind = registry.lookup("job-kind", _GROUP_KIND)
        return kind

    def _group(self, pod: Object) -> tuple[str, int]:
        return self._grouped().group(pod.manifest)


def _could_ask(kind: JobKind, obj: Object) -> bool:
    """Return whether a queue name on this job would be read."""
    labels = {**obj.labels, QUEUE: "any"}
    metadata = {**obj.metadata, "labels": labels}
    return bool(kind.queue_name({**obj.manifest, "metadata": metadata}))


def _fixed(pod_set: dict[str, Any]) -> bool:
    """Return whether a podset keeps its job from being elastic."""
    request = read_topology_request(pod_set.get("topologyRequest"))
    return "minCount" in pod_set or (request is not None and request.explicit)


def pod_sets_of(workload: Object) -> PodSets:
    """Return the podSets of a Workload, each with its count."""
    return [
        {**pod_set, "count": int(pod_set.get("count", 1))}
        for pod_set in workload.spec.get("podSets") or []
    ]


# ------------------------------------------------------------------------
# ResourceQuotas of a namespace, for the pods that controllers make there.


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
        #: The same owner -> why its last try was refused; kept there, too.
        self.refusals: dict[Key, str] = {}

    def note(self, quota: Object) -> None:
        """Keep a ResourceQuota whose manifest can be read; forget any other."""
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
        self.refusals.pop(key, None)
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

    def refuse(self, maker: Key, why: str, said: str) -> int:
        """Report that a pod is not made; return in how many ms that is tried again."""
        tries = self.tries[maker] = self.tries.get(maker, 0) + 1
        self.refusals[maker] = why
        self.lifetime.context.journal.touch(maker)
        said = f"Error creating: {said}"
        context = self.lifetime.context
        context.journal.emit(
            Fail(
                at_ms=context.now_ms, subject=maker, reason=FAILED_CREATE, message=said
            )
        )
        return int(min(_FIRST_MS << min(tries - 1, 10), _LONGEST_MS))

    def made(self, maker: Key) -> None:
        """Note that a controller has the pods that it wants."""
        self.refusals.pop(maker, None)
        if self.tries.pop(maker, None) is not None:
            self.lifetime.context.journal.touch(maker)
