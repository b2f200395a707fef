"""Rows as the documents that clients read: selected, paged, in their version."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.cluster import (
    admission,
    controlled,
    definitions,
    ended,
    events,
    json_words,
    placeholders,
    refusals,
    rollouts,
    statuses,
)
from api.cluster import json_words as base64_words
from api.cluster.base import turned_into
from api.cluster.controlled import Known, Owners
from api.cluster.presenting import complete, whole_seconds
from api.cluster.refusals import Fault
from api.cluster.resources import Resource, in_version
from api.cluster.selectors import Test, selector
from api.cluster.tables import table
from api.views.base import whole
from sandbox.models import ALL_TABLES, Sandbox, StoredObject, table_of
from sandbox.process import watchdog
from sandbox.world.worlds import policy_of
from scheduler.model import durations
from scheduler.model.amounts import is_whole

Document = dict[str, Any]
#: Kinds that are shown as their owners have them.
_OWNED = frozenset({"Pod", "Workload"})
_AT_ONCE = 500  # rows whose owners are looked up together


class ContinueToken(msgspec.Struct):
    """Where a list goes on: after this namespace and name."""

    namespace: str
    name: str


@dataclass(slots=True, kw_only=True)
class Listing:
    """A part of a list."""

    items: list[Document] = field(default_factory=list)
    next: str = ""
    remaining: int | None = None


def rows_of(sandbox_id: str, resource: Resource, namespace: str) -> QuerySet[Any]:
    """Return the rows of a resource, of one namespace or ("") of all, in order."""
    kind = resource.kind.kind
    query = table_of(kind)._default_manager.filter(sandbox_id=sandbox_id, kind=kind)
    if namespace and resource.kind.namespaced:
        query = query.filter(namespace=namespace)
    return query.order_by("namespace", "name")


def document_of(
    row: StoredObject, resource: Resource, owners: Owners | None = None
) -> Document:
    """Return one object whole: manifest, resourceVersion, status, what is filled in.

    `owners` are those of many objects, looked up before. It shares its inner values
    with the row, which is not to be read any longer.
    """
    if owners is None:
        owners = Owners.stored(row.sandbox_id)
    return shown(kept_document(row, resource), resource, owners)


#: Kinds whose status is written by a controller, after the object is made.
_REPORTED = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "DaemonSet",
        "Deployment",
        "LocalQueue",
        "PodDisruptionBudget",
        "ReplicaSet",
        "ResourceQuota",
        "StatefulSet",
        "Workload",
    }
)


_CONVERTED = ("admittedWorkloads", "pendingWorkloads", "reservingWorkloads")
#: Kinds on which a controller of Kueue puts its finalizer, after the object is made.
_HELD_LATER = frozenset({"AdmissionCheck", "Topology"})


def new_document(row: StoredObject, resource: Resource) -> Document:
    """Return an object as the answer of its making shows it: no controller saw it yet."""
    if resource.kind.kind == "Node":
        return _tainted(document_of(row, resource))
    if resource.kind.kind in _REPORTED:
        document = kept_document(row, resource)
        document.pop("status", None)
        if (resource.kind.kind, resource.version) == ("ClusterQueue", "v1beta1"):
            document["status"] = dict.fromkeys(_CONVERTED, 0)  # by the way of v1beta2
        document = shown(document, resource, Owners.stored(row.sandbox_id))
    else:
        document = document_of(row, resource)
    if resource.kind.kind == "Pod":
        # No scheduler and no kubelet has looked at a new pod.
        spec, status = document.get("spec") or {}, dict(document.get("status") or {})
        if spec.get("nodeName"):
            status.pop("conditions", None)
        return {**document, "status": status}
    given = row.manifest["metadata"].get("finalizers")
    if resource.kind.kind in _HELD_LATER:
        metadata = {n: v for n, v in document["metadata"].items() if n != "finalizers"}
        held = {"finalizers": given} if given else {}
        document = {**document, "metadata": {**metadata, **held}}
    return document


def _tainted(node: Document) -> Document:
    """Return a new Node with the taint that it has until it is found ready, at once."""
    taint = {"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"}
    spec = node.get("spec") or {}
    taints = [t for t in spec.get("taints") or () if t.get("key") != taint["key"]]
    return {**node, "spec": {**spec, "taints": [*taints, taint]}}


def shown(document: Document, resource: Resource, owners: Owners) -> Document:
    """Return an object as it is kept as clients read it."""
    made = statuses.filled(controlled.shown(document, owners), owners)
    return complete(made, resource)


def kept_document(row: StoredObject, resource: Resource) -> Document:
    """Return one object as it is kept, with nothing filled in."""
    manifest: Document = dict(row.manifest)
    metadata = {**manifest["metadata"], "resourceVersion": str(row.revision)}
    document = {**manifest, "metadata": metadata}
    if row.status:
        document["status"] = row.status
    elif row.kind in _COUNTS:
        document["status"] = _COUNTS[row.kind](row)
    return in_version(document, resource)


#: Kinds whose status is counted when it is read.
_COUNTS: dict[str, Callable[[StoredObject], Document]] = {
    "DaemonSet": statuses.daemon_set_status,
    "PodDisruptionBudget": statuses.budget_status,
    "ResourceQuota": admission.status,
}


def metadata_of(document: Document) -> Document:
    """Return an object as its metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": document["metadata"],
    }


