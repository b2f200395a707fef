"""What controllers make, as those of a control plane name it, own it and label it.

The simulation keeps pods under names that say their place (`workload-podset-number`),
owned by what runs them. Clients of Kubernetes read the names, owners and labels that
the controllers of Jobs, ReplicaSets, StatefulSets and DaemonSets give. Nothing of
this is kept; the ending of a name is drawn from the name that is kept, so that it
stays what it is, and is found again when it is asked for. Pods that came with these
names of their own are shown as they are.

Source: <https://kubernetes.io/docs/concepts/workloads/controllers/job/>,
<https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/>
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import UNSET

from api.cluster import rollouts
from api.cluster.role_hash import ROLE
from sandbox.models import Sandbox, table_of
from sandbox.world.worlds import policy_of
from scheduler.engine.lifetime.admission import POD_SET
from scheduler.engine.lifetime.controllers.deployments import SUSPENDED_BY
from scheduler.engine.lifetime.jobs.starting import ADMISSION_GATE
from scheduler.engine.world import World
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import ARRIVAL
from scheduler.model.jobs import (
    JOB_INDEX,
    QUEUE,
    count_of,
    job_index,
    pods_at_once,
    workload_name,
    workload_of,
)
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.model.objects import Key
from scheduler.model.pod import template_hash
from scheduler.model.policy import Policy, read_policy
from scheduler.model.reasons import condition, is_true

Document = dict[str, Any]
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_BASE = 58
_MADE = re.compile(r"-[0-9]+$", re.ASCII)
#: With which Kueue holds a pod that it manages.
_MANAGED = "kueue.x-k8s.io/managed"
_GROUP = "kueue.x-k8s.io/pod-group-name"
_TRACKED = "batch.kubernetes.io/job-tracking"
_ENDED = ("Failed", "Succeeded")
_HASH = "pod-template-hash"
_REVISION = "deployment.kubernetes.io"
#: Where controllers note which template of theirs they have taken up.
_NUMBERED = {
    "DaemonSet": "deprecated.daemonset.template.generation",
    "Deployment": f"{_REVISION}/revision",
}


class Known(NamedTuple):
    """An owner: its manifest and its status."""

    manifest: Document
    status: Document


#: (kind, namespace, names) -> (name, manifest, status) of those that are there.
LookUp = Callable[[str, str, Collection[str]], Iterable[tuple[str, Document, Document]]]


def stored(sandbox_id: str) -> LookUp:
    """Return how owners are found among the rows of a sandbox: a query per question."""

    def look_up(
        kind: str, namespace: str, names: Collection[str]
    ) -> Iterable[tuple[str, Document, Document]]:
        rows = table_of(kind)._default_manager.filter(
            sandbox_id=sandbox_id, kind=kind, namespace=namespace, name__in=names
        )
        return rows.values_list("name", "manifest", "status")

    return look_up


def of_world(world: World) -> LookUp:
    """Return how owners are found in a world."""

    def look_up(
        kind: str, namespace: str, names: Collection[str]
    ) -> Iterable[tuple[str, Document, Document]]:
        for name in names:
            if (found := world.objects.get(Key(kind, namespace, name))) is not None:
                yield name, found.manifest, found.status

    return look_up


def _stored_policy(sandbox_id: str) -> Policy:
    sandbox = Sandbox.objects.get(pk=sandbox_id)
    return read_policy(policy_of(sandbox))


class Owners:
    """Who owns what is shown; each is looked up once.

    `policy` is asked, once and where it matters, for the policy in force.
    """

    def __init__(self, look_up: LookUp, policy: Callable[[], Policy] = Policy) -> None:
        self.look_up, self._policy = look_up, policy
        self.known: dict[tuple[str, str, str], Known | None] = {}

    @classmethod
    def stored(cls, sandbox_id: str) -> Owners:
        """Return the owners among the rows of a sandbox."""
        return cls(stored(sandbox_id), lambda: _stored_policy(sandbox_id))

    @classmethod
    def of_world(cls, world: World) -> Owners:
        """Return the owners in a world."""
        return cls(of_world(world), lambda: world.policy)

    @cached_property
    def waits_for_pods(self) -> bool:
        """Return whether Kueue says of each Workload whether its pods are ready.

        It does where its Configuration, or the default of its release, waits for them;
        by default the default branch does.
        """
        release = self._policy().spec.decides_as()
        return self._kueue.waiting is not None or release.kueue is UNSET

    @cached_property
    def finishes_orphans(self) -> bool:
        """Return whether a Workload ends when its job goes without it."""
        return self._kueue.gates.finishes_orphans

    @cached_property
    def _kueue(self) -> Settings:
        spec = self._policy().spec
        return read_configuration(spec.kueue, spec.decides_as())

    def get(self, kind: str, namespace: str, name: str) -> Known | None:
        """Return an object, or None where it does not exist."""
        key = (kind, namespace, name)
        if key not in self.known:
            self._ask(kind, namespace, [name])
        return self.known[key]

    def prepare(self, manifests: Iterable[Document]) -> None:
        """Look up the owners of these objects. Cost: two queries per namespace and kind."""
        asked = _asked(manifests)
        for (kind, namespace), names in asked.items():
            self._ask(kind, namespace, names)
        above = _asked(
            found.manifest
            for (kind, namespace), names in asked.items()
            if kind in ("Workload", "ReplicaSet")
            for name in names
            if (found := self.known[kind, namespace, name]) is not None
        )
        for (kind, namespace), names in above.items():
            self._ask(kind, namespace, names)

    def _ask(self, kind: str, namespace: str, names: Collection[str]) -> None:
        new = [name for name in names if (kind, namespace, name) not in self.known]
        for start in range(0, len(new), 500):
            part = new[start : start + 500]
            self.known |= {(kind, namespace, name): None for name in part}
            for name, manifest, status in self.look_up(kind, namespace, part):
                self.known[kind, namespace, name] = Known(manifest, status or {})


def _asked(manifests: Iterable[Document]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for manifest in manifests:
        metadata = manifest["metadata"]
        owner = owner_of(metadata)
        if owner is not None:
            place = (owner["kind"], metadata.get("namespace", ""))
            found.setdefault(place, set()).add(owner["name"])
        if _may_be_managed(manifest):
            place = ("Workload", metadata.get("namespace", ""))
            found.setdefault(place, set()).add(_workload_of(metadata))
    return found


def _may_be_managed(manifest: Document) -> bool:
    """Return whether this is a pod that Kueue admits by itself, or in its group.

    One without a queue, which is managed all the same or has lost its label, is told
    by the gate that holds it.
    """
    metadata = manifest["metadata"]
    if (
        not isinstance(manifest.get("spec"), dict)
        or "containers" not in manifest["spec"]
    ):
        return False
    owner = owner_of(metadata)
    alone = owner is None or owner["kind"] in ("DaemonSet", "ReplicaSet")
    if alone and (metadata.get("labels") or {}).get(QUEUE):
        return True
    return owner is None and _is_gated(manifest)


def _is_gated(manifest: Document) -> bool:
    gates = manifest["spec"].get("schedulingGates") or ()
    return any(gate.get("name") == ADMISSION_GATE for gate in gates)


def _workload_of(metadata: Document) -> str:
    """Return the name of the Workload of a pod that Kueue admits."""
    group = (metadata.get("labels") or {}).get(_GROUP)
    return group or workload_name({"kind": "Pod", "metadata": metadata})


def _managed(document: Document, owners: Owners) -> Document:
    """Return the metadata of a pod that Kueue admits, with what Kueue wrote there."""
    metadata = document["metadata"]
    labels = {**(metadata.get("labels") or {}), _MANAGED: "true"}
    found: Document = {"labels": labels}
    if _is_held(document, owners):
        found["finalizers"] = [*(metadata.get("finalizers") or ()), _MANAGED]
    namespace = metadata.get("namespace", "")
    workload = owners.get("Workload", namespace, _workload_of(metadata))
    if workload is None or _is_gated(document) or not workload.status.get("admission"):
        return _with(metadata, **found)
    given, noted = injected(workload)
    annotations = metadata.get("annotations") or {}
    if ROLE in annotations:  # the podset of a pod of a group
        given[POD_SET] = annotations[ROLE]
    found["labels"] = labels | given
    found["annotations"] = {**annotations, **noted}
    if "generation" in metadata:
        found["generation"] = int(metadata["generation"]) + 1  # its gates are gone
    return _with(metadata, **found)


def _is_managed(document: Document, owners: Owners) -> bool:
    """Return whether a pod is one that Kueue admits; not those of a Deployment of a queue."""
    if not _may_be_managed(document):
        return False
    metadata = document["metadata"]
    maker = _maker(metadata, owners)
    if maker is None:  # it is gone, or never was: the pod tells of a queue that it had
        return SUSPENDED_BY not in (metadata.get("annotations") or {})
    return not _has_queue(maker)


def _is_held(document: Document, owners: Owners) -> bool:
    """Return whether Kueue's finalizer holds a managed pod: until its Workload is over."""
    metadata = document["metadata"]
    name, namespace = _workload_of(metadata), metadata.get("namespace", "")
    workload = owners.get("Workload", namespace, name)
    if workload is None:
        return _is_gated(document)
    failed = (document.get("status") or {}).get("phase") == "Failed"
    if failed and not metadata.get("deletionTimestamp"):  # until it is replaced
        return is_true(workload.status, "WaitingForReplacementPods")
    return not is_true(workload.status, "Finished")


