"""The objects of the cluster: list, watch, get, create, update, patch, delete."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from django.http import HttpResponseBase
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import (
    events,
    json_words,
    parsers,
    reading,
    refusals,
    resources,
    validation,
)
from api.cluster.base import ClusterView
from api.cluster.checks import decoding
from api.cluster.delete_options import DeleteOptions, leaves_pods, options_of
from api.cluster.deleting import Deletion, refuse_lasting
from api.cluster.patches import patched
from api.cluster.presenting import IN_USE, whole_seconds
from api.cluster.resources import Resource
from api.cluster.watching import Watch, watch_response
from api.cluster.writing import Change
from api.views.base import asks, flag, version_matches, versioned
from sandbox import actions
from sandbox.actions.sessions import allowed
from sandbox.base.errors import ForbiddenError
from sandbox.models import Sandbox
from scheduler.model import durations
from scheduler.model.schemas import Definition


class ObjectView(ClusterView):
    """A view of one resource."""

    parser_classes: Any = (*parsers.OBJECTS, *parsers.PATCHES)
    of_status = False
    write: Change | None = None  # what the request changes
    definition: Definition | None = None  # of the resource that was asked for
    deprecated = ""  # what every answer of a built-in kind warns of

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Add the warning of an old version, which every answer of it has."""
        if self.write is not None and response.status_code >= 400:
            self.warn(response, self.write.warnings)  # of what is refused
        warning = self.definition.warning if self.definition else self.deprecated
        if warning:
            said = f'299 - "{warning}"'
            given = response.headers.get("Warning")
            response["Warning"] = f"{said}, {given}" if given else said
        return super().finalize_response(request, response, *args, **kwargs)

    def resource(self, places: dict[str, str]) -> Resource:
        """Return the resource that the path names."""
        found = resources.find(
            places.get("group", ""), places["version"], places["plural"]
        )
        if places.get("namespace") and not found.kind.namespaced:
            raise refusals.misplaced(found)
        self.definition = found.definition
        self.deprecated = _DEPRECATED.get(found.full_name, "")
        return found

    def delete_options(self, resource: Resource) -> DeleteOptions:
        """Return what a DELETE asks for; that pods of Jobs then stay is a warning."""
        if leaves_pods(self.request, resource):
            self.deprecated = _PRESERVED
        return options_of(self.request, resource)

    @contextmanager
    def changing(
        self, sandbox: Sandbox, resource: Resource, places: dict[str, str]
    ) -> Iterator[Change]:
        """Hold the sandbox for a write as the request asks for it; nobody else writes.

        What the write is judged by is read in the block.
        """
        if resource.is_events:
            raise ForbiddenError("events are written by the simulation alone")
        allowed(self.user(), sandbox.pk)  # before what is wrong with the request
        dry_run = validation.is_dry(self.request)
        fields = validation.asked(self.request)
        manager = _manager(self.request)
        twice = getattr(self.request, "given_twice", ()) if self.request.data else ()
        with actions.edit_session(self.user(), sandbox.pk) as session:
            self.write = Change(
                self.user(),
                session,
                resource,
                places.get("namespace", "default"),
                dry_run=dry_run,
                validation=fields,
                of_status=self.of_status,
                manager=manager,
                twice=twice,
            )
            yield self.write

    def answer(self, document: dict[str, Any], change: Change, code: int) -> Response:
        """Answer a write, with what was kept but decides nothing as warnings."""
        response = Response(document, status=code)
        self.warn(response, change.warnings)
        return response

    def warn(self, response: Any, warnings: list[str]) -> None:
        """Put warnings into the headers of an answer."""
        if warnings:
            lines = [_one_line(warning) for warning in warnings[:20]]
            lines = [one.replace("\\", "\\\\").replace('"', '\\"') for one in lines]
            response["Warning"] = ", ".join(f'299 - "{one}"' for one in lines)


_PRESERVED = (
    "child pods are preserved by default when jobs are deleted; set "
    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
    "suppress this warning"
)
_DEPRECATED = {
    "componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
    "EndpointSlice",
}