def find(
    sandbox_id: str, resource: Resource, namespace: str, name: str
) -> StoredObject | None:
    """Return the row of one object, or None."""
    if not resource.kind.namespaced:
        namespace = ""
    rows = rows_of(sandbox_id, resource, "").filter(namespace=namespace)
    row: StoredObject | None = rows.filter(name=name).first()
    if row is None and resource.kind.kind == "Pod":
        return _find_made(rows, resource, namespace, name)
    return row


def _find_made(
    rows: QuerySet[Any], resource: Resource, namespace: str, name: str
) -> StoredObject | None:
    """Return the row of a pod that is shown under another name than it is kept."""
    may_be = controlled.candidates(namespace, name)
    kept = [one for one in rows.values_list("name", flat=True) if may_be(one)]
    for row in rows.filter(name__in=kept):
        found: StoredObject = row
        owners = Owners.stored(found.sandbox_id)
        metadata = controlled.shown(kept_document(found, resource), owners)["metadata"]
        if metadata["name"] == name:
            return found
    return None


def get(sandbox_id: str, resource: Resource, namespace: str, name: str) -> StoredObject:
    """Return the row of one object; the API server's sentence when it does not exist."""
    row = find(sandbox_id, resource, namespace, name)
    if row is None:
        raise refusals.not_found(resource, name)
    return row


#: Namespaces that a cluster has from its beginning.
FIRST_NAMESPACES = frozenset(
    {"default", "kube-node-lease", "kube-public", "kube-system", "kueue-system"}
)


def _first_namespaces(created: str) -> Iterator[Document]:
    return definitions.first_namespaces(FIRST_NAMESPACES, created)


#: Kinds of which a cluster has some from its beginning: what makes them.
_FROM_THE_BEGINNING: dict[str, Callable[[str], Iterator[Document]]] = {
    "CustomResourceDefinition": definitions.documents,
    "Namespace": _first_namespaces,
    "PriorityClass": definitions.system_classes,
}


def is_from_the_beginning(resource: Resource, name: str) -> bool:
    """Return whether a cluster has an object of this name that nobody made."""
    made = _FROM_THE_BEGINNING.get(resource.kind.kind)
    return made is not None and any(one["metadata"]["name"] == name for one in made(""))


