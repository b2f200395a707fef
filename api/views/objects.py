"""One object of a sandbox: read, replace, patch, delete; JSON or YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from api.errors import PreconditionFailedError, invalid
from api.renderers import YAML, StorableJSONParser, YAMLRenderer, YAMLTextParser
from api.serializers.actions import DoneSerializer, ImportedSerializer, imported_body
from api.serializers.wrong_values import unknown_at_top
from api.views.base import View, flag, version_matches, versioned, whole
from api.views.explaining import TICK, tick_of
from sandbox import actions
from sandbox.access.limits import of_texts
from sandbox.base.errors import Cause, InvalidError, NotFoundError, StaleError
from sandbox.base.refusals import Refused
from sandbox.models import Sandbox, StoredObject, table_of
from sandbox.world import history
from sandbox.world.worlds import policy_of
from scheduler.assembly import merge
from scheduler.engine.world import World
from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model.errors import ManifestError
from scheduler.model.kube.description import describe
from scheduler.model.objects import Key
from scheduler.model.problems import Form, Problem, Wanted, expected

CLUSTER_WIDE = "-"
_JSON = {(200, "application/json"): OpenApiTypes.OBJECT}
_OBJECT = {(200, kind): OpenApiTypes.OBJECT for kind in ("application/json", YAML)}
_DRY = OpenApiParameter("dryRun", str, description="All: change nothing.")


class MergePatchParser(StorableJSONParser):
    """A merge patch (RFC 7386)."""

    media_type = "application/merge-patch+json"


class OneObject(View):
    """An object by kind, namespace ("-" when cluster-wide) and name."""

    renderer_classes = (JSONRenderer, YAMLRenderer)
    parser_classes = (StorableJSONParser, MergePatchParser, YAMLTextParser)

    @extend_schema(operation_id="objects_read", responses=_OBJECT, parameters=[TICK])
    def get(
        self, request: Request, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> Response:
        """Return the object with its status, as an API server does.

        At a tick of the past it has no resourceVersion.
        """
        tick = tick_of(request)
        if tick is not None:
            key = Key(kind, _namespace(namespace), name)
            return Response(_at(self.sandbox(sandbox_id), tick, key))
        row = self._row(sandbox_id, kind, namespace, name)
        return versioned(request, document_of(row), row.revision)

    @extend_schema(
        operation_id="objects_put",
        request=OpenApiTypes.OBJECT,
        responses=ImportedSerializer,
        parameters=[_DRY],
    )
    def put(
        self, request: Request, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> Response:
        """Create or replace the object."""
        self._check_kind(sandbox_id, kind)
        data = request.data
        as_text = isinstance(data, dict) and set(data) == {"files"}
        if isinstance(data, dict) and not as_text:
            _refuse_unknown(kind, data)
        given = load(
            [("body.yaml", _text(data))] if as_text else (),
            limits=of_texts(),
            objects=() if as_text else [("body.yaml", data)],
        )
        with self._editing(sandbox_id, kind, namespace, name) as (session, _):
            return self._put(session, given, Key(kind, _namespace(namespace), name))

    @extend_schema(
        operation_id="objects_patch",
        request=OpenApiTypes.OBJECT,
        responses=ImportedSerializer,
        parameters=[_DRY],
    )
    def patch(
        self, request: Request, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> Response:
        """Apply a merge patch to the manifest."""
        data = request.data
        if not isinstance(data, dict):
            raise invalid({"": Problem.TO_MERGE.said()})
        with self._editing(sandbox_id, kind, namespace, name) as (session, row):
            if row is None:
                raise _not_there(kind, namespace, name)
            _refuse_unknown(kind, data, row.manifest)
            merged = merge(row.manifest, data)
            given = load((), limits=of_texts(), objects=[("body.yaml", merged)])
            return self._put(session, given, key_of(row))

    @extend_schema(operation_id="objects_delete", responses={200: DoneSerializer})
    def delete(
        self, request: Request, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> Response:
        """Delete the object; its running work stops."""
        with self._editing(sandbox_id, kind, namespace, name) as (session, row):
            if row is None:
                raise _not_there(kind, namespace, name)
            step = actions.delete_objects(self.user(), session, [key_of(row)])
        return Response({"revision": step.revision, "tick": step.tick})

    def _row(
        self, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> StoredObject:
        row = self._find(sandbox_id, kind, namespace, name)
        if row is None:
            raise _not_there(kind, namespace, name)
        return row

    def _find(
        self, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> StoredObject | None:
        self._check_kind(sandbox_id, kind)
        found: StoredObject | None = (
            table_of(kind)
            ._default_manager.filter(
                sandbox_id=sandbox_id,
                kind=kind,
                namespace=_namespace(namespace),
                name=name,
            )
            .first()
        )
        return found

    def _check_kind(self, sandbox_id: str, kind: str) -> None:
        self.sandbox(sandbox_id)
        if kind not in BY_KIND:
            raise NotFoundError(Form.ABSENT.said(kind="kind", name=repr(kind)))

    @contextmanager
    def _editing(
        self, sandbox_id: str, kind: str, namespace: str, name: str
    ) -> Iterator[tuple[actions.EditSession, StoredObject | None]]:
        """Hold the sandbox, and the object's row if it is as If-Match says."""
        with actions.edit_session(self.user(), sandbox_id) as session:
            row = self._find(sandbox_id, kind, namespace, name)
            version_matches(self.request, row.revision if row else 0)
            yield session, row

    def _put(self, session: actions.EditSession, given: Loaded, only: Key) -> Response:
        dry_run = flag(self.request, "dryRun")
        done = actions.put_objects(
            self.user(), session, given, only=only, dry_run=dry_run
        )
        return Response(imported_body(done))