def _manager(request: Request) -> str:
    """Return who a write is by: as it says, else the name of its program."""
    named: str = request.query_params.get("fieldManager") or ""
    if len(named.encode()) > 128:
        why = "Too long: may not be more than 128 bytes"
        fault = refusals.Fault("fieldManager", why)
        raise refusals.invalid_options(validation.options_of(request), [fault])
    agent: str = request.headers.get("User-Agent") or "unknown"
    return named or agent.partition("/")[0][:128]


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
        if asks(request, "watch"):
            return watch_response(Watch(request, sandbox, resource, namespace))
        return self._list(sandbox, resource, namespace)

    def _one_namespace(self, resource: Resource, places: dict[str, str]) -> None:
        """Refuse to change objects of all namespaces at once."""
        if resource.kind.namespaced and not places.get("namespace"):
            if not resource.is_built_in:
                raise refusals.misplaced(resource)
            raise exceptions.MethodNotAllowed(str(self.request.method))

    def _list(self, sandbox: Sandbox, resource: Resource, namespace: str) -> Response:
        wanted, include = reading.shape_of(self.request)
        part = reading.listing(self.request, sandbox, resource, namespace)
        if not part.next:  # after the last of the rows
            test = reading.test_of(self.request, resource)
            if made := reading.not_kept(sandbox, resource, namespace, test):
                part.items = sorted([*part.items, *made], key=reading.place_of)
        return Response(
            reading.list_document(
                resource, sandbox, part, wanted=wanted, include=include
            )
        )

    def post(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Create."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        self._one_namespace(resource, places)
        given = request.data
        with self.changing(sandbox, resource, places) as change:
            if _is_empty(request):
                problem = "unexpected end of JSON input"
                raise refusals.unrecognized(resource.kind.kind, problem, b"")
            return self.answer(change.create(given), change, 201)

    def delete(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Delete all that the selectors pick."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        self._one_namespace(resource, places)
        if "deletecollection" not in resource.verbs:
            raise exceptions.MethodNotAllowed("DELETE")
        namespace = places.get("namespace", "")
        options = self.delete_options(resource)
        with actions.edit_session(self.user(), sandbox.pk) as session:
            part = reading.listing(request, sandbox, resource, namespace)
            found = []
            for item in part.items:
                metadata = item["metadata"]
                place = metadata.get("namespace", "")
                found.append(reading.get(sandbox.pk, resource, place, metadata["name"]))
            deletion = Deletion(self.user(), session, resource, options)
            deletion.delete(found)
            if resource.kind.kind == "ReplicaSet":
                test = reading.test_of(self.request, resource)
                made = reading.not_kept(sandbox, resource, namespace, test)
                deletion.delete_sets(made)
                part.items = sorted([*part.items, *made], key=reading.place_of)
        return Response(
            reading.list_document(resource, sandbox, part, wanted="", include="None")
        )


class Present(ObjectView):
    """What is there under a name: read, replaced, changed in parts."""

    def resource(self, places: dict[str, str]) -> Resource:
        """Return the resource that the path names; it says a namespace where there is one."""
        found = super().resource(places)
        if found.kind.namespaced and not places.get("namespace"):
            raise refusals.misplaced(found)
        return found

    def get(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Return it."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        namespace = places.get("namespace", "")
        row = reading.find(sandbox.pk, resource, namespace, name)
        made = [] if row else reading.not_kept(sandbox, resource, namespace)
        if resource.is_events:
            made = events.documents(sandbox, namespace)
        document = next((d for d in made if d["metadata"]["name"] == name), None)
        if row is not None:
            document = reading.document_of(row, resource)
        if document is None:
            raise refusals.not_found(resource, name)
        revision = int(document["metadata"]["resourceVersion"])
        reading.check_version(request.query_params.get("resourceVersion", ""), sandbox)
        wanted, include = reading.shape_of(request)
        if wanted == "Table":
            part = reading.Listing(items=[document])
            version = document["metadata"]["resourceVersion"]
            document = reading.list_document(
                resource, sandbox, part, wanted=wanted, include=include, version=version
            )
        elif wanted:
            document = reading.metadata_of(document)
        return versioned(request, document, revision)

    def put(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Replace the object with that of the body."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        given = request.data
        with self.changing(sandbox, resource, places) as change:
            row = change.row(name)
            version_matches(request, row.revision)
            _check_named(given, name)
            if not resource.is_built_in and not request.headers.get("If-Match"):
                _check_versioned(given, resource, name)
            return self.answer(change.replace(row, given), change, 200)

    def patch(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Patch the object."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        with self.changing(sandbox, resource, places) as change:
            media = (request.content_type or "").partition(";")[0].strip()
            if media == parsers.APPLY:
                return self._apply(change, name)
            return self._patch(change, name, media)

    def _patch(self, change: Change, name: str, media: str) -> Response:
        request, resource = self.request, change.resource
        if request.query_params.get("force") is not None:
            why = "Forbidden: may not be specified for non-apply patch"
            raise refusals.invalid_options(
                "PatchOptions", [refusals.Fault("force", why)]
            )
        if _is_empty(request):
            why = "error decoding patch: unexpected end of JSON input"
            raise refusals.bad_request(why)
        row = change.row(name)
        version_matches(request, row.revision)
        document = reading.document_of(copy.deepcopy(row), resource)
        patched = _patched(document, request.data, media, resource)
        change.patches = True
        try:
            written = change.replace(row, patched)
        except refusals.UndecodableError as error:
            if not resource.is_built_in:
                raise
            raise _of_patch(error, patched, request.data, media, resource) from error
        return self.answer(written, change, 200)

    def _apply(self, change: Change, name: str) -> Response:
        """Apply what a manager wants of an object; it is made where it does not exist."""
        query = self.request.query_params
        if not query.get("fieldManager"):
            why = "Required value: is required for apply patch"
            fault = refusals.Fault("fieldManager", why)
            raise refusals.invalid_options("PatchOptions", [fault])
        document, code = change.apply(
            name, self.request.data, force=flag(self.request, "force")
        )
        return self.answer(document, change, code)


class OneObject(Present):
    """An object by its name: read, replaced, patched, deleted."""

    def delete(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Delete it, or let it be Terminating where something holds it back."""
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        with self.changing(sandbox, resource, places) as change:
            options = self.delete_options(resource)
            return Response(self._delete(change, name, options))

    def _delete(
        self, change: Change, name: str, options: DeleteOptions
    ) -> dict[str, Any]:
        sandbox, resource = change.sandbox, change.resource
        deletion = Deletion(self.user(), change.session, resource, options)
        made = _made_set(sandbox, resource, change.namespace, name)
        if made is not None:
            deletion.delete_sets([made])
            return _deleted(resource, name, made["metadata"]["uid"])
        refuse_lasting(resource, name)
        row = change.row(name)
        version_matches(self.request, row.revision)
        held = None
        shown = reading.document_of(copy.deepcopy(row), resource)
        in_use = IN_USE in shown["metadata"].get("finalizers", ())
        stays = options.foreground or options.orphans or in_use
        lasts = stays or resource.kind.kind in ("Namespace", "Pod")
        if lasts:
            held = _terminating(shown, sandbox, options)
        deletion.delete([row])
        if held is not None:
            return held
        left = reading.find(sandbox.pk, resource, change.namespace, name)
        if left is not None and not options.dry_run:
            return reading.document_of(left, resource)
        return _deleted(resource, name, row.uid)


def _deleted(resource: Resource, name: str, uid: str) -> dict[str, Any]:
    """Return the Status of an object that is gone."""
    kind = resource.kind
    details = {"name": name, "kind": kind.plural, "uid": uid}
    if kind.group:
        details["group"] = kind.group
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def _made_set(
    sandbox: Sandbox, resource: Resource, namespace: str, name: str
) -> dict[str, Any] | None:
    """Return the ReplicaSet of a Deployment that is no row, by its name."""
    if resource.kind.kind != "ReplicaSet":
        return None
    if reading.find(sandbox.pk, resource, namespace, name) is not None:
        return None
    made = reading.not_kept(sandbox, resource, namespace)
    return next((one for one in made if one["metadata"]["name"] == name), None)


class Finalize(ClusterView):
    """.../finalize of a namespace: what would let it go is the simulation's."""

    http_method_names = ()


class Nothing(ClusterView):
    """Below an object: no subresource of that name."""

    scope = "read"

    def get(self, request: Request, sandbox_id: str, **_: str) -> Response:
        """Refuse with a 404."""
        self.sandbox(sandbox_id)
        raise refusals.not_served()

    post = get


class Status(Present):
    """The status of an object: what is reported of it, not what is decided.

    Of a Workload the reclaimable pods, of a Node what it has; schedulers write
    the rest themselves, and what is given of it is left as it is.
    """

    of_status = True

    def resource(self, places: dict[str, str]) -> Resource:
        """Return the resource that the path names, where it reports a status."""
        found = super().resource(places)
        if not found.has_status:
            raise refusals.not_served()
        return found


def _check_named(given: Any, name: str) -> None:
    """Refuse an object in the place of another that does not say its name."""
    metadata = given.get("metadata") if isinstance(given, dict) else None
    if metadata is not None and not isinstance(metadata, dict):
        return  # its decoding says so
    if isinstance(given, dict) and not (metadata or {}).get("name"):
        why = f"the name of the object ({name} based on URL) was undeterminable"
        raise refusals.bad_request(f"{why}: name must be provided")


def _check_versioned(given: Any, resource: Resource, name: str) -> None:
    """Refuse to replace a custom resource that says no resourceVersion."""
    metadata = given.get("metadata") if isinstance(given, dict) else None
    if not isinstance(metadata, dict) or metadata.get("name") not in (None, "", name):
        return  # refused for what else is wrong
    if metadata.get("resourceVersion") in (None, "", "0"):
        why = "Invalid value: 0: must be specified for an update"
        fault = refusals.Fault("metadata.resourceVersion", why)
        raise refusals.invalid(resource, name, [fault], by_plural=True)


def _is_empty(request: Request) -> bool:
    return request.META.get("CONTENT_LENGTH") in (None, "", "0") and not request.data


def _terminating(
    document: dict[str, Any], sandbox: Sandbox, options: DeleteOptions
) -> dict[str, Any]:
    """Return an object as it is shown while it goes, or what it owns goes first."""
    now = whole_seconds(durations.stamp_text(reading.now_us(sandbox)))
    metadata, spec = document["metadata"], document.get("spec") or {}
    grace = 0
    if document["kind"] == "Pod" and spec.get("nodeName"):
        usual = spec.get("terminationGracePeriodSeconds", 30)
        grace = usual if options.grace is None else options.grace
    if document["kind"] == "Namespace":
        status = {**(document.get("status") or {}), "phase": "Terminating"}
        metadata = {**metadata, "deletionTimestamp": now}
        return {**document, "metadata": metadata, "status": status}
    marks = {"deletionTimestamp": now, "deletionGracePeriodSeconds": grace}
    if "generation" in metadata:
        marks["generation"] = int(metadata["generation"]) + 1
    found = {**metadata, **marks}
    held = "foregroundDeletion" if options.foreground else "orphan"
    if options.foreground or options.orphans:
        found["finalizers"] = [*(metadata.get("finalizers") or ()), held]
    return {**document, "metadata": found}


def _of_patch(
    error: refusals.UndecodableError,
    patched: Any,
    patch: Any,
    media: str,
    resource: Resource,
) -> refusals.RefusalError:
    """Return the 422 of a patch whose outcome is no object of its kind."""
    if media != parsers.STRATEGIC:
        shown = msgspec.json.encode(patched).decode()
        return refusals.invalid_patch(shown, error.problem)
    problem = decoding.unconverted(patched, resource.type_) or error.problem
    return refusals.invalid_patch(json_words.as_go(patch), problem)


def _patched(
    document: dict[str, Any], patch: Any, media: str, resource: Resource
) -> Any:
    before = document["metadata"]["resourceVersion"]
    found = patched(document, patch, media)
    # A version that the patch itself names is one that it must find.
    given = found.get("metadata") if isinstance(found, dict) else None
    if isinstance(given, dict) and given.get("resourceVersion") == before:
        found = {**found, "metadata": {**given, "resourceVersion": ""}}
    return found