def has_namespace(sandbox_id: str, name: str) -> bool:
    """Return whether a namespace is there: by itself, or by an object that is in it.

    Sandboxes that are made of files seldom name their namespaces.
    """
    if name in FIRST_NAMESPACES:
        return True
    own = table_of("Namespace")._default_manager.filter(sandbox_id=sandbox_id)
    if own.filter(kind="Namespace", name=name).exists():
        return True
    return any(
        table._default_manager.filter(sandbox_id=sandbox_id, namespace=name).exists()
        for table in ALL_TABLES
    )


def listing(
    request: Request, sandbox: Sandbox, resource: Resource, namespace: str
) -> Listing:
    """Return what `limit`, `continue` and the selectors of the request pick."""
    test = test_of(request, resource)
    check_version_match(request, sandbox)
    numbers = {name: number_of(request, name) for name in ("limit", "timeoutSeconds")}
    query = request.query_params
    from_cache = query.get("resourceVersion") == "0" and not query.get("continue")
    limit = 0 if from_cache else min(max(numbers["limit"], 0), 10_000)
    if resource.is_events:
        found = [e for e in events.documents(sandbox, namespace) if not test or test(e)]
        return Listing(items=found[-limit:] if limit else found)
    rows = rows_of(sandbox.pk, resource, namespace)
    place = _continue_token(query.get("continue", ""))
    if place is not None:
        if query.get("resourceVersion") not in (None, "", "0"):
            why = "specifying resource version is not allowed when using continue"
            raise refusals.bad_request(why)
        rows = rows.filter(
            Q(namespace=place.namespace, name__gt=place.name)
            | Q(namespace__gt=place.namespace)
        )
    return _part(rows, resource, test, limit, sandbox.pk)


def not_kept(
    sandbox: Sandbox, resource: Resource, namespace: str, test: Test | None = None
) -> list[Document]:
    """Return the objects that have no rows: they are not written and no watch shows them.

    Pods that hold room for gangs of YuniKorn, pods of Jobs that have ended, the ReplicaSets of Deployments whose
    pods the simulation makes itself, the ControllerRevisions of StatefulSets and
    DaemonSets, and what a cluster has from its beginning.
    """
    if resource.is_events:
        return []
    found: Iterable[Document] = ()
    if resource.kind.kind == "Pod":

        def find_pod(place: str, name: str) -> StoredObject | None:
            return find(sandbox.pk, resource, place, name)

        found = placeholders.documents(sandbox, namespace, find_pod)
        jobs = ended.jobs_with_some(sandbox, namespace)
        over = ended.documents(sandbox, jobs, Owners.stored(sandbox.pk))
        found = itertools.chain(found, (pod for _, _, pod in over))
    elif (resource.kind.group, resource.kind.kind) == ("apps", "ReplicaSet"):
        found = _replica_sets(sandbox, resource, namespace)
    elif resource.kind.kind == "ControllerRevision":
        found = _controller_revisions(sandbox, namespace)
    elif resource.kind.kind in _FROM_THE_BEGINNING:
        start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
        kept = set(rows_of(sandbox.pk, resource, "").values_list("name", flat=True))
        every = _FROM_THE_BEGINNING[resource.kind.kind](whole_seconds(start))
        found = (one for one in every if one["metadata"]["name"] not in kept)
    owners = Owners.stored(sandbox.pk)
    whole = (shown(one, resource, owners) for one in found)
    return [one for one in whole if test is None or test(one)]


def _replica_sets(
    sandbox: Sandbox, resource: Resource, namespace: str
) -> Iterator[Document]:
    """Yield the ReplicaSet of each Deployment that has none among the rows."""
    owned = set()
    for row in rows_of(sandbox.pk, resource, namespace):
        owner = controlled.owner_of(row.manifest["metadata"])
        owned.add((row.namespace, owner["name"] if owner else ""))
    table = table_of("Deployment")._default_manager
    rows = table.filter(sandbox_id=sandbox.pk, kind="Deployment")
    for row in rows.order_by("namespace", "name"):
        placed = namespace in ("", row.namespace)
        if placed and row.status and (row.namespace, row.name) not in owned:
            for made in controlled.replica_sets(Known(row.manifest, row.status)):
                made["metadata"]["resourceVersion"] = str(row.revision)
                yield made


