"""Rows as the documents that clients read: selected, paged, in their version."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.cluster import admission, events, placeholders, refusals
from api.cluster.base import turned_into
from api.cluster.presenting import complete
from api.cluster.refusals import Fault
from api.cluster.resources import Resource
from api.cluster.selectors import Test, selector
from api.cluster.tables import table
from api.cluster.versions import in_version
from api.views.base import clamped_number
from sandbox.models import ALL_TABLES, Sandbox, StoredObject, table_of
from sandbox.world.worlds import policy_of
from scheduler.model import durations
from scheduler.model.amounts import is_whole

Document = dict[str, Any]


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


def document_of(row: StoredObject, resource: Resource) -> Document:
    """Return one object whole: manifest, resourceVersion, status, what is filled in.

    It shares its inner values with the row, which is not to be read any more.
    """
    return complete(kept_document(row, resource), resource)


def kept_document(row: StoredObject, resource: Resource) -> Document:
    """Return one object as it is kept, with nothing filled in."""
    manifest: Document = dict(row.manifest)
    metadata = {**manifest["metadata"], "resourceVersion": str(row.revision)}
    document = {**manifest, "metadata": metadata}
    if row.status:
        document["status"] = row.status
    elif row.kind == "ResourceQuota":
        document["status"] = admission.quota_status(row)
    return in_version(document, resource)


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
    row: StoredObject | None = (
        rows_of(sandbox_id, resource, "")
        .filter(namespace=namespace if resource.kind.namespaced else "", name=name)
        .first()
    )
    return row


def get(sandbox_id: str, resource: Resource, namespace: str, name: str) -> StoredObject:
    """Return the row of one object; the API server's sentence when it is not there."""
    row = find(sandbox_id, resource, namespace, name)
    if row is None:
        raise refusals.not_found(resource, name)
    return row


#: Namespaces that a cluster has from its beginning.
FIRST_NAMESPACES = frozenset(
    {"default", "kube-node-lease", "kube-public", "kube-system"}
)


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
    limit = clamped_number(request, "limit", 0, most=10_000)
    if resource.is_events:
        found = [e for e in events.documents(sandbox, namespace) if not test or test(e)]
        return Listing(items=found[-limit:] if limit else found)
    rows = rows_of(sandbox.pk, resource, namespace)
    place = _continue_token(request.query_params.get("continue", ""))
    if place is not None:
        rows = rows.filter(
            Q(namespace=place.namespace, name__gt=place.name)
            | Q(namespace__gt=place.namespace)
        )
    if not limit:
        return Listing(items=list(_picked(rows.iterator(), resource, test)))
    return _part(rows, resource, test, limit)


def placeholder_pods(
    sandbox: Sandbox, resource: Resource, namespace: str, test: Test | None = None
) -> list[Document]:
    """Return the pods that are no rows, the placeholders of gangs; none of a kind else."""
    if resource.kind.kind != "Pod" or resource.is_events:
        return []

    def find_pod(place: str, name: str) -> StoredObject | None:
        return find(sandbox.pk, resource, place, name)

    made = placeholders.documents(sandbox, namespace, find_pod)
    whole = (complete(one, resource) for one in made)
    return [one for one in whole if test is None or test(one)]


def test_of(request: Request, resource: Resource) -> Test | None:
    """Return the test that the request's selectors make; None when all are meant."""
    query = request.query_params
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    return selector(labels, fields, resource)


def check_version_match(request: Request, sandbox: Sandbox) -> None:
    """Refuse a resourceVersion that is no number, or that is not there yet.

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
        why = f'Forbidden: {where} "Exact" is forbidden for resourceVersion "0"'
        faults.append(Fault(where, why))
    if match is not None and query.get("continue"):
        why = f"Forbidden: {where} is forbidden when continue is provided"
        faults.append(Fault(where, why))
    if faults:
        raise refusals.invalid_options("ListOptions", faults)
    check_version(version, sandbox)


def check_version(version: str, sandbox: Sandbox) -> None:
    """Refuse what is no resourceVersion, or one that is not there yet."""
    if version in ("", "0"):
        return
    if not is_whole(version) or len(version) > 18:
        why = f'Invalid value: "{version[:60]}": strconv.ParseUint: parsing "{version[:60]}": invalid syntax'
        raise refusals.bad_request(f"resourceVersion: {why}")
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


def _picked(
    rows: Iterable[StoredObject], resource: Resource, test: Test | None
) -> Iterable[Document]:
    for row in rows:
        document = document_of(row, resource)
        if test is None or test(document):
            yield document


def _part(
    rows: QuerySet[Any], resource: Resource, test: Test | None, limit: int
) -> Listing:
    found: list[Document] = []
    for document in _picked(rows.iterator(), resource, test):
        if len(found) == limit:
            left = rows.count() - limit if test is None else None
            return Listing(items=found, next=_token(found[-1]), remaining=left)
        found.append(document)
    return Listing(items=found)


def _token(document: Document) -> str:
    metadata = document["metadata"]
    place = ContinueToken(metadata.get("namespace", ""), metadata["name"])
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _continue_token(token: str) -> ContinueToken | None:
    if not token:
        return None
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return msgspec.json.decode(text, type=ContinueToken)
    except (binascii.Error, msgspec.MsgspecError, ValueError) as error:
        why = "continue key is not valid; begin the list again"
        raise refusals.bad_request(why) from error


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
    if part.next:
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
