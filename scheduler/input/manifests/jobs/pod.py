"""Plain Pods: one alone, or a group that is admitted together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, pod_set
from scheduler.input.manifests.jobs.making import (
    JOB_UID,
    annotations_of,
    copied_labels,
    labels_of,
    make_workload,
    owner_reference,
    queue_name,
)
from scheduler.input.manifests.jobs.role_hash import role_hash
from scheduler.input.manifests.jobs.topology import POD_GROUP_INDEX
from scheduler.model.amounts import is_whole
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import QUEUE, Finish, Manifest, Surroundings
from scheduler.model.problems import Problem, in_field
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.registry import register
from scheduler.model.sentence import Sentence

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST = "kueue.x-k8s.io/pod-group-fast-admission"
SERVING = "kueue.x-k8s.io/pod-group-serving"
ROLE = "kueue.x-k8s.io/role-hash"
RETRIABLE = "kueue.x-k8s.io/retriable-in-group"
GATE = "kueue.x-k8s.io/admission"
_NOT_OF_A_TEMPLATE = ("nodeName", "schedulingGates")


class PlainPod(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#pods-and-pod-groups"""

    ready = ("Ready",)

    def suspended(self, manifest: Manifest) -> bool:
        """Return whether it is gated, or has ended."""
        gates = manifest["spec"].get("schedulingGates") or ()
        return has_ended(manifest.get("status")) or any(
            g["name"] == GATE for g in gates
        )

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Return False: a pod cannot be suspended."""
        return False

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its one podset of one pod."""
        return [pod_set("main", 1, _template(manifest), index=POD_GROUP_INDEX)]

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, by its phase."""
        if not has_ended(manifest.get("status")):
            return None
        message = str((manifest.get("status") or {}).get("message") or "")
        return Finish(success=phase_of(manifest) == "Succeeded", message=message)

    # -- groups ----------------------------------------------------------

    def group(self, manifest: Manifest) -> tuple[str, int]:
        """Return the group's name and how many pods it waits for; ("", 1) without.

        A group with fast admission waits for one pod only.
        """
        name = labels_of(manifest).get(GROUP, "")
        if not name or annotations_of(manifest).get(FAST) == "true":
            return name, 1
        return name, _total(manifest)

    def role(self, manifest: Manifest) -> str:
        """Return the name of the podset that a pod of a group belongs to."""
        return _role(manifest)

    def owner_reference(self, manifest: Manifest) -> dict[str, Any]:
        """Return how the Workload of a group names one of its pods."""
        return owner_reference(manifest)

    def group_workload(
        self, manifests: Sequence[Manifest], around: Surroundings
    ) -> dict[str, Any]:
        """Return the manifest of the Workload of a complete group.

        Labels to copy, queue and total count must be equal on all pods; raises
        ManifestError otherwise, and when fewer pods than the total have not failed.
        """
        first = manifests[0]
        name = labels_of(first)[GROUP]
        _check_agreement(manifests)
        runnable = [one for one in manifests if phase_of(one) != "Failed"]
        if len(runnable) < self.group(first)[1]:
            raise ManifestError(Problem.RUNNABLE.said(name=f"'{name}'"))
        workload = make_workload(
            first,
            around,
            name=name,
            pod_sets=_by_role(runnable),
            labels=_common_labels(manifests, around),
        )
        owners = [owner_reference(one) for one in manifests]
        workload["metadata"]["ownerReferences"] = owners
        workload["metadata"]["labels"].pop(JOB_UID, None)  # none of them is the job
        return workload

    def group_finish(self, manifests: Sequence[Manifest]) -> Finish | None:
        """Return how the group ended: as many successes as its total count."""
        total = _total(manifests[0])
        if annotations_of(manifests[0]).get(SERVING) == "true":
            return None
        done = sum(1 for one in manifests if phase_of(one) == "Succeeded")
        given_up = any(
            annotations_of(one).get(RETRIABLE) == "false" for one in manifests
        ) and all(has_ended(one.get("status")) for one in manifests)
        if done < total and not given_up:
            return None
        return Finish(success=True, message=f"Pods succeeded: {done}/{total}.")

    def group_ready(self, manifests: Sequence[Manifest]) -> bool:
        """Return whether all pods of the total count are ready."""
        ready = sum(1 for one in manifests if is_true(one.get("status"), "Ready"))
        return ready >= _total(manifests[0])

    def group_reclaimable(self, manifests: Sequence[Manifest]) -> dict[str, int]:
        """Return the succeeded pods by role."""
        if annotations_of(manifests[0]).get(SERVING) == "true":
            return {}
        found: dict[str, int] = {}
        for one in manifests:
            if phase_of(one) == "Succeeded":
                found[_role(one)] = found.get(_role(one), 0) + 1
        return found


def phase_of(manifest: Manifest) -> str:
    """Return the phase of a pod; "" when its status has none."""
    return str((manifest.get("status") or {}).get("phase") or "")


def _total(manifest: Manifest) -> int:
    total = annotations_of(manifest).get(TOTAL, "")
    return max(1, int(total) if is_whole(total) else 1)


def _check_agreement(manifests: Sequence[Manifest]) -> None:
    """Refuse pods that have not failed and differ in their queue or total count."""
    alive = [one for one in manifests if phase_of(one) != "Failed"]
    for one in alive[1:]:
        problem = _disagreement(alive[0], one)
        if problem is not None:
            raise ManifestError(in_field(f"pod {one['metadata']['name']}", problem))


def _disagreement(first: Manifest, one: Manifest) -> Sentence | None:
    other = first["metadata"]["name"]
    wanted, given = queue_name(first), queue_name(one)
    if wanted != given:
        return Problem.SAME_LABEL.said(
            label=QUEUE, literal=repr(wanted), other=other, given=repr(given)
        )
    if _total(one) == _total(first):
        return None
    return Problem.SAME_TOTAL.said(
        field=TOTAL, wanted=_total(first), other=other, given=_total(one)
    )


def _template(manifest: Manifest) -> dict[str, Any]:
    spec = {
        name: value
        for name, value in manifest["spec"].items()
        if name not in _NOT_OF_A_TEMPLATE
    }
    return {"spec": spec, "metadata": manifest["metadata"]}


def _role(manifest: Manifest) -> str:
    """Return the name of a pod's role: as annotated, else by its shape."""
    given = annotations_of(manifest).get(ROLE)
    return given or role_hash(manifest["spec"])