def _controller_revisions(sandbox: Sandbox, namespace: str) -> Iterator[Document]:
    """Yield the ControllerRevisions of what has taken up its template."""
    for kind in ("DaemonSet", "StatefulSet"):
        rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
        for row in rows.order_by("namespace", "name"):
            if namespace in ("", row.namespace):
                version = str(row.revision)
                yield from rollouts.controller_revisions(row.manifest, version)


def test_of(request: Request, resource: Resource) -> Test | None:
    """Return the test that the request's selectors make; None when all are meant."""
    query = request.query_params
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    return selector(labels, fields, resource)


def number_of(request: Request, name: str) -> int:
    """Return a whole number of the query; absent is 0. Raises the 400 of Go's parser."""
    text = request.query_params.get(name) or "0"
    number = whole(text.removeprefix("-"))
    if number is None:
        why = f"strconv.ParseInt: parsing {json.dumps(text[:60])}: invalid syntax"
        raise refusals.bad_request(why)
    return -number if text.startswith("-") else number


def check_version_match(request: Request, sandbox: Sandbox) -> None:
    """Refuse a resourceVersion that is no number, or that does not exist yet.

    Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>
    """
    query = request.query_params
    version, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch")
    faults = []
    where = "resourceVersionMatch"
    if match is not None and not version:
        why = f"Forbidden: {where} is forbidden unless resourceVersion is provided"
        faults.append(Fault(where, why))
    if match is not None and match not in ("Exact", "NotOlderThan"):
        why = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        faults.append(Fault(where, why))
    if match == "Exact" and version == "0":
        why = f'Forbidden: {where} "exact" is forbidden for resourceVersion "0"'
        faults.append(Fault(where, why))
    if match is not None and query.get("continue"):
        why = f"Forbidden: {where} is forbidden when continue is provided"
        faults.append(Fault(where, why))
    if query.get("sendInitialEvents") is not None:
        why = "Forbidden: sendInitialEvents is forbidden for list"
        faults.append(Fault("sendInitialEvents", why))
    if faults:
        raise refusals.invalid_options("ListOptions", faults)
    if version and not _is_version(version):
        why = f"invalid resource version: {_no_version(version)}"
        raise refusals.bad_request(why)
    check_version(version, sandbox)


def _is_version(text: str) -> bool:
    return is_whole(text) and len(text) <= 18


def _no_version(text: str) -> str:
    shown = json.dumps(text[:60])
    why = f"strconv.ParseUint: parsing {shown}: invalid syntax"
    return f"resourceVersion: Invalid value: {shown}: {why}"


def check_version(version: str, sandbox: Sandbox) -> None:
    """Refuse what is no resourceVersion, or one that does not exist yet.

    The first is a 500, as an API server answers it where one object is read or watched.
    """
    if version in ("", "0"):
        return
    if not _is_version(version):
        raise refusals.RefusalError(500, "", _no_version(version))
    if int(version) > sandbox.revision:
        why = f"Too large resource version: {version}, current: {sandbox.revision}"
        about = {
            "causes": [
                {
                    "reason": "ResourceVersionTooLarge",
                    "message": "Too large resource version",
                }
            ],
            "retryAfterSeconds": 1,
        }
        raise refusals.RefusalError(504, "Timeout", f"Timeout: {why}", about)


def with_owners(
    rows: QuerySet[Any], resource: Resource, sandbox_id: str
) -> Iterator[tuple[StoredObject, Owners]]:
    """Yield rows in their order, and the owners that they are shown with."""
    owners = Owners.stored(sandbox_id)
    if resource.kind.kind not in _OWNED:
        for row in rows.iterator():
            yield row, owners
        return
    each = rows.iterator()
    while some := list(itertools.islice(each, _AT_ONCE)):
        owners.prepare(row.manifest for row in some)
        for row in some:
            yield row, owners


