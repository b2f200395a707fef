"""What a deletion takes with it, and what holds an object back.

An object with finalizers stays, Terminating, until a write leaves it none. What is
owned goes with its owner, or is left behind. A namespace goes with all that is in it.

Source: <https://kubernetes.io/docs/concepts/architecture/garbage-collection/>,
<https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/>
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import User

from api.cluster import controlled, ended, presenting, reading, refusals, resources
from api.cluster.controlled import Owners
from api.cluster.definitions import SYSTEM_CLASSES
from api.cluster.delete_options import DeleteOptions
from api.cluster.resources import Resource
from sandbox import actions
from sandbox.actions import EditSession
from sandbox.models import ALL_TABLES, TABLES, Sandbox, StoredObject
from scheduler.input.manifests.load import load
from scheduler.model import durations
from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.objects import Key
from scheduler.model.reasons import is_true

Document = dict[str, Any]
#: Kinds that the simulation makes of others, and takes away with them.
_MADE = frozenset({"Pod", "Workload"})
#: Namespaces that a cluster cannot be without.
_LASTING = frozenset({"default", "kube-public", "kube-system"})
#: Metadata that an import does not keep by itself.
_BESIDE = frozenset({"generateName", "managedFields", "revisions"})
_NAMESPACES = resources.find("", "v1", "namespaces")


class Deletion:
    """One person's deletion of some objects of a resource."""

    def __init__(
        self,
        user: User,
        session: EditSession,
        resource: Resource,
        options: DeleteOptions,
    ) -> None:
        self.user, self.session, self.resource = user, session, resource
        self.sandbox, self.options = session.sandbox, options
        self.waiting: set[str] = set()  # namespaces in which something is held back

    def check(self, row: StoredObject) -> None:
        """Refuse what is not the one meant, and what cannot be deleted."""
        refuse_lasting(self.resource, row.name)
        for what, wanted, found, happened in (
            ("UID", self.options.uid, row.uid, "deleted and then recreated"),
            ("ResourceVersion", self.options.version, str(row.revision), "modified"),
        ):
            if wanted is not None and wanted != found:
                why = (
                    f"the {what} in the precondition ({wanted[:64]}) does not match the "
                    f"{what} in record ({found}). The object might have been {happened}"
                )
                raise refusals.conflict(self.resource, row.name, why, kind=True)

    def delete(self, rows: list[StoredObject]) -> None:
        """Delete the objects, and what goes with them; only try to in a dry run."""
        for row in rows:
            self.check(row)
        if self.options.dry_run or not rows:
            return
        if self.resource.kind.kind == "Namespace":
            for row in rows:
                self._empty(row)
        owned = list(self._owned_by(rows))
        if not self.options.orphans:
            self._take([*owned, *rows])
            return
        for row in owned:
            self._leave_behind(row, {one.uid for one in rows})
        stay = [one for row in rows for one in left_behind(self.sandbox, row)]
        self._take(rows)
        if stay:
            actions.put_objects(
                self.user, self.session, load((), objects=[("", o) for o in stay])
            )

    def delete_sets(self, documents: Iterable[Document]) -> None:
        """Delete ReplicaSets that are no rows: their Deployment makes them anew.

        What goes are the pods, which come again under the ReplicaSet that comes.
        """
        if self.options.dry_run:
            return
        gone: list[Key] = []
        for document in documents:
            namespace = document["metadata"].get("namespace", "")
            if not (document.get("status") or {}).get("replicas"):
                continue  # of an older template: it has no pods
            makers = {(o.get("kind"), o.get("name")) for o in _owners_in(document)}
            pods = TABLES["Pod"]._default_manager.filter(
                sandbox_id=self.sandbox.pk, namespace=namespace
            )
            gone += [
                Key("Pod", namespace, row.name)
                for row in pods.only("name", "manifest").order_by("name")
                if makers & {(o.get("kind"), o.get("name")) for o in _owners(row)}
            ]
        if gone:
            actions.delete_objects(self.user, self.session, gone)

    def _take(self, rows: Iterable[StoredObject]) -> None:
        """Take objects away, or mark those that something holds back."""
        free = []
        for row in rows:
            if row.kind == "Namespace" and row.name in self.waiting:
                continue
            if row.manifest["metadata"].get("finalizers"):
                self._mark(row)
            else:
                free.append(Key(row.kind, row.namespace, row.name))
        if free:
            actions.delete_objects(self.user, self.session, free)

    def _mark(self, row: StoredObject) -> None:
        """Let an object be Terminating."""
        metadata = row.manifest["metadata"]
        if metadata.get("deletionTimestamp"):
            return
        now = durations.stamp_text(reading.now_us(self.sandbox))
        stamp = presenting.whole_seconds(now)
        marks = {"deletionTimestamp": stamp, "deletionGracePeriodSeconds": 0}
        self._put(row, {**metadata, **marks})

    def _leave_behind(self, row: StoredObject, owners: set[str]) -> None:
        metadata = row.manifest["metadata"]
        kept = [o for o in metadata["ownerReferences"] if o.get("uid") not in owners]
        rest = {n: v for n, v in metadata.items() if n != "ownerReferences"}
        self._put(row, {**rest, "ownerReferences": kept} if kept else rest)

    def _put(self, row: StoredObject, metadata: Document) -> None:
        """Put an object with other metadata, which is kept as it is given."""
        manifest = {**row.manifest, "metadata": metadata}
        actions.put_objects(
            self.user,
            self.session,
            load((), objects=[("body", manifest)]),
            only=Key(row.kind, row.namespace, row.name),
            metadata={n: v for n, v in metadata.items() if n in _BESIDE},
        )

    def _empty(self, namespace: StoredObject) -> None:
        """Take away all that is in a namespace; what is held back holds it back too."""
        for made in (False, True):  # what is made of others goes with them
            rows = [
                row
                for row in _in_namespace(self.sandbox.pk, namespace.name)
                if made or not _is_made(row)
            ]
            self._take(rows)
        if any(_in_namespace(self.sandbox.pk, namespace.name)):
            self._mark(namespace)
            self.waiting.add(namespace.name)

    def _owned_by(self, rows: list[StoredObject]) -> Iterator[StoredObject]:
        """Yield what the objects own, and what that owns, the last first."""
        uids = {row.uid for row in rows}
        known = {(row.kind, row.namespace, row.name) for row in rows}
        found: list[StoredObject] = []
        candidates = list(_with_owners(self.sandbox.pk)) if uids else []
        while uids:
            level = [
                row
                for row in candidates
                if (row.kind, row.namespace, row.name) not in known
                and uids & {o.get("uid") for o in _owners(row)}
            ]
            known |= {(row.kind, row.namespace, row.name) for row in level}
            found = [*level, *found]
            uids = {row.uid for row in level} if not self.options.orphans else set()
        yield from found


