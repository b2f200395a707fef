"""Jobs that name a Workload that is there already, or comes: they adopt it.

Source: docs/semantics/kueue-jobs.md#prebuilt-workloads.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.amounts import parse
from scheduler.model.durations import stamp_us
from scheduler.model.jobs import prebuilt_name
from scheduler.model.objects import Key, Object
from scheduler.model.pod_defaults import default_container
from scheduler.model.podset_template import read_pod
from scheduler.model.reasons import OUT_OF_SYNC, PREBUILT_OUT_OF_SYNC

#: How long a controller waits before it tries again; each time twice as long.
FIRST_RETRY_MS = 5
LONGEST_RETRY_MS = 1_000_000


class PrebuiltWorkloads(JobWorkloads):
    """Lets a job have the Workload that its label names, and no other."""

    def prebuilt_of(self, job: Object) -> Key | None:
        """Return the Workload that a job names; None where one is made for it."""
        name = prebuilt_name(job.manifest)
        if not name or self.host.kueue is None:
            return None
        return Key("Workload", job.key.namespace, name)

    def adopt_prebuilt(self, job: Object, key: Key) -> None:
        """Take the Workload that a job names, once it is there and nobody else's.

        One that asks for other pods than the job is finished, as out of sync.
        """
        workload = self.host.objects.get(key)
        if workload is None or _controller(workload) not in ("", job.uid):
            self.awaited[key] = job.key
            if workload is not None:
                self._look_again(job)
            job.spec["suspend"] = True
            self.lifetime.context.journal.touch(job.key)
            return
        if not _controller(workload):
            self._control(job, workload)
        kind, around = self.kind_of(job), self.surroundings()
        made = self._made(job, lambda: kind.workloads(job.manifest, around))
        if made is None or self.host.kueue is None:
            return
        runs = key in self.lifetime.runs
        if runs:
            self.lifetime.stop(key)  # it was admitted, and nobody made its pods
        if self._differs(made[0]["spec"], workload.spec):
            self.host.kueue.finish(key, PREBUILT_OUT_OF_SYNC, OUT_OF_SYNC)
            job.spec["suspend"] = True
            return
        job.state["job"] = {"workload": key.name, "prebuilt": True}
        self._give_annotations(job, key)
        self.lifetime.context.journal.touch(job.key)
        if runs:
            self.resume(self.host.objects[key])

    def _come(self, workload: Key) -> None:
        """Let the job that waits for a Workload look for it again.

        It does so when its controller tries again, which takes twice as long each time;
        meanwhile the Workload may be admitted.
        """
        job = self.awaited.pop(workload)
        if job in self.host.objects:
            self._look_again(self.host.objects[job])

    def _await(self, job: Object) -> None:
        """Note that a job, also one that was stored, waits for what it names."""
        if job.key.kind not in JOB_KINDS or job.state.get("job"):
            return
        key = self.prebuilt_of(job)
        if key is not None and key not in self.host.objects:
            self.awaited[key] = job.key

    def _look_again(self, job: Object) -> None:
        now = self.lifetime.context.now_ms
        since_us = stamp_us(str(job.metadata["creationTimestamp"]))
        waited = max(0, now - (since_us - self.lifetime.context.us(0)) // 1000)
        tries = (waited // FIRST_RETRY_MS + 1).bit_length()
        at = now - waited + FIRST_RETRY_MS * (2**tries - 1)
        self.controllers.wait(job.key, min(at, now + LONGEST_RETRY_MS))

    def _differs(self, asked: dict[str, Any], given: dict[str, Any]) -> bool:
        """Return whether a Workload is out of sync with what its job asks for.

        A job's containers have the defaults of the API server, which gives a Workload
        none.
        """
        return _pods(asked, default_container) != _pods(given, lambda _: None)

    def _control(self, job: Object, workload: Object) -> None:
        """Let a Workload be controlled by a job, as its reference and label say."""
        reference = {
            "apiVersion": job.manifest["apiVersion"],
            "kind": job.key.kind,
            "name": job.key.name,
            "uid": job.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        metadata = workload.metadata
        owners = metadata.get("ownerReferences") or []
        metadata["ownerReferences"] = [*owners, reference]
        labels = {**workload.labels, "kueue.x-k8s.io/job-uid": job.uid}
        metadata["labels"] = labels
        self.given.add(workload)
        self.lifetime.context.journal.touch(workload.key)


def _controller(workload: Object) -> str:
    """Return the uid of who controls a Workload; "" for nobody."""
    references = workload.metadata.get("ownerReferences") or ()
    return next(
        (str(one.get("uid")) for one in references if one.get("controller")), ""
    )


def _shape(spec: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Return what two lists of podsets have to agree in."""
    return [
        (
            one["name"],
            int(one.get("count", 1)),
            read_pod((one.get("template") or {}).get("spec") or {}).identity,
        )
        for one in spec.get("podSets") or ()
    ]


def _pods(
    spec: dict[str, Any], complete: Callable[[dict[str, Any]], None]
) -> list[tuple[Any, ...]]:
    """Return what Kueue compares of podsets; quantities by value, empty as absent."""
    found = []
    for one in spec.get("podSets") or ():
        inner = copy.deepcopy((one.get("template") or {}).get("spec") or {})
        for name in _CONTAINERS:
            for container in inner.get(name) or ():
                complete(container)
        parts = (_compared(inner.get(name)) for name in (*_CONTAINERS, "tolerations"))
        count = int(one.get("count", 1))
        found.append((count, int(one.get("minCount", -1)), *parts))
    return found


def _compared(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        if name in _QUANTITIES:
            return {one: parse(amount) for one, amount in value.items()} or None
        within = {one: _compared(part, one) for one, part in value.items()}
        return {one: part for one, part in within.items() if part is not None} or None
    if isinstance(value, list):
        return [_compared(part) for part in value] or None
    return value


_CONTAINERS = ("containers", "initContainers")
_QUANTITIES = ("requests", "limits")