def _namespace(given: str) -> str:
    return "" if given == CLUSTER_WIDE else given


def _not_there(kind: str, namespace: str, name: str) -> NotFoundError:
    return NotFoundError(Refused.NOT_THERE.said(kind=kind, name=f"{namespace}/{name}"))


def _refuse_unknown(
    kind: str, given: Mapping[str, Any], known: Mapping[str, Any] | None = None
) -> None:
    """Refuse keys beside the object's own: options belong into the query.

    What the object has already (`known`) is no news. Raises ValidationError naming each.
    """
    document = {**(known or {}), **given, "kind": kind}
    wrong = unknown_at_top(document)
    for name in wrong.keys() & (known or {}).keys():
        del wrong[name]
    if wrong:
        raise ValidationError(wrong)


def _text(data: Any) -> str:
    return str(data["files"][0]["text"])


def key_of(row: StoredObject) -> Key:
    """Return the key of a stored object."""
    return Key(row.kind, row.namespace, row.name)


def document_of(row: StoredObject) -> dict[str, Any]:
    """Return the whole object: manifest, resourceVersion, status."""
    manifest: dict[str, Any] = dict(row.manifest)
    metadata = {**manifest["metadata"], "resourceVersion": str(row.revision)}
    document = {**manifest, "metadata": metadata}
    if row.status:
        document["status"] = row.status
    return document


def _at(sandbox: Sandbox, tick: int, key: Key) -> dict[str, Any]:
    """Return the whole object as it was at a tick. Raises NotFoundError."""
    found = _world_at(sandbox, tick).objects.get(key)
    if found is None:
        raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    return {**found.manifest, **({"status": found.status} if found.status else {})}


def _world_at(sandbox: Sandbox, tick: int) -> World:
    return history.world_at(sandbox, history.revision_at(sandbox, tick))


class PolicyView(View):
    """The policy of a sandbox: every strategy switch, as one document."""

    renderer_classes = (JSONRenderer, YAMLRenderer)
    parser_classes = (StorableJSONParser, MergePatchParser, YAMLTextParser)

    @extend_schema(operation_id="policy_read", responses=_OBJECT, parameters=[TICK])
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the policy in force."""
        sandbox = self.sandbox(sandbox_id)
        tick = tick_of(request)
        if tick is not None:
            return Response(_world_at(sandbox, tick).policy.document())
        return versioned(request, policy_of(sandbox), sandbox.revision)

    @extend_schema(
        operation_id="policy_put",
        request=OpenApiTypes.OBJECT,
        responses=ImportedSerializer,
        parameters=[_DRY],
    )
    def put(self, request: Request, sandbox_id: str) -> Response:
        """Replace the policy."""
        return self._set(sandbox_id, patch=False)

    @extend_schema(
        operation_id="policy_patch",
        request=OpenApiTypes.OBJECT,
        responses=ImportedSerializer,
        parameters=[_DRY],
    )
    def patch(self, request: Request, sandbox_id: str) -> Response:
        """Apply a merge patch to the policy document."""
        return self._set(sandbox_id, patch=True)

    def _set(self, sandbox_id: str, *, patch: bool) -> Response:
        data = self.request.data
        if not isinstance(data, dict):
            raise invalid({"": expected(Wanted.JSON_OBJECT)})
        if set(data) == {"files"}:
            data = _one_document(_text(data))
        seen = self.request.headers.get("If-Match", "").strip('W/"')
        try:
            imported = actions.do_policy(
                self.user(),
                sandbox_id,
                data,
                patch=patch,
                dry_run=flag(self.request, "dryRun"),
                seen=whole(seen),
            )
        except StaleError as error:
            raise PreconditionFailedError(error.said, causes=error.causes) from error
        return Response(imported_body(imported))


def _one_document(text: str) -> dict[str, Any]:
    """Return the single document of a YAML text. Raises InvalidError with the line of what is wrong."""
    try:
        found = read_documents(text, file="body.yaml", limits=of_texts())
    except ManifestError as error:
        line = error.place.line if error.place else 1
        cause = Cause(problem=error.problem, file="body.yaml", line=line)
        raise InvalidError(error.said, causes=[cause]) from error
    if len(found) != 1:
        raise invalid({"": expected(Wanted.ONE_DOCUMENT, len(found))})
    return found[0].data


class Profiles(View):
    """The profiles of the kube-schedulers, with what is left to defaults filled in."""

    @extend_schema(operation_id="policy_profiles_read", responses=_JSON)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return, per profile and plug-in, its extension points, weight and args."""
        sandbox = self.sandbox(sandbox_id)
        document = policy_of(sandbox).get("spec", {}).get("kubeScheduler") or {}
        body = {"items": msgspec.to_builtins(describe(document))}
        return versioned(request, body, sandbox.revision)