def _maker(metadata: Document, owners: Owners) -> Known | None:
    """Return the Deployment of a pod's ReplicaSet; None where there is none."""
    namespace, owner = metadata.get("namespace", ""), owner_of(metadata)
    if owner is None or owner["kind"] != "ReplicaSet":
        return None
    made = owners.get("ReplicaSet", namespace, owner["name"])
    above = owner_of(made.manifest["metadata"]) if made is not None else None
    if above is None or above["kind"] != "Deployment":
        return None
    return owners.get("Deployment", namespace, above["name"])


def _has_queue(found: Known | None) -> bool:
    metadata = found.manifest["metadata"] if found is not None else {}
    return bool((metadata.get("labels") or {}).get(QUEUE))


def owner_of(metadata: Document) -> Document | None:
    """Return the reference to the controller of an object; None where it has none."""
    for one in metadata.get("ownerReferences") or ():
        if isinstance(one, dict) and one.get("controller"):
            return one if one.get("kind") and one.get("name") else None
    return None


def ending(namespace: str, name: str) -> str:
    """Return the five letters of the shown name of what is kept under a name."""
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:5])


def shown(document: Document, owners: Owners) -> Document:
    """Return an object as its controller makes it; itself where none makes it here.

    Its metadata and status are new where they change, its template is not shared.
    """
    metadata = document["metadata"]
    owner = owner_of(metadata)
    if owner is not None and ARRIVAL in (metadata.get("annotations") or {}):
        kept = {n: v for n, v in metadata["annotations"].items() if n != ARRIVAL}
        metadata = _with(metadata, annotations=kept)
        document = {**document, "metadata": metadata}
    if document.get("kind") == "Job":
        return _job(document, owners)
    kind = document.get("kind")
    if kind in _NUMBERED and (document.get("status") or kind == "DaemonSet"):
        number = str(rollouts.number_of(metadata))
        noted = {**(metadata.get("annotations") or {}), _NUMBERED[kind]: number}
        return {**document, "metadata": {**metadata, "annotations": noted}}
    if document.get("kind") == "Pod" and _is_managed(document, owners):
        metadata = _managed(document, owners)
        document = {**document, "metadata": metadata}
    if document.get("kind") != "Pod" or owner is None:
        return document
    name = metadata["name"]
    # A pod of an elastic job keeps its name when another slice takes it over.
    taken = owner["kind"] == "Workload" and POD_SET in (metadata.get("labels") or {})
    # A rolling Deployment hands its pods to the ReplicaSet of their template.
    maker = owner["name"]
    if owner["kind"] == "ReplicaSet" and not name.startswith(f"{maker}-"):
        maker = maker.rpartition("-")[0]
    is_named = taken or name.startswith(f"{maker}-")
    if not is_named or not _MADE.search(name):
        return document
    make = _PODS.get(owner["kind"])
    if make is None:
        return document
    made = make(metadata, owner, owners)
    if made is None:
        return document
    if (document.get("status") or {}).get("phase") in _ENDED:
        held = [one for one in made.get("finalizers") or () if one != _TRACKED]
        made = _with(made, finalizers=held)
    if "statefulset.kubernetes.io/pod-name" in (made.get("labels") or {}):
        document = _with_identity(document, made, owners)
    return {**document, "metadata": made}


