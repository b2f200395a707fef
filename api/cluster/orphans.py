"""What is left behind when an owner goes alone: pods, and what Kueue says of them.

The simulation takes away what it made of an owner. What stays is put back as a
person's: pods under the names that they were shown with, bound and running, and the
Workload, which is finished, as its owner is not found, or belongs to the pods.

Source: <https://kubernetes.io/docs/tasks/administer-cluster/use-cascading-deletion/#set-orphan-deletion-policy>,
docs/semantics/kueue-lifecycle.md#an-owner-that-goes-alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.cluster import controlled, ended, reading, resources
from api.cluster.controlled import Owners
from sandbox.models import TABLES, Sandbox, StoredObject
from scheduler.model import durations
from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.reasons import is_true

Document = dict[str, Any]
_PODS = resources.find("", "v1", "pods")
_WORKLOADS = resources.find("kueue.x-k8s.io", "v1beta2", "workloads")
_TRACKED = "batch.kubernetes.io/job-tracking"
_DROPPED = ("managedFields", "ownerReferences", "resourceVersion", "generateName")
_NOT_FOUND = "OwnerNotFound"


def left_behind(sandbox: Sandbox, owner: StoredObject) -> list[Document]:
    """Return what an owner that is about to go alone leaves behind, without it."""
    owners = Owners.stored(sandbox.pk)
    workloads = [
        row
        for row in _rows(sandbox, "Workload", owner.namespace)
        if _uid_of_owner(row) == owner.uid
    ]
    uids = {owner.uid, *(row.uid for row in workloads)}
    pods = [
        _freed(reading.document_of(row, _PODS, owners), owner)
        for row in _rows(sandbox, "Pod", owner.namespace)
        if _uid_of_owner(row) in uids
    ]
    if owner.kind == "Job":
        for _, _, kept in ended.documents(sandbox, [owner], owners):
            pods.append(_freed(reading.shown(kept, _PODS, owners), owner))
    stay = [_workload(row, sandbox, owner, pods, owners) for row in workloads]
    # Put again, so that their statuses count what comes back.
    queues = {row.manifest["spec"].get("queueName") for row in workloads}
    told = [
        row.manifest
        for row in _rows(sandbox, "LocalQueue", owner.namespace)
        if row.name in queues
    ]
    return [*pods, *stay, *told]


def _rows(sandbox: Sandbox, kind: str, namespace: str) -> Iterator[StoredObject]:
    rows = TABLES[kind]._default_manager.filter(
        sandbox_id=sandbox.pk, kind=kind, namespace=namespace
    )
    yield from rows.order_by("name").iterator()


def _uid_of_owner(row: StoredObject) -> str:
    reference = controlled.owner_of(row.manifest["metadata"]) or {}
    return str(reference.get("uid") or "")


def _freed(pod: Document, owner: StoredObject) -> Document:
    """Return a pod as nobody's; it runs for as long as its owner said."""
    given = pod["metadata"]
    metadata = {name: given[name] for name in given if name not in _DROPPED}
    held = [one for one in metadata.pop("finalizers", ()) if one != _TRACKED]
    if held:
        metadata["finalizers"] = held
    said = owner.manifest["metadata"].get("annotations") or {}
    timed = {n: v for n, v in said.items() if n.startswith(PREFIX) and n != ARRIVAL}
    metadata["annotations"] = {**timed, **(metadata.get("annotations") or {})}
    return {**pod, "metadata": metadata}


def _workload(
    row: StoredObject,
    sandbox: Sandbox,
    owner: StoredObject,
    pods: list[Document],
    owners: Owners,
) -> Document:
    """Return a Workload without its owner."""
    document = reading.document_of(row, _WORKLOADS, owners)
    given = document["metadata"]
    metadata = {name: given[name] for name in given if name not in _DROPPED}
    metadata.pop("finalizers", None)
    status = dict(document.get("status") or {})
    if owner.kind == "StatefulSet":
        metadata["ownerReferences"] = [_reference(pod) for pod in pods]
    elif not is_true(status, "Finished"):
        now = durations.stamp_text(reading.now_us(sandbox))
        over = {
            "type": "Finished",
            "status": "True",
            "reason": _NOT_FOUND,
            "message": "The workload's owner no longer exists",
            "lastTransitionTime": now,
        }
        status["conditions"] = [*(status.get("conditions") or ()), over]
    return {**document, "metadata": metadata, "status": status}


def _reference(pod: Document) -> Document:
    metadata = pod["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