def _by_role(manifests: Sequence[Manifest]) -> list[dict[str, Any]]:
    """Return a podset per role, sorted by name."""
    found: dict[str, dict[str, Any]] = {}
    for manifest in manifests:
        role = _role(manifest)
        if role in found:
            found[role]["count"] += 1
        else:
            found[role] = pod_set(role, 1, _template(manifest), index=POD_GROUP_INDEX)
    if annotations_of(manifests[0]).get(FAST) == "true" and len(found) == 1:
        for one in found.values():
            one["count"] = _total(manifests[0])
    return [found[role] for role in sorted(found)]


def _common_labels(
    manifests: Sequence[Manifest], around: Surroundings
) -> dict[str, str]:
    common = copied_labels(manifests[0], around)
    for manifest in manifests[1:]:
        labels = copied_labels(manifest, around)
        for name in sorted({*common, *labels}):
            if common.get(name) != labels.get(name):
                raise ManifestError(
                    in_field(
                        f"pod {manifest['metadata']['name']}",
                        Problem.SAME_LABEL.said(
                            label=name,
                            literal=repr(common.get(name)),
                            other=manifests[0]["metadata"]["name"],
                            given=repr(labels.get(name)),
                        ),
                    )
                )
    return common


register(
    "job-kind",
    "Pod",
    label="Pod",
    help="v1 Pod: alone, or a group by the label kueue.x-k8s.io/pod-group-name.",
)(PlainPod())
