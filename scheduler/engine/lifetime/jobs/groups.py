"""Plain pods under Kueue: one alone, or a group, and the Workload that they share.

One reconciler: it reads the pods and the Workload, and deletes, keeps or ungates pods
and says what the Workload waits for.
Source: docs/semantics/kueue-jobs.md#what-becomes-of-the-pods-of-a-group.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.starting import ADMISSION_GATE
from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.engine.lifetime.runs import Run
from scheduler.model.durations import stamp_text
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import has_ended, is_true

_POD = "Pod"


class PodGroups(JobWorkloads):
    """Keeps the pods of a group and its Workload in line with one another."""

    def group_of(self, pod: Key) -> tuple[str, str] | None:
        """Return namespace and name of the group of a pod that Kueue manages."""
        obj = self.host.objects.get(pod) if pod.kind == _POD else None
        if obj is None:
            return None
        name = self._group(obj)[0]
        return (pod.namespace, name) if name and self.manages(obj) else None

    def members(self, group: tuple[str, str]) -> list[Object]:
        """Return the pods of a group that have come, the oldest first."""
        keys = [key for key in self.groups.get(group, {}) if self._has_come(key)]
        found = [self.host.objects[key] for key in keys]
        return sorted(found, key=_age)

    def detain(self, pod: Key) -> bool:
        """Keep a pod of a group that is deleted, as its finalizer does.

        It ends, and stays until another one takes its place or the group is over.
        Returns False for a pod that goes.
        """
        group = self.group_of(pod)
        if group is None or pod in self.released:
            return False
        workload = self.host.objects.get(Key("Workload", *group))
        if workload is None or is_true(self.host.get(workload.key).status, "Finished"):
            return False
        obj, lifetime = self.host.objects[pod], self.lifetime
        if "deletionTimestamp" not in obj.metadata:
            stamp = lifetime.context.us(lifetime.context.now_ms)
            obj.metadata["deletionTimestamp"] = stamp_text(stamp)
        if not has_ended(obj.status):
            lifetime.leave_run(pod)
            if obj.spec.get("nodeName"):
                lifetime.end_pod(obj, failed=True)
        lifetime.context.journal.touch(pod)
        for stage in self.host.placers():
            stage.put(obj)
        self.sync_group(group)
        return True

    def release(self, pods: list[Object]) -> None:
        """Delete pods for good: nothing holds them any longer."""
        for pod in pods:
            self.released[pod.key] = None
            if pod.key in self.host.objects:
                self.host.delete(pod.key)
            self.released.pop(pod.key, None)

    def _forget_members(self, workload: Key) -> None:
        known = self.host.objects.get(workload)
        if known is None:
            return
        owner = owner_key(known, frozenset({_POD}))
        if owner is None or is_true(self.host.get(workload).status, "Finished"):
            return
        pods = [self.host.objects[owner]] if owner in self.host.objects else []
        group = (workload.namespace, workload.name)
        self.release(self.members(group) if group in self.groups else pods)

    def _forget_pod(self, pod: Key, group: tuple[str, str] | None) -> None:
        name = self.host.objects[pod].state.get("job", {}).get("workload")
        workload = Key("Workload", pod.namespace, name or "")
        last = group is None or not self.groups.get(group)
        if last and workload in self.host.objects:
            run = self.lifetime.runs.get(workload)
            if run is not None and pod in run.pods:
                self.lifetime.owners.pop(pod, None)
                run.pods.remove(pod)
            self.host.delete(workload)
        elif group is not None:
            self.sync_group(group)

    # -- the reconciler ----------------------------------------------------

    def sync_group(self, group: tuple[str, str]) -> None:
        """Bring the pods of a group and its Workload in line."""
        if self.syncing:
            return
        self.syncing = True
        try:
            workload = self.host.objects.get(Key("Workload", *group))
            if workload is None:
                self._compose(group)
            elif is_true(self.host.get(workload.key).status, "Finished"):
                self.release([pod for pod in self.members(group) if _is_going(pod)])
            else:
                self._match(group, workload)
        finally:
            self.syncing = False

    def _compose(self, group: tuple[str, str]) -> None:
        """Make the Workload of a group that is complete; pods above it go."""
        pods = self.members(group)
        self.release([pod for pod in pods if not _is_runnable(pod)])
        active = [pod for pod in pods if _is_runnable(pod)]
        if not active:
            return
        total = self._group(active[0])[1]
        if len(active) < total or self._adopt_workloads(active[0]):
            return
        fast = total == 1 and len(active) > 1
        kept = active if fast else self._without_excess(active, total)
        around, kind = self.surroundings(), self._grouped()
        manifests = [{**pod.manifest, "status": pod.status} for pod in kept]
        made = self._made(kept[0], lambda: [kind.group_workload(manifests, around)])
        if made is None:
            return
        for pod in kept:
            pod.state["job"] = {"workload": made[0]["metadata"]["name"]}
        self._give_workload(kept[0], made[0])

    def _without_excess(self, active: list[Object], count: int) -> list[Object]:
        """Return so many of these pods; the others go: gated ones, the newest first."""
        ordered = sorted(active, key=lambda pod: (_is_gated(pod), *_age(pod)))
        self.release(ordered[count:])
        return sorted(ordered[:count], key=_age)

    def _match(self, group: tuple[str, str], workload: Object) -> None:
        """Let the pods of a group be those of its Workload, role by role."""
        kind, absent, unfilled, kept = self._grouped(), 0, 0, []
        pods = self.members(group)
        for pod_set in workload.spec.get("podSets") or ():
            name, count = pod_set["name"], int(pod_set.get("count", 1))
            of_role = [pod for pod in pods if kind.role(pod.manifest) == name]
            active = [pod for pod in of_role if _is_runnable(pod)]
            gone = [pod for pod in of_role if not _is_runnable(pod)]
            absent += max(0, count - len(active))
            unfilled += count > 0 and not active
            kept += self._without_excess(active, count)
            replaced = len(gone) + len(active) - count
            if replaced > 0:
                let_go = gone[: min(replaced, len(gone))]
                let_go = [pod for pod in let_go if _is_going(pod)]
                self.release(let_go)
        if kept and kind.group(kept[0].manifest)[1] == 1:
            # Fast admission: one of each role is enough.
            absent = unfilled
        self._own(workload, kept)
        if self.host.kueue is not None:
            self.host.kueue.note_absent_pods(workload.key, absent)
        run = self.lifetime.runs.get(workload.key)
        if run is not None and run.active:
            self._join(workload, run, kept)

    def _own(self, workload: Object, pods: list[Object]) -> None:
        """Let a Workload name all its pods as owners."""
        owners = workload.metadata.get("ownerReferences") or []
        known = {one.get("uid") for one in owners}
        for pod in pods:
            pod.state["job"] = {"workload": workload.key.name}
            if pod.uid not in known:
                owners = [*owners, self._grouped().owner_reference(pod.manifest)]
                workload.metadata["ownerReferences"] = owners
                self.given.add(workload)
                self.lifetime.context.journal.touch(workload.key)

    def _join(self, workload: Object, run: Run, pods: list[Object]) -> None:
        """Start the pods that came to a group that runs."""
        fresh = [pod for pod in pods if pod.key not in run.pods and _is_gated(pod)]
        if fresh:
            if self.host.kueue is not None:
                self.host.kueue.pods_ready(workload.key, False)  # until they are
            self.start_members(workload, fresh)

    def start_members(self, workload: Object, pods: list[Object]) -> None:
        """Ungate pods of a Workload that is admitted, and let them run."""

    # -- ends --------------------------------------------------------------

    def member_ended(self, run: Run, pod: Object, *, unready: bool) -> None:
        """Let a Workload say that one of its pods has ended, or that all have.

        With `unready` it is no longer ready, either.
        """
        workload = self.host.objects[run.owner]
        group = self.group_of(pod.key)
        if group is None:
            self.lifetime.end_members(run, failed=pod.status.get("phase") == "Failed")
            return
        members = self.members(group)
        manifests = [{**one.manifest, "status": one.status} for one in members]
        kind = self._grouped()
        if kind.group_finish(manifests) is not None:
            self.lifetime.end_members(run, failed=False)
            return
        if self.host.kueue is not None:
            if unready:
                self.host.kueue.pods_ready(run.owner, False)
            given = kind.group_reclaimable(manifests)
            self._reclaim_members(workload, given)
        self.sync_group(group)

    def group_over(self, workload: Object) -> None:
        """Let go of what was kept for a group that is over."""
        group = (workload.key.namespace, workload.key.name)
        if group in self.groups:
            self.sync_group(group)

    def _reclaim_members(self, workload: Object, given: dict[str, int]) -> None:
        """Say how many pods of each role need no quota any longer."""
        workload = self.host.get(workload.key)
        listed = [{"name": name, "count": given[name]} for name in sorted(given)]
        if listed == (workload.status.get("reclaimablePods") or []):
            return
        workload.status["reclaimablePods"] = listed
        manifest = {**workload.manifest, "metadata": dict(workload.metadata)}
        self.host.put(Object(key=workload.key, manifest=manifest))


def _age(pod: Object) -> tuple[str, str]:
    return str(pod.metadata.get("creationTimestamp") or ""), pod.key.name


def _is_going(pod: Object) -> bool:
    return "deletionTimestamp" in pod.metadata


def _is_runnable(pod: Object) -> bool:
    """Return whether a pod runs, can run, or has succeeded."""
    if _is_going(pod) and not pod.spec.get("nodeName"):
        return False
    return pod.status.get("phase") != "Failed"


def _is_gated(pod: Object) -> bool:
    gates: list[Any] = pod.spec.get("schedulingGates") or []
    return any(gate.get("name") == ADMISSION_GATE for gate in gates)
