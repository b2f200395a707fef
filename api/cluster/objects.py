"""The objects of the cluster: list, watch, get, create, update, patch, delete."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import parsers, reading, resources, validation
from api.cluster.base import ClusterView
from api.cluster.delete_options import options_of
from api.cluster.patches import json_patch, strategic
from api.cluster.resources import Resource
from api.cluster.watching import Watch, watch_response
from api.cluster.writing import Change
from api.views.base import flag, version_matches, versioned
from sandbox.base.errors import ForbiddenError, NotFoundError
from sandbox.models import Sandbox
from scheduler.assembly import merge


class ObjectView(ClusterView):
    """A view of one resource."""

    parser_classes: Any = (*parsers.OBJECTS, *parsers.PATCHES)
    of_status = False

    def resource(self, places: dict[str, str]) -> Resource:
        """Return the resource that the path names."""
        found = resources.find(
            places.get("group", ""), places["version"], places["plural"]
        )
        if places.get("namespace") and not found.kind.namespaced:
            raise NotFoundError("the server could not find the requested resource")
        return found

    def change(
        self,
        sandbox: Sandbox,
        resource: Resource,
        places: dict[str, str],
        *,
        dry_run: bool = False,
    ) -> Change:
        """Return a write as the request asks for it, or its body: only tried."""
        if resource.is_events:
            raise ForbiddenError("events are written by the simulation alone")
        return Change(
            self.user(),
            sandbox,
            resource,
            places.get("namespace", "default"),
            dry_run=dry_run or flag(self.request, "dryRun"),
            validation=validation.asked(self.request),
            of_status=self.of_status,
        )

    def answer(self, document: dict[str, Any], change: Change, code: int) -> Response:
        """Answer a write, with what was kept but decides nothing as warnings."""
        response = Response(document, status=code)
        if change.warnings:
            lines = [warning.replace('"', "'") for warning in change.warnings[:20]]
            response["Warning"] = ", ".join(f'299 - "{_one_line(w)}"' for w in lines)
        return response


def _one_line(text: str) -> str:
    return text.encode("ascii", "replace").decode().replace("\n", " ")[:300]


class Collection(ObjectView):
    """All objects of a resource, in one namespace or in all."""

    def get(
        self, request: Request, sandbox_id: str, **places: str
    ) -> Response | HttpResponseBase:
        """List, or watch."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        namespace = places.get("namespace", "")
        if flag(request, "watch"):
            return watch_response(Watch(request, sandbox, resource, namespace))
        return self._list(sandbox, resource, namespace)

    def _list(self, sandbox: Sandbox, resource: Resource, namespace: str) -> Response:
        wanted, include = reading.shape_of(self.request)
        part = reading.listing(self.request, sandbox, resource, namespace)
        return Response(
            reading.list_document(
                resource, sandbox, part, wanted=wanted, include=include
            )
        )

    def post(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Create."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        change = self.change(sandbox, resource, places)
        return self.answer(change.create(request.data), change, 201)

    def delete(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Delete all that the selectors pick."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        namespace = places.get("namespace", "")
        options = options_of(request)
        part = reading.listing(request, sandbox, resource, namespace)
        change = self.change(sandbox, resource, places, dry_run=options.dry_run)
        for item in part.items if options.uid or options.version else ():
            place = item["metadata"].get("namespace", "")
            name = item["metadata"]["name"]
            options.check(reading.get(sandbox.pk, resource, place, name))
        metadata = [item["metadata"] for item in part.items]
        change.delete([(m.get("namespace", ""), m["name"]) for m in metadata])
        return Response(
            reading.list_document(resource, sandbox, part, wanted="", include="None")
        )


class Present(ObjectView):
    """What is there under a name: read, replaced, changed in parts."""

    def get(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Return it."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        namespace = places.get("namespace", "")
        row = reading.get(sandbox.pk, resource, namespace, name)
        document = reading.document_of(row, resource)
        wanted, include = reading.shape_of(request)
        if wanted == "Table":
            part = reading.Listing(items=[document])
            document = reading.list_document(
                resource, sandbox, part, wanted=wanted, include=include
            )
        return versioned(request, document, row.revision)

    def put(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Replace it."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        change = self.change(sandbox, resource, places)
        row = reading.find(sandbox.pk, resource, change.namespace, name)
        version_matches(request, row.revision if row else 0)
        return self.answer(change.replace(name, request.data), change, 200)

    def patch(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Change parts of it."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        change = self.change(sandbox, resource, places)
        row = reading.find(sandbox.pk, resource, change.namespace, name)
        media = (request.content_type or "").partition(";")[0].strip()
        if row is None and media == parsers.APPLY:
            return self.answer(change.replace(name, request.data), change, 201)
        row = reading.get(sandbox.pk, resource, change.namespace, name)
        version_matches(request, row.revision)
        document = reading.document_of(row, resource)
        del document["metadata"]["resourceVersion"]
        patched = _patched(document, request.data, media)
        return self.answer(change.patched(name, patched), change, 200)


class One(Present):
    """One object of a resource."""

    def delete(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Delete it, at once, or only try to; what cannot be done so is refused."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        options = options_of(request)
        change = self.change(sandbox, resource, places, dry_run=options.dry_run)
        row = reading.get(sandbox.pk, resource, change.namespace, name)
        version_matches(request, row.revision)
        options.check(row)
        change.delete([(row.namespace, row.name)])
        kind = resource.kind
        details = {"name": name, "kind": kind.plural, "uid": row.uid}
        if kind.group:
            details["group"] = kind.group
        return Response(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Success",
                "details": details,
            }
        )


class Status(Present):
    """The status of an object: what is reported of it, not what is decided.

    Of a Workload the reclaimable pods, of a Node what it has; schedulers write
    the rest themselves, and what is given of it is left as it is.
    """

    of_status = True


def _patched(document: dict[str, Any], patch: Any, media: str) -> Any:
    if media == parsers.JSON:
        return json_patch(document, patch)
    if media == parsers.STRATEGIC:
        return strategic(document, patch)
    return merge(document, patch) if isinstance(patch, dict) else patch