def refuse_lasting(resource: Resource, name: str) -> None:
    """Refuse to delete what a cluster cannot be without, be it a row or not."""
    why = ""
    if resource.kind.kind == "Namespace" and name in _LASTING:
        why = "this namespace may not be deleted"
    elif resource.kind.kind == "PriorityClass" and name in SYSTEM_CLASSES:
        why = "this is a system priority class and cannot be deleted"
    if why:
        raise refusals.forbidden(resource, name, why)


def _owners(row: StoredObject) -> list[Document]:
    return _owners_in(row.manifest)


def _owners_in(manifest: Document) -> list[Document]:
    found: list[Document] = manifest["metadata"].get("ownerReferences") or []
    return found


def _is_made(row: StoredObject) -> bool:
    return row.kind in _MADE and any(o.get("controller") for o in _owners(row))


def _with_owners(sandbox_id: str) -> Iterator[StoredObject]:
    """Yield what is owned, but for what the simulation makes."""
    for table in ALL_TABLES:
        if table in (TABLES["Pod"], TABLES["Workload"]):
            continue
        rows = table._default_manager.filter(sandbox_id=sandbox_id)
        yield from rows.filter(manifest__contains="ownerReferences").iterator()


def _in_namespace(sandbox_id: str, namespace: str) -> Iterator[StoredObject]:
    for table in ALL_TABLES:
        rows = table._default_manager.filter(sandbox_id=sandbox_id, namespace=namespace)
        yield from rows.order_by("kind", "name").iterator()


def finish(user: User, session: EditSession, row: StoredObject) -> bool:
    """Take an object away that is Terminating and that nothing holds any longer.

    Returns whether it is gone. A namespace that waited for it goes with it.
    """
    metadata = row.manifest["metadata"]
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    gone = [Key(row.kind, row.namespace, row.name)]
    actions.delete_objects(user, session, gone)
    pk = session.sandbox.pk
    space = reading.find(pk, _NAMESPACES, "", row.namespace)
    waits = space is not None and space.manifest["metadata"].get("deletionTimestamp")
    if waits and not any(_in_namespace(pk, row.namespace)):
        gone = [Key("Namespace", "", row.namespace)]
        actions.delete_objects(user, session, gone)
    return True


# ------------------------------------------------------------------------
# What is left behind when an owner goes alone: pods, and what Kueue says of them.


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
    elif owners.finishes_orphans and not is_true(status, "Finished"):
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
