"""Jobs that name a Workload that is there already, or comes: they adopt it.

Source: docs/semantics/kueue-jobs.md#prebuilt-workloads.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.model.jobs import PREBUILT
from scheduler.model.objects import Key, Object
from scheduler.model.podset_template import read_pod
from scheduler.model.reasons import OUT_OF_SYNC, PREBUILT_OUT_OF_SYNC


class PrebuiltWorkloads(JobWorkloads):
    """Lets a job have the Workload that its label names, and no other."""

    def prebuilt_of(self, job: Object) -> Key | None:
        """Return the Workload that a job names; None where one is made for it."""
        name = job.labels.get(PREBUILT) or job.annotations.get(PREBUILT)
        if not name or not self.lifetime.reconciles or self.host.kueue is None:
            return None
        return Key("Workload", job.key.namespace, name)

    def adopt_prebuilt(self, job: Object, key: Key) -> None:
        """Take the Workload that a job names, once it is there and nobody else's.

        One that asks for other pods than the job is finished, as out of sync.
        """
        workload = self.host.objects.get(key)
        if workload is None or _controller(workload) not in ("", job.uid):
            self.awaited[key] = job.key
            job.spec["suspend"] = True
            self.lifetime.context.journal.touch(job.key)
            return
        if not _controller(workload):
            self._control(job, workload)
        kind, around = self.kind_of(job), self.surroundings()
        made = self._made(job, lambda: kind.workloads(job.manifest, around))
        if made is None or self.host.kueue is None:
            return
        if _shape(made[0]["spec"]) != _shape(workload.spec):
            self.host.kueue.finish(key, PREBUILT_OUT_OF_SYNC, OUT_OF_SYNC)
            job.spec["suspend"] = True
            return
        job.state["job"] = {"workload": key.name, "prebuilt": True}
        self._give_annotations(job, key)
        self.lifetime.context.journal.touch(job.key)

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