def _picked(
    rows: QuerySet[Any], resource: Resource, test: Test | None, sandbox_id: str
) -> Iterator[tuple[ContinueToken, Document]]:
    """Yield (where it is kept, the object) of what the test picks."""
    for row, owners in with_owners(rows, resource, sandbox_id):
        place = ContinueToken(row.namespace, row.name)
        document = document_of(row, resource, owners)
        if test is None or test(document):
            yield place, document


def _part(
    rows: QuerySet[Any],
    resource: Resource,
    test: Test | None,
    limit: int,
    sandbox_id: str,
) -> Listing:
    if watchdog.is_serving():
        count = limit if limit and test is None else rows.count()
        watchdog.leave_to_worker(count, settings.OBJECTS_PER_REQUEST)
    found: list[Document] = []
    last = ContinueToken("", "")
    part = Listing(items=found)
    for place, document in _picked(rows, resource, test, sandbox_id):
        if limit and len(found) == limit:
            part.next = _token(last)
            part.remaining = rows.count() - limit if test is None else None
            break
        found.append(document)
        last = place
    if resource.kind.kind == "Pod":
        found.sort(key=place_of)  # by the names that are shown
    return part


def place_of(document: Document) -> tuple[str, str]:
    """Return (namespace, name) of an object."""
    metadata = document["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _token(place: ContinueToken) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _continue_token(token: str) -> ContinueToken | None:
    if not token:
        return None
    fault = base64_words.fault_of(token, base64_words.URL, padded=False)
    if fault is None:
        written = token.replace("\r", "").replace("\n", "")  # passed over, as in Go
        text = base64.urlsafe_b64decode(written + "=" * (-len(written) % 4))
        problem = json_words.problem_of(text)
        try:
            return msgspec.json.decode(text, type=ContinueToken)
        except (msgspec.MsgspecError, ValueError):
            why = problem or 'server does not recognize this encoded version ""'
    else:
        why = base64_words.illegal(fault)
    said = f"invalid continue token: continue key is not valid: {why}"
    raise refusals.bad_request(said)


def list_document(
    resource: Resource,
    sandbox: Sandbox,
    part: Listing,
    *,
    wanted: str,
    include: str,
    version: str = "",
) -> Document:
    """Return a list as its kind's List, or as what `wanted` says."""
    metadata: Document = {"resourceVersion": version or str(sandbox.revision)}
    if part.next or not (wanted or resource.is_built_in):
        metadata["continue"] = part.next
    if part.remaining is not None:
        metadata["remainingItemCount"] = part.remaining
    if wanted == "Table":
        return table(
            resource,
            part.items,
            now_us=now_us(sandbox),
            include=include,
            metadata=metadata,
        )
    if wanted.startswith("PartialObjectMetadata"):
        return {
            "apiVersion": "meta.k8s.io/v1",
            "kind": "PartialObjectMetadataList",
            "metadata": metadata,
            "items": [metadata_of(item) for item in part.items],
        }
    if resource.is_built_in:
        # As Go writes them: the list says of what kind its items are.
        for item in part.items:
            del item["apiVersion"], item["kind"]
    return {
        "kind": f"{resource.kind.kind}List",
        "apiVersion": resource.group_version,
        "metadata": metadata,
        "items": part.items,
    }


def now_us(sandbox: Sandbox) -> int:
    """Return the sandbox's simulated now, in microseconds since the Unix epoch."""
    start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
    return durations.stamp_us(start) + sandbox.now_ms * 1000


def shape_of(request: Request) -> tuple[str, str]:
    """Return (what an answer is turned into, includeObject) as a request wants it."""
    include = request.query_params.get("includeObject", "") or "Metadata"
    if include not in ("None", "Metadata", "Object"):
        raise refusals.bad_request("includeObject: expected None, Metadata or Object")
    return turned_into(request), include