def _with_identity(document: Document, made: Document, owners: Owners) -> Document:
    """Return a pod under the host name that its StatefulSet gives it."""
    above = owner_of(made)
    found = None
    if above is not None:
        found = owners.get("StatefulSet", made["namespace"], above["name"])
    service = (found.manifest.get("spec") or {}).get("serviceName") if found else None
    identity = {"hostname": made["name"], "subdomain": service}
    given = {name: value for name, value in identity.items() if value}
    return {**document, "spec": {**(document.get("spec") or {}), **given}}


def _with(metadata: Document, **given: Any) -> Document:
    """Return metadata with these fields; those that are empty are left out."""
    found = {**metadata, **given}
    apart = {*given, "annotations", "labels"}
    return {n: v for n, v in found.items() if n not in apart or v}


def _reference(api_version: str, kind: str, name: str, uid: str) -> list[Document]:
    return [
        {
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def _of_workload(
    metadata: Document, owner: Document, owners: Owners
) -> Document | None:
    namespace = metadata["namespace"]
    workload = owners.get("Workload", namespace, owner["name"])
    job = owner_of(workload.manifest["metadata"]) if workload else None
    if workload is None or job is None:
        return None
    if job["kind"] == "StatefulSet":
        return _of_stateful_set(metadata, job, owners)
    if job["kind"] != "Job":
        return None
    labels, annotations = injected(workload)
    labels.pop(POD_SET, None)
    return _job_pod(metadata, job, owners, labels, annotations)


def injected(workload: Known) -> tuple[Document, Document]:
    """Return the labels and annotations that Kueue gives the pods of what it admits."""
    metadata, spec = workload.manifest["metadata"], workload.manifest.get("spec") or {}
    queue = (workload.status.get("admission") or {}).get("clusterQueue")
    labels = {
        "kueue.x-k8s.io/cluster-queue-name": queue,
        "kueue.x-k8s.io/local-queue-name": spec.get("queueName"),
        POD_SET: next((s.get("name") for s in spec.get("podSets") or ()), ""),
    }
    annotations = {"kueue.x-k8s.io/workload": metadata["name"]}
    return {n: v for n, v in labels.items() if v}, annotations


def _of_job(metadata: Document, owner: Document, owners: Owners) -> Document:
    own = {n: v for n, v in (metadata.get("labels") or {}).items() if n != POD_SET}
    return _job_pod({**metadata, "labels": own}, owner, owners, {}, {})


def _job_pod(
    metadata: Document,
    job: Document,
    owners: Owners,
    labels: Document,
    annotations: Document,
    index: int | None = None,
) -> Document:
    """Return the metadata of a pod of a Job; `index` is that of one that has ended."""
    namespace, kept, name = metadata["namespace"], metadata["name"], job["name"]
    found = owners.get("Job", namespace, name)
    spec = (found.manifest.get("spec") or {}) if found else {}
    template = ((spec.get("template") or {}).get("metadata")) or {}
    base = f"{name}-"
    if spec.get("completionMode") == "Indexed":
        own = job_index(metadata.get("annotations") or {}) if index is None else index
        number = str(_index_of(kept, found) if own is None else own)
        labels = {**labels, JOB_INDEX: number}
        annotations = {**annotations, JOB_INDEX: number}
        base = f"{name}-{number}-"
    base = base[:_LONGEST_BASE]
    return _with(
        metadata,
        name=base + ending(namespace, kept),
        generateName=base,
        labels={
            **(metadata.get("labels") or {}),
            **job_labels(job["name"], str(job.get("uid", ""))),
            **labels,
        },
        annotations={
            **(template.get("annotations") or {}),
            **(metadata.get("annotations") or {}),
            **annotations,
        },
        ownerReferences=_reference("batch/v1", "Job", name, str(job.get("uid", ""))),
        finalizers=[*(metadata.get("finalizers") or ()), _TRACKED],
    )


def _index_of(kept: str, job: Known | None) -> int:
    """Return the index of a pod of an indexed Job by the name that it is kept under.

    Pods of later attempts and of later rounds have higher numbers.
    """
    number = int(kept.rpartition("-")[2])
    if job is None:
        return number
    spec = job.manifest.get("spec") or {}
    succeeded, count = int(job.status.get("succeeded") or 0), pods_at_once(spec)
    left = count_of(spec, "completions", count) - succeeded
    return succeeded + number % max(1, min(count, left))


def ended_pod(
    metadata: Document, job: Document, index: int, owners: Owners
) -> Document:
    """Return the metadata of a pod of a Job that has ended; nothing holds it."""
    workload = None
    given = job["metadata"]
    if QUEUE in (given.get("labels") or {}):
        workload = owners.get("Workload", given.get("namespace", ""), workload_of(job))
    labels, annotations = injected(workload) if workload is not None else ({}, {})
    labels.pop(POD_SET, None)
    made = _job_pod(metadata, given, owners, labels, annotations, index)
    return {name: value for name, value in made.items() if name != "finalizers"}


def job_labels(name: str, uid: str) -> dict[str, str]:
    """Return the labels that the pods of a Job have."""
    return {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }


def _of_replica_set(metadata: Document, owner: Document, _: Owners) -> Document:
    base = f"{owner['name']}-"[:_LONGEST_BASE]
    return _with(
        metadata,
        name=base + ending(metadata["namespace"], metadata["name"]),
        generateName=base,
        ownerReferences=_reference(
            "apps/v1", "ReplicaSet", owner["name"], str(owner.get("uid", ""))
        ),
    )


def _of_deployment(
    metadata: Document, owner: Document, owners: Owners
) -> Document | None:
    found = owners.get("Deployment", metadata["namespace"], owner["name"])
    if found is None:
        return None
    above = replica_set(found)["metadata"]
    made = _of_replica_set(metadata, above, owners)
    labels = {n: v for n, v in (metadata.get("labels") or {}).items() if n != POD_SET}
    return {**made, "labels": {**labels, _HASH: above["labels"][_HASH]}}


def _of_stateful_set(metadata: Document, owner: Document, owners: Owners) -> Document:
    number = metadata["name"].rpartition("-")[2]
    name = f"{owner['name']}-{number}"
    found = owners.get("StatefulSet", metadata["namespace"], owner["name"])
    labels = {n: v for n, v in (metadata.get("labels") or {}).items() if n != POD_SET}
    if found is not None:
        labels["controller-revision-hash"] = f"{owner['name']}-{_hash_of(found)}"
    labels |= {
        "apps.kubernetes.io/pod-index": number,
        "statefulset.kubernetes.io/pod-name": name,
    }
    reference = _reference(
        "apps/v1", "StatefulSet", owner["name"], str(owner.get("uid", ""))
    )
    return _with(
        metadata,
        name=name,
        generateName=f"{owner['name']}-",
        labels=labels,
        ownerReferences=reference,
    )


def _of_daemon_set(metadata: Document, owner: Document, owners: Owners) -> Document:
    base = f"{owner['name']}-"[:_LONGEST_BASE]
    found = owners.get("DaemonSet", metadata["namespace"], owner["name"])
    labels = {**(metadata.get("labels") or {}), "pod-template-generation": "1"}
    if found is not None:
        labels["controller-revision-hash"] = _hash_of(found)
    return _with(
        metadata,
        name=base + ending(metadata["namespace"], metadata["name"]),
        generateName=base,
        labels=labels,
        ownerReferences=_reference(
            "apps/v1", "DaemonSet", owner["name"], str(owner.get("uid", ""))
        ),
    )


def _hash_of(known: Known) -> str:
    return template_hash((known.manifest.get("spec") or {}).get("template") or {})


_PODS: dict[str, Callable[[Document, Document, Owners], Document | None]] = {
    "DaemonSet": _of_daemon_set,
    "Deployment": _of_deployment,
    "Job": _of_job,
    "ReplicaSet": _of_replica_set,
    "StatefulSet": _of_stateful_set,
    "Workload": _of_workload,
}


def candidates(namespace: str, name: str) -> Callable[[str], bool]:
    """Return a test of names that are kept: whether this may be the one shown so."""
    base, _, last = name.rpartition("-")

    def may_be(kept: str) -> bool:
        if ending(namespace, kept) == last:
            return True
        # A set under Kueue keeps its pods by the name of its Workload.
        within = kept.startswith(f"{base}-") or f"-{base}-" in kept
        return within and kept.endswith(f"-{last}") and is_whole(last)

    return may_be


def _job(document: Document, owners: Owners) -> Document:
    """Return a Job with what Kueue puts into the template of one that runs."""
    metadata, spec = document["metadata"], document.get("spec")
    labels = metadata.get("labels") or {}
    if QUEUE not in labels or not isinstance(spec, dict) or spec.get("suspend"):
        return document
    if not isinstance(spec.get("template"), dict):
        return document
    workload = owners.get(
        "Workload", metadata.get("namespace", ""), workload_of(document)
    )
    if workload is None or not workload.status.get("admission"):
        return document
    given = spec["template"].get("metadata") or {}
    labels, annotations = injected(workload)
    inner = {
        **given,
        "labels": {**(given.get("labels") or {}), **labels},
        "annotations": {**(given.get("annotations") or {}), **annotations},
    }
    template = {**spec["template"], "metadata": inner}
    if selector := _selector_of(workload, owners):
        within = template.get("spec") or {}
        selector = {**(within.get("nodeSelector") or {}), **selector}
        template["spec"] = {**within, "nodeSelector": selector}
    stats = workload.status.get("schedulingStats") or {}
    evicted = sum(int(e.get("count") or 0) for e in stats.get("evictions") or ())
    generation = int(metadata.get("generation") or 1) + 1 + 2 * evicted
    return {
        **document,
        "metadata": {**metadata, "generation": generation},
        "spec": {**spec, "template": template},
    }


def _selector_of(workload: Known, owners: Owners) -> Document:
    """Return the labels of the flavors that a Job was admitted with, and of its checks.

    A flavor that was edited, made again or deleted may have had others: its pods know.
    """
    status, metadata = workload.status, workload.manifest["metadata"]
    sets = status["admission"].get("podSetAssignments") or [{}]
    first = sets[0].get("name")
    reserved = condition(status, "QuotaReserved") or {}
    since = str(reserved.get("lastTransitionTime") or "")
    selector: Document = {}
    for name in sorted(set((sets[0].get("flavors") or {}).values())):
        flavor = owners.get("ResourceFlavor", "", name)
        known = flavor.manifest["metadata"] if flavor is not None else {}
        made = str(known.get("creationTimestamp") or "")
        if flavor is None or known.get("generation", 1) > 1 or made > since:
            pod = owners.get(
                "Pod", metadata["namespace"], f"{metadata['name']}-{first}-0"
            )
            if pod is not None:
                # Places are the pods' alone: the Job's template does not name them.
                levels = (sets[0].get("topologyAssignment") or {}).get("levels") or ()
                given = (pod.manifest.get("spec") or {}).get("nodeSelector") or {}
                return {n: v for n, v in given.items() if n not in levels}
        if flavor is not None:
            selector |= (flavor.manifest.get("spec") or {}).get("nodeLabels") or {}
    for check in status.get("admissionChecks") or ():
        for update in check.get("podSetUpdates") or ():
            if update.get("name") == first:
                selector |= update.get("nodeSelector") or {}
    return selector


def replica_sets(deployment: Known) -> Iterator[Document]:
    """Yield the ReplicaSets of a Deployment: of templates it had, and of the present one."""
    wanted = int((deployment.manifest.get("spec") or {}).get("replicas", 1))
    for one, was in rollouts.old(deployment.manifest):
        spec = {**was["spec"], "replicas": wanted}
        made = replica_set(Known({**was, "spec": spec}, {}), one)
        made["spec"]["replicas"] = 0
        made["metadata"]["generation"] = made["status"]["observedGeneration"] = 2
        yield made
    yield replica_set(deployment)


def replica_set(deployment: Known, revision: Document | None = None) -> Document:
    """Return the ReplicaSet of a Deployment whose pods the simulation makes itself."""
    manifest, status = deployment
    revision = revision or rollouts.present(manifest["metadata"])
    before = ",".join(str(number) for number in revision.get("was", ()))
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    template = spec.get("template") or {}
    number = template_hash(template)
    name = f"{metadata['name']}-{number}"
    wanted = int(spec.get("replicas", 1))
    inner = template.get("metadata") or {}
    labels = {**(inner.get("labels") or {}), _HASH: number}
    selector = spec.get("selector") or {}
    uid = str(metadata.get("uid") or "")
    ready = int(status.get("readyReplicas") or 0)
    if not (wanted or ready):
        status = {**status, "replicas": 0}  # the last to go say nothing
    counts = {
        "replicas": int(status.get("replicas") or 0),
        "fullyLabeledReplicas": int(status.get("replicas") or 0),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "observedGeneration": 1,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": metadata.get("namespace", ""),
            "uid": str(uuid.uuid5(uuid.UUID(uid), name)) if uid else "",
            "generation": 1,
            "creationTimestamp": revision.get("at")
            or metadata.get("creationTimestamp"),
            "labels": labels,
            "annotations": {
                **rollouts.noted(manifest),
                f"{_REVISION}/desired-replicas": str(wanted),
                f"{_REVISION}/max-replicas": str(wanted + -(-wanted // 4)),
                f"{_REVISION}/revision": str(revision["revision"]),
                **({f"{_REVISION}/revision-history": before} if before else {}),
            },
            "ownerReferences": _reference(
                "apps/v1", "Deployment", metadata["name"], uid
            ),
        },
        "spec": {
            "replicas": wanted,
            "selector": {
                **selector,
                "matchLabels": {**(selector.get("matchLabels") or {}), _HASH: number},
            },
            "template": {**template, "metadata": {**inner, "labels": labels}},
        },
        "status": {n: v for n, v in counts.items() if v or n == "replicas"},
    }
