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
from rest_framework.serializers import ValidationError

from api.cluster import events
from api.cluster.resources import Resource
from api.cluster.selectors import Test, selector
from api.cluster.tables import table
from api.cluster.versions import in_version
from api.views.base import clamped_number
from sandbox.base.errors import GoneError, NotFoundError
from sandbox.models import Sandbox, StoredObject, table_of
from sandbox.world.worlds import policy_of
from scheduler.model import durations

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
    """Return one object whole: manifest, resourceVersion, status."""
    manifest: Document = dict(row.manifest)
    metadata = {**manifest["metadata"], "resourceVersion": str(row.revision)}
    document = {**manifest, "metadata": metadata}
    if row.status:
        document["status"] = row.status
    return in_version(document, resource)


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
        raise NotFoundError(f'{resource.full_name} "{name}" not found')
    return row


def listing(
    request: Request, sandbox: Sandbox, resource: Resource, namespace: str
) -> Listing:
    """Return what `limit`, `continue` and the selectors of the request pick."""
    test = test_of(request)
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


def test_of(request: Request) -> Test | None:
    """Return the test that the request's selectors make; None when all are meant."""
    query = request.query_params
    return selector(query.get("labelSelector", ""), query.get("fieldSelector", ""))


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
        raise GoneError(
            "the continue token is not one of ours; begin the list again"
        ) from error


def list_document(
    resource: Resource, sandbox: Sandbox, part: Listing, *, wanted: str, include: str
) -> Document:
    """Return a list as its kind's List, or as a Table when `wanted` says so."""
    metadata: Document = {"resourceVersion": str(sandbox.revision)}
    if part.next:
        metadata["continue"] = part.next
    if part.remaining is not None:
        metadata["remainingItemCount"] = part.remaining
    if wanted == "Table":
        return table(
            resource.kind.kind,
            part.items,
            now_us=now_us(sandbox),
            include=include,
            metadata=metadata,
        )
    return {
        "apiVersion": resource.group_version,
        "kind": f"{resource.kind.kind}List",
        "metadata": metadata,
        "items": part.items,
    }


def now_us(sandbox: Sandbox) -> int:
    """Return the sandbox's simulated now, in microseconds since the Unix epoch."""
    start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
    return durations.stamp_us(start) + sandbox.now_ms * 1000


def shape_of(request: Request) -> tuple[str, str]:
    """Return ("Table" or "", includeObject) as the request wants to be answered."""
    accept = request.headers.get("Accept", "").replace(" ", "")
    first = accept.partition(",")[0]
    include = request.query_params.get("includeObject", "Metadata")
    if include not in ("None", "Metadata", "Object"):
        raise ValidationError({"includeObject": "expected None, Metadata or Object"})
    return ("Table" if "as=Table" in first else ""), include
